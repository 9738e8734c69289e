"""Questions that clients hold open for us: a hook that is not answered before somebody answers, or it is over.

The client's own dialog stays usable all the while, so whoever is first wins: an answer through us is given to the hook,
and one in the terminal releases it with nothing to say.

Rules
- What is held is written down (`WaitHeld`), and so is that it no longer is (`WaitReleased`): any surface of any daemon
  knows whether an answer would arrive.
- Silence is no consent: what expires, is cut off or survives a restart is answered with nothing.
- An answer that was handed over is taken up once the client shows no dialog (`WaitTaken`), if nothing told so before.
- Answers come by the stream alone, whichever daemon took them; what was missed there is looked up once.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress

import msgspec
import structlog

from claude_headspace.clients.claude_code.replies import answer_reply
from claude_headspace.clients.decode import decode
from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.acts import WaitAnswered, WaitHeld, WaitReleased, WaitTaken
from claude_headspace.kernel.agent import Agent, Wait
from claude_headspace.kernel.answers import Answer
from claude_headspace.kernel.envelope import SECOND, Envelope
from claude_headspace.ports import Clock, Reader, Recorder, StreamMessage

log = structlog.get_logger(__name__)

HEARD = ("wait_answered", "wait_closed")
TAKEN_SECONDS = 1.0
TRIES = 5
"""How soon, and how often, it is looked whether a client that got its answer still shows the dialog."""
RESTING_MODES = ("headless",)
"""Modes of clients in front of which nobody sits: their turn would stand still."""


class Holds:
    """All hooks that are held open."""

    def __init__(
        self,
        reader: Reader,
        recorder: Recorder,
        clock: Clock,
        seconds: float,
        *,
        headless: bool,
        shows_dialog: Callable[[str], bool] = lambda _session_id: False,
    ) -> None:
        self._reader = reader
        self._recorder = recorder
        self._clock = clock
        self._seconds = seconds
        self._headless = headless
        self._shows_dialog = shows_dialog
        self._following: set[asyncio.Task[None]] = set()
        self._open: dict[str, asyncio.Event] = {}

    @property
    def count(self) -> int:
        """How many hooks are held."""
        return len(self._open)

    def wants(self, agent: Agent, wait: Wait | None) -> bool:
        """Whether a hook about this wait is to be held."""
        if wait is None or self._seconds <= 0 or wait.id in self._open:
            return False
        return self._headless or agent.mode not in RESTING_MODES

    async def hold(self, envelope: Envelope, wait: Wait, gone: Awaitable[object]) -> bytes:
        """Wait for the answer, the end of the wait, the end of our patience, or of the hook: what the hook prints."""
        over = self._open[wait.id] = asyncio.Event()
        try:
            until = self._clock() + round(self._seconds * SECOND)
            await self._recorder.record(WaitHeld(wait_id=wait.id, until=until), wait.agent_id)
            now = await asyncio.to_thread(self._reader.wait, wait.id)
            is_open = now is not None and now.closed_at is None
            is_there = is_open and await self._first(over, gone)
            return await self._outcome(envelope, wait, is_there=is_there)
        finally:
            del self._open[wait.id]

    async def _first(self, over: asyncio.Event, gone: Awaitable[object]) -> bool:
        """Wait for the first of them; whether the hook is still there to take an answer."""
        ended, left = asyncio.ensure_future(over.wait()), asyncio.ensure_future(gone)
        try:
            await asyncio.wait((ended, left), timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED)
            return not left.done()
        finally:
            ended.cancel()
            left.cancel()
            await asyncio.gather(ended, left, return_exceptions=True)

    async def _outcome(self, envelope: Envelope, wait: Wait, *, is_there: bool) -> bytes:
        now = await asyncio.to_thread(self._reader.wait, wait.id)
        if now is None or now.closed_at is not None:
            return b""
        if not is_there or now.answered is None:
            await self._recorder.record(WaitReleased(wait_id=wait.id), wait.agent_id)
            return b""
        answer = await asyncio.to_thread(given_answer, self._reader, now)
        if answer is None:
            return b""
        event = decode(envelope)
        following = asyncio.create_task(self._follow(event.meta.session_id, now), name="answer taken")
        self._following.add(following)
        following.add_done_callback(self._following.discard)
        return answer_reply(event, now, answer)

    async def _follow(self, session_id: str, wait: Wait) -> None:
        """See to it that the wait ends once the client has taken the answer up."""
        for _ in range(TRIES):
            await asyncio.sleep(TAKEN_SECONDS)
            if not self._shows_dialog(session_id):
                with suppress(HeadspaceError):  # the daemon stops, or it is over already
                    await self._recorder.record(WaitTaken(wait_id=wait.id), wait.agent_id)
                return

    def hear(self, messages: Iterable[StreamMessage]) -> None:
        """Something was announced: perhaps what somebody waits for."""
        if not self._open:
            return
        for message in messages:
            if message.type in HEARD and (found := self._open.get(_wait_id(message))) is not None:
                found.set()

    def close(self) -> None:
        """Let everybody go: the daemon stops."""
        for over in self._open.values():
            over.set()
        for following in self._following:
            following.cancel()

    async def forget(self, agents: Iterable[Agent]) -> None:
        """After a start nothing is held any more, whatever the journal says."""
        for agent in agents:
            for wait in agent.waits:
                if wait.held_until or wait.answered is not None:
                    await self._recorder.record(WaitReleased(wait_id=wait.id), agent.id)


def given_answer(reader: Reader, wait: Wait) -> Answer | None:
    """The complete answer to a wait, from its event; None if there is no answer, or it is from an older version."""
    if wait.answered is None or not wait.answered.event_id:
        return None
    event = reader.event(wait.agent_id, wait.answered.event_id)
    if event is None:
        return None
    act = msgspec.json.decode(event.envelope.payload, type=WaitAnswered)
    return msgspec.json.decode(act.answer, type=Answer)


def _wait_id(message: StreamMessage) -> str:
    return msgspec.json.decode(message.data, type=_Id).id


class _Id(msgspec.Struct):
    id: str = ""
