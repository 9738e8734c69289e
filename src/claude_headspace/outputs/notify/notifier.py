"""Carries the kernel's plans out: calls people, takes back what is settled, and writes both down.

Rules
- Before anybody is called that is written down, and refused if somebody was called already; afterwards its result is.
  So a crash neither loses a call nor repeats it, but for one that was cut off between sending and writing: that one is
  made again when its claim is over.
- Nothing here is in the way of a hook: the board is followed at a small distance (`gathering`), and whatever takes
  time happens in threads.
- Only the daemon of an agent's machine calls.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import structlog

from claude_headspace.background import Loop
from claude_headspace.clients.tools import permission_verb
from claude_headspace.errors import BadRequest, HeadspaceError, JournalUnavailable
from claude_headspace.kernel.acts import AgentSeen, NoticeBegun, NoticeOver, NoticeSettled
from claude_headspace.kernel.agent import Agent, Wait
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.notify import messages as texts
from claude_headspace.kernel.notify.needs import Need, needs_of
from claude_headspace.kernel.notify.notification import CLAIM, Notice, find_notice
from claude_headspace.kernel.notify.plan import Call, Held, Looking, Moment, Over, Plan, plan, unsettled
from claude_headspace.kernel.notify.rules import PAGE
from claude_headspace.outputs.notify.attention import Attention
from claude_headspace.outputs.notify.channels import Channels, ChannelState, Message
from claude_headspace.outputs.notify.desktop import Undelivered
from claude_headspace.outputs.notify.preferences import Book, BookKeeper
from claude_headspace.ports import Clock, Reader, Recorder

log = structlog.get_logger(__name__)

AnswerLink = Callable[[Wait, str], str | None]
"""The address at which whoever a channel reaches can answer a wait without signing in, if there is any."""

Key = tuple[str, str]
"""A need and a channel: what is being done."""
OVER = ""
"""In place of a channel: the need is being settled."""

URGENT = ("waiting", "error")
RETRY_SECONDS = 5.0
"""How soon what could not be written is tried again."""
LOOK_AGAIN_SECONDS = 60.0
"""How soon it is looked again whether there is a channel for a need that has none."""
SEND_SECONDS = CLAIM / SECOND * 0.75
REMEMBERED = 100


def no_link(_wait: Wait, _to: str) -> None:
    """Nobody can answer from elsewhere."""


class Unsent(msgspec.Struct, frozen=True):
    """A need that came and went without a call, and why."""

    need: Need
    why: str
    at: Micros


class Tried(msgspec.Struct, frozen=True):
    """What came of a test of a channel: `sent`, `failed`, or `unavailable` here and now; and why."""

    channel: str
    status: str
    detail: str


class Notifier(Loop):
    """Calls people. Follows the board as a display does."""

    def __init__(
        self,
        host: str,
        recorder: Recorder,
        reader: Reader,
        clock: Clock,
        preferences_file: Path,
        base_url: Callable[[], str] = lambda: "",
        answer_link: AnswerLink = no_link,
    ) -> None:
        super().__init__()
        self._host = host
        self._recorder = recorder
        self._reader = reader
        self._clock = clock
        self.keeper = BookKeeper(preferences_file)
        self._attention = Attention()
        self.channels = Channels(has_page=self._attention.has_page)
        self._base_url = base_url
        self._answer_link = answer_link
        self._agents: dict[str, Agent] = {}
        self._busy: set[Key] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="notify")
        self._news = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.held: list[Held] = []
        self.unsent: deque[Unsent] = deque(maxlen=REMEMBERED)
        self.last: dict[str, tuple[Micros, str]] = {}
        """When each channel was last used, and why that failed, if it did."""

    def health(self) -> tuple[bool, str | None, str]:
        """Whether it runs, and why its preferences cannot be used."""
        return self.running, self.keeper.failure, "on"

    # --- following the board ---

    def start(self) -> None:
        """Begin to call."""
        self._loop = asyncio.get_running_loop()
        super().start()

    async def stop(self) -> None:
        """Call nobody any more; what is being sent is waited for a moment."""
        await super().stop()
        if self._tasks:
            _done, late = await asyncio.wait(self._tasks, timeout=1)
            for task in late:
                task.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def show(self, agents: Sequence[Agent]) -> None:
        """The board as it is now; only who needs somebody, or was called about, is of interest."""
        rules, now = self.keeper.current().rules, self._clock()
        before = self._agents
        ours = (agent for agent in agents if agent.host == self._host and agent.imported_from is None)
        self._agents = {agent.id: agent for agent in ours if agent.notices or needs_of(agent, rules, now)}
        if (self._agents or before) and self._loop is not None:
            self._loop.call_soon_threadsafe(self._news.set)

    def sight(self, page_id: str, agent_id: str | None, *, visible: bool, notifies: bool) -> None:
        """A page says what its reader has before him: whoever turns away may have to be called."""
        if self._attention.page(page_id, agent_id, visible=visible, notifies=notifies):
            self._news.set()

    def clear(self) -> None:
        """What was shown stays: the needs are still there."""

    async def _run(self) -> None:
        while True:
            self._news.clear()
            try:
                pause = await self._round()
            except Exception:
                log.exception("notifier_failed")
                pause = RETRY_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._news.wait()

    # --- one round ---

    async def _round(self) -> float | None:
        """Do what is due; how long nothing more is."""
        agents = list(self._agents.values())
        if not agents:
            self._note_held([], agents)
            return None
        book, moment = await asyncio.to_thread(self._moment, agents)
        made = plan(agents, moment)
        self._note_held(made.held, agents)
        for agent in made.seen:
            await self._see(agent)
        for over in made.over:
            if (over.need, OVER) not in self._busy:
                self._begin({(over.need, OVER)}, self._finish(over, book))
        for call in made.calls:
            fresh = tuple(need for need in call.needs if (need.id, call.channel) not in self._busy)
            if fresh:
                keys = {(need.id, call.channel) for need in fresh}
                self._begin(keys, self._send(Call(call.channel, fresh), book))
        return self._pause(made, moment)

    def _pause(self, made: Plan, moment: Moment) -> float | None:
        """How long to rest; never for long while something is held, since a machine that slept has lost that time."""
        if made.wake_at is not None:
            return min(max((made.wake_at - self._clock()) / SECOND, 0.05), LOOK_AGAIN_SECONDS)
        return None if moment.available else LOOK_AGAIN_SECONDS

    def _moment(self, agents: Sequence[Agent]) -> tuple[Book, Moment]:
        """All that a plan depends on; asks the desktop and tmux, so it runs in a thread."""
        book, now = self.keeper.current(), self._clock()
        available = self.channels.available(book)
        asking = unsettled(agents, book.rules, now) if available else []
        looking = self._attention.look(asking, book.present_for) if asking else Looking()
        quiet = self.quiet_until()
        moment = Moment(
            rules=book.rules,
            available=available,
            now=now,
            looking=looking,
            quiet_until=quiet,
            verb_of=permission_verb,
        )
        return book, moment

    def quiet_until(self) -> Micros | None:
        """Until when nobody is called, if it is such an hour."""
        quiet, now = self.keeper.current().rules.quiet, self._clock()
        return quiet.until(now, local_offset(now)) if quiet is not None else None

    def _note_held(self, held: list[Held], agents: Sequence[Agent]) -> None:
        """Remember what is held, and what came and went without a call."""
        now = self._clock()
        known = {notice.need for agent in agents for notice in agent.notices}
        known |= {each.need.id for each in held} | {need for need, _channel in self._busy}
        gone = {each.need.id: each for each in self.held if each.need.id not in known}
        self.unsent.extend(Unsent(each.need, each.why, now) for each in gone.values())
        self.held = held

    async def _see(self, agent: Agent) -> None:
        """Somebody has it before him: what it came to is no news any more."""
        with suppress(HeadspaceError):
            self._know((await self._recorder.record(AgentSeen(via="terminal"), agent.id)).agent)

    def _know(self, agent: Agent) -> None:
        self._agents[agent.id] = agent
        self._news.set()

    def _begin(self, keys: set[Key], work: Awaitable[None]) -> None:
        """Do something beside the loop, once at a time."""
        self._busy |= keys
        task = asyncio.ensure_future(self._guarded(keys, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guarded(self, keys: set[Key], work: Awaitable[None]) -> None:
        try:
            await work
        except BadRequest:
            pass  # another daemon was first, or it is over
        except Exception as error:
            if not isinstance(error, JournalUnavailable):
                log.exception("notify_failed", needs=sorted(keys))
            asyncio.get_running_loop().call_later(RETRY_SECONDS, self._news.set)
        finally:
            self._busy -= keys

    # --- calling ---

    async def _send(self, call: Call, book: Book) -> None:
        """Claim, send, write down what came of it."""
        claimed = [need for need in call.needs if await self._claim(need, call.channel)]
        if not claimed:
            return
        message = self._message(claimed, call.channel, book)
        try:
            receipt, failure = await self._threaded(lambda: self.channels.send(call.channel, message, book)), ""
        except Undelivered as error:
            receipt, failure = "", str(error) or "it did not go out"
        except TimeoutError:
            receipt, failure = "", f"no answer within {SEND_SECONDS:.0f} s"
        self.last[call.channel] = (self._clock(), failure)
        log.info("notified", channel=call.channel, needs=len(claimed), failure=failure or None)
        for need in claimed:
            await self._settle(need, call.channel, failure, receipt, book)

    async def _claim(self, need: Need, channel: str) -> bool:
        act = NoticeBegun(need=need.id, kind=need.kind, channel=channel, words=need.title, wait_id=need.wait_id)
        try:
            self._know((await self._recorder.record(act, need.agent.id)).agent)
        except BadRequest:
            return False
        return True

    async def _threaded(self, work: Callable[[], str]) -> str:
        done = asyncio.get_running_loop().run_in_executor(self._threads, work)
        return await asyncio.wait_for(done, SEND_SECONDS)

    async def _settle(self, need: Need, channel: str, failure: str, receipt: str, book: Book) -> None:
        """Write the result down, however long the database is away: it would be sent again otherwise."""
        act = NoticeSettled(need=need.id, channel=channel, reason=failure, receipt=receipt)
        while True:
            try:
                agent = (await self._recorder.record(act, need.agent.id)).agent
                break
            except JournalUnavailable:
                await asyncio.sleep(RETRY_SECONDS)
        self._know(agent)
        notice = find_notice(agent.notices, need.id, channel)
        if notice is not None and notice.over_at:  # it was settled while it was sent
            await self._take_back(agent, notice, book)

    def _message(self, needs: Sequence[Need], channel: str, book: Book) -> Message:
        urgent = any(need.kind in URGENT for need in needs)
        if len(needs) == 1:
            need = needs[0]
            link = self._answered_at(need, channel, book) or self._page(f"/agents/{need.agent.id}")
            return Message(title=need.title, text=need.text, link=link, urgent=urgent, tag=need.id)
        title, text = texts.digest([need.agent.name for need in needs], [need.title for need in needs])
        return Message(title=title, text=text, link=self._page("/waits"), urgent=urgent, tag=needs[0].id)

    def _page(self, path: str = "") -> str:
        base = self._base_url()
        return f"{base}{path}" if base else ""

    def _answered_at(self, need: Need, channel: str, book: Book) -> str | None:
        """A link that answers; not where the page itself is at hand, nor where others may read it."""
        address = book.addresses.get(channel)
        if address is None or address.brief:
            return None
        agent = self._agents.get(need.agent.id, need.agent)
        wait = next((wait for wait in agent.waits if wait.id == need.wait_id), None)
        return self._answer_link(wait, channel) if wait is not None else None

    # --- taking back ---

    async def _finish(self, over: Over, book: Book) -> None:
        why = await asyncio.to_thread(self._why, over)
        agent = (await self._recorder.record(NoticeOver(need=over.need, reason=why), over.agent.id)).agent
        self._know(agent)
        for notice in agent.notices:
            if notice.need == over.need and notice.arrived:
                await self._take_back(agent, notice, book)

    async def _take_back(self, agent: Agent, notice: Notice, book: Book) -> None:
        shared = bool(notice.receipt) and any(
            other.receipt == notice.receipt and other.channel == notice.channel and not other.over_at
            for each in self._agents.values()
            for other in each.notices
        )
        if shared:  # a digest stays while anything in it is open
            return
        told = Message(title=f"Settled: {notice.title}", text=notice.outcome, tag=notice.need)

        def withdraw() -> str:
            self.channels.withdraw(notice.channel, notice.receipt, told, book)
            return ""

        with suppress(Undelivered, TimeoutError):
            await self._threaded(withdraw)

    def _why(self, over: Over) -> str:
        """What became of a need."""
        wait = self._reader.wait(over.need) if over.kind == "waiting" else None
        if wait is not None and wait.answered is not None:
            return f"{wait.answered.words} by {wait.answered.by} through {wait.answered.via}"
        if wait is not None:
            return wait.resolution or "over"
        if over.agent.ended_at is not None:
            return "the agent ended"
        notices = [notice for notice in over.agent.notices if notice.need == over.need]
        is_seen = any(over.agent.seen_at >= notice.begun_at for notice in notices)
        return "seen" if is_seen else "the agent went on"

    # --- trying it out ---

    async def test(self, only: str | None = None) -> list[Tried]:
        """Send a test through every channel that is set up, or through one, whatever the rules say."""
        book = await asyncio.to_thread(self.keeper.current)
        states = await asyncio.to_thread(self.channels.states, book)
        chosen = [state for state in states if only in (None, state.name)]
        if not chosen:
            names = ", ".join(state.name for state in states)
            raise BadRequest("unknown_channel", f"There is no channel {only}.", f"There are: {names}.", status=404)
        return [await self._try(state, book) for state in chosen]

    async def _try(self, state: ChannelState, book: Book) -> Tried:
        channel = state.name
        if not state.available or channel == PAGE:
            return Tried(channel, "sent" if state.available else "unavailable", state.detail)
        text = f"Headspace on {self._host} can reach you here."
        message = Message(title="A test of Headspace", text=text, link=self._page(), tag="test")
        failure = ""
        try:
            await self._threaded(lambda: self.channels.send(channel, message, book))
        except Undelivered as error:
            failure = str(error)
        except TimeoutError:
            failure = f"no answer within {SEND_SECONDS:.0f} s"
        self.last[channel] = (self._clock(), failure)
        return Tried(channel, "failed" if failure else "sent", failure or state.detail)


def local_offset(now: Micros) -> Micros:
    """How far local time is ahead of UTC."""
    offset = datetime.fromtimestamp(now / SECOND, tz=UTC).astimezone().utcoffset()
    return round(offset.total_seconds()) * SECOND if offset is not None else 0
