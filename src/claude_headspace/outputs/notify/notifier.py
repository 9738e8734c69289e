"""The notifier executes the kernel's plans: it sends notifications, removes closed ones, and records both.

Rules
- A notification is claimed in the journal before it is sent, and its result is recorded afterwards. A second claim is
  rejected. So a crash neither loses nor repeats a notification, with one exception: after a crash between sending and
  recording, it is sent again when its claim expires.
- The notifier never delays a hook. It receives the board from `board_displays`, and slow work runs in threads.
- Only the daemon on an agent's machine sends notifications.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import msgspec
import structlog

from claude_headspace.background import Loop
from claude_headspace.clients.tools import permission_verb
from claude_headspace.errors import BadRequest, HeadspaceError, JournalUnavailable
from claude_headspace.kernel.acts import AgentSeen, NotificationClosed, NotificationCompleted, NotificationStarted
from claude_headspace.kernel.agent import Agent, Wait
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.notify import messages
from claude_headspace.kernel.notify.budgets import has_budgets
from claude_headspace.kernel.notify.needs import Need, find_needs
from claude_headspace.kernel.notify.notification import CLAIM_DURATION, Notification, find_notification
from claude_headspace.kernel.notify.plan import (
    Attention,
    ClosedNeed,
    Conditions,
    DelayedNotification,
    Delivery,
    Plan,
    find_notifiable,
    plan,
)
from claude_headspace.kernel.notify.rules import PAGE
from claude_headspace.kernel.wait.views import RequestView
from claude_headspace.outputs.notify.attention import AttentionTracker
from claude_headspace.outputs.notify.budget_watch import BudgetWatch
from claude_headspace.outputs.notify.channels import Channels, ChannelState, Message
from claude_headspace.outputs.notify.desktop import DeliveryFailed
from claude_headspace.outputs.notify.local_time import utc_offset
from claude_headspace.outputs.notify.preferences import NotificationPreferences, PreferencesFile
from claude_headspace.outputs.notify.push.channel import PushChannel
from claude_headspace.ports import Clock, Reader, Recorder

log = structlog.get_logger(__name__)

T = TypeVar("T")

AnswerLink = Callable[[Wait, str], str | None]
"""Returns the URL at which the recipients of a channel can answer a wait without signing in; None if there is none."""

FindRequest = Callable[[Wait], RequestView | None]
"""Returns the request of a wait, without its secrets; None if it is not known. Reads files."""

TaskKey = tuple[str, str]
"""A need and a channel."""
CLOSE = ""
"""In place of a channel: the need is being closed."""

URGENT_KINDS = ("waiting", "error")
RETRY_SECONDS = 5.0
"""Delay before failed work is repeated."""
MAX_PAUSE_SECONDS = 60.0
"""Maximum time between two rounds while a notification is delayed or no channel is available."""
SEND_TIMEOUT_SECONDS = CLAIM_DURATION / SECOND * 0.75
MAX_UNSENT = 100


class MessageSources(msgspec.Struct, frozen=True):
    """Where messages get their links and requests from."""

    base_url: Callable[[], str]
    answer_link: AnswerLink
    find_request: FindRequest


def _view_of(need: Need) -> str:
    """The view that shows a need: its wait alone, or its agent."""
    return f"/waits/{quote(need.wait_id, safe='')}" if need.wait_id else f"/agents/{quote(need.agent.id, safe='')}"


class UnsentNeed(msgspec.Struct, frozen=True):
    """A need that was closed before its notification was sent, and why that was delayed."""

    need: Need
    reason: str
    at: Micros


class ChannelOutcome(msgspec.Struct, frozen=True):
    """The result of a channel test: `sent`, `failed` or `unavailable`, with the reason."""

    channel: str
    status: str
    detail: str


class Notifier(Loop):
    """Sends notifications. It is a display of the board."""

    def __init__(
        self,
        host: str,
        recorder: Recorder,
        reader: Reader,
        clock: Clock,
        preferences_file: Path,
        push: PushChannel,
        sources: MessageSources,
    ) -> None:
        super().__init__()
        self._host = host
        self._recorder = recorder
        self._reader = reader
        self._clock = clock
        self.preferences = PreferencesFile(preferences_file)
        self._attention = AttentionTracker()
        self._budgets = BudgetWatch(host, reader, clock)
        self.push = push
        self.channels = Channels(has_page=self._attention.has_page, push=push)
        self._sources = sources
        self._agents: dict[str, Agent] = {}
        self._in_progress: set[TaskKey] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._threads = ThreadPoolExecutor(max_workers=4, thread_name_prefix="notify")
        self._changed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self.delayed: list[DelayedNotification] = []
        self.unsent: deque[UnsentNeed] = deque(maxlen=MAX_UNSENT)
        self.last_results: dict[str, tuple[Micros, str]] = {}
        """The time of each channel's last use, and the failure; empty if it was successful."""

    def health(self) -> tuple[bool, str | None, str]:
        """Whether it runs, and what is wrong with its preferences."""
        return self.running, self.preferences.failure, "on"

    # --- board and pages ---

    def start(self) -> None:
        """Start sending notifications."""
        self._loop = asyncio.get_running_loop()
        super().start()

    async def stop(self) -> None:
        """Stop. Waits up to a second for messages that are being sent."""
        await super().stop()
        if self._tasks:
            _done, late = await asyncio.wait(self._tasks, timeout=1)
            for task in late:
                task.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)

    def show(self, agents: Sequence[Agent]) -> None:
        """Receive the board. Only agents of this host with needs or notifications are stored."""
        rules, now = self.preferences.current().rules, self._clock()
        before = self._agents
        local = (agent for agent in agents if agent.host == self._host and agent.imported_from is None)
        self._agents = {agent.id: agent for agent in local if agent.notices or find_needs(agent, rules, now)}
        if (self._agents or before or has_budgets(rules)) and self._loop is not None:
            self._loop.call_soon_threadsafe(self._changed.set)

    def report_page(self, page_id: str, agent_id: str | None, *, visible: bool, notifies: bool) -> None:
        """Receive what a page shows. When it changes, delayed notifications may become due."""
        if self._attention.report_page(page_id, agent_id, visible=visible, notifies=notifies):
            self._changed.set()

    def channels_changed(self) -> None:
        """Another channel is available: notifications that had none may be sent now."""
        self._changed.set()

    def clear(self) -> None:
        """No-op: notifications stay, because the needs still exist."""

    async def _run(self) -> None:
        while True:
            self._changed.clear()
            try:
                pause = await self._process()
            except Exception:
                log.exception("notifier_crashed")
                pause = RETRY_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._changed.wait()

    # --- one round ---

    async def _process(self) -> float | None:
        """Do what is due. Returns the seconds until the next round; None to wait for a change."""
        budgets_due = await self._update_budgets()
        agents = list((self._budgets.agents | self._agents).values())
        if not agents:
            self._update_delayed(Plan(), agents)
            return budgets_due
        preferences, conditions = await asyncio.to_thread(self._read_conditions, agents)
        planned = plan(agents, conditions)
        self._update_delayed(planned, agents)
        for agent in planned.seen:
            await self._record_seen(agent)
        for closed in planned.closed:
            if (closed.need, CLOSE) not in self._in_progress:
                self._start_task({(closed.need, CLOSE)}, self._close(closed, preferences))
        for delivery in planned.deliveries:
            needs = tuple(need for need in delivery.needs if (need.id, delivery.channel) not in self._in_progress)
            if needs:
                keys = {(need.id, delivery.channel) for need in needs}
                self._start_task(keys, self._send(Delivery(delivery.channel, needs), preferences))
        pauses = (self._pause_seconds(planned, conditions), budgets_due)
        return min((pause for pause in pauses if pause is not None), default=None)

    async def _update_budgets(self) -> float | None:
        """Check the budgets of a day and a month. Returns the seconds until the next check, if one is needed."""
        rules = self.preferences.current().rules
        if not has_budgets(rules):
            self._budgets.clear()
            return None
        return await asyncio.to_thread(self._budgets.update, rules)

    def _pause_seconds(self, planned: Plan, conditions: Conditions) -> float | None:
        """Return the seconds until the next round. Limited, because timers do not run while the machine sleeps."""
        if planned.next_check_at is not None:
            return min(max((planned.next_check_at - self._clock()) / SECOND, 0.05), MAX_PAUSE_SECONDS)
        return None if conditions.available else MAX_PAUSE_SECONDS

    def _read_conditions(self, agents: Sequence[Agent]) -> tuple[NotificationPreferences, Conditions]:
        """Read what a plan depends on. Runs in a thread, because it queries the desktop and tmux."""
        preferences, now = self.preferences.current(), self._clock()
        available = self.channels.available(preferences)
        reached = self._budgets.reached
        notifiable = find_notifiable(agents, preferences.rules, now, reached) if available else []
        attention = self._attention.observe(notifiable, preferences.present_for) if notifiable else Attention()
        conditions = Conditions(
            rules=preferences.rules,
            available=available,
            now=now,
            attention=attention,
            quiet_until=self.quiet_until(),
            permission_verb=permission_verb,
            reached=reached,
        )
        return preferences, conditions

    def quiet_until(self) -> Micros | None:
        """Return when the current quiet hours end; None outside of them."""
        quiet, now = self.preferences.current().rules.quiet, self._clock()
        return quiet.until(now, utc_offset(now)) if quiet is not None else None

    def _update_delayed(self, planned: Plan, agents: Sequence[Agent]) -> None:
        """Store the delayed notifications, and the needs that were closed before they were sent."""
        now, delayed = self._clock(), planned.delayed
        known = {notification.need for agent in agents for notification in agent.notices}
        known |= {need.id for delivery in planned.deliveries for need in delivery.needs}
        known |= {each.need.id for each in delayed} | {need for need, _channel in self._in_progress}
        gone = {each.need.id: each for each in self.delayed if each.need.id not in known}
        self.unsent.extend(UnsentNeed(each.need, each.reason, now) for each in gone.values())
        self.delayed = delayed

    async def _record_seen(self, agent: Agent) -> None:
        """Record that a person is looking at the agent."""
        with suppress(HeadspaceError):
            self._update_agent((await self._recorder.record(AgentSeen(via="terminal"), agent.id)).agent)

    def _update_agent(self, agent: Agent) -> None:
        self._agents[agent.id] = agent
        self._changed.set()

    def _start_task(self, keys: set[TaskKey], work: Awaitable[None]) -> None:
        """Run work beside the loop. Its keys are in progress until it ends."""
        self._in_progress |= keys
        task = asyncio.ensure_future(self._run_task(keys, work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run_task(self, keys: set[TaskKey], work: Awaitable[None]) -> None:
        try:
            await work
        except BadRequest:
            pass  # another daemon was first, or the need is closed
        except Exception as error:
            if not isinstance(error, JournalUnavailable):
                log.exception("notification_failed", needs=sorted(keys))
            asyncio.get_running_loop().call_later(RETRY_SECONDS, self._changed.set)
        finally:
            self._in_progress -= keys

    # --- sending ---

    async def _send(self, delivery: Delivery, preferences: NotificationPreferences) -> None:
        """Claim the needs, send one message about them, and record the result."""
        claimed = [need for need in delivery.needs if await self._claim(need, delivery.channel)]
        if not claimed:
            return
        message = await asyncio.to_thread(self._compose_message, claimed, delivery.channel, preferences)
        receipt, failure = await self._send_message(delivery.channel, message, preferences)
        log.info("notified", channel=delivery.channel, needs=len(claimed), failure=failure or None)
        for need in claimed:
            await self._record_result(need, delivery.channel, failure, receipt, preferences)

    async def _claim(self, need: Need, channel: str) -> bool:
        act = NotificationStarted(need=need.id, kind=need.kind, channel=channel, words=need.title, wait_id=need.wait_id)
        try:
            self._update_agent((await self._recorder.record(act, need.agent.id)).agent)
        except BadRequest:
            return False
        return True

    async def _send_message(
        self, channel: str, message: Message, preferences: NotificationPreferences
    ) -> tuple[str, str]:
        """Send a message. Returns its receipt, and why it failed; empty if it was successful."""
        receipt = failure = ""
        try:
            receipt = await self._run_in_thread(lambda: self.channels.send(channel, message, preferences))
        except DeliveryFailed as error:
            failure = str(error) or "it was not sent"
        except TimeoutError:
            failure = f"no answer within {SEND_TIMEOUT_SECONDS:.0f} s"
        self.last_results[channel] = (self._clock(), failure)
        return receipt, failure

    async def _run_in_thread(self, work: Callable[[], T]) -> T:
        result = asyncio.get_running_loop().run_in_executor(self._threads, work)
        return await asyncio.wait_for(result, SEND_TIMEOUT_SECONDS)

    async def _record_result(
        self, need: Need, channel: str, failure: str, receipt: str, preferences: NotificationPreferences
    ) -> None:
        """Record the result. Waits until the journal is available; otherwise the notification would be sent again."""
        act = NotificationCompleted(need=need.id, channel=channel, reason=failure, receipt=receipt)
        while True:
            try:
                agent = (await self._recorder.record(act, need.agent.id)).agent
                break
            except JournalUnavailable:
                await asyncio.sleep(RETRY_SECONDS)
        self._update_agent(agent)
        notification = find_notification(agent.notices, need.id, channel)
        if notification is not None and notification.closed_at:  # the need was closed while the message was sent
            await self._remove(notification, preferences)

    def _compose_message(self, needs: Sequence[Need], channel: str, preferences: NotificationPreferences) -> Message:
        urgent = any(need.kind in URGENT_KINDS for need in needs)
        if len(needs) == 1:
            need = needs[0]
            link = self._find_answer_link(need, channel, preferences) or self._page_url(f"/agents/{need.agent.id}")
            text, path = self._text_of(need), _view_of(need)
            return Message(title=need.title, text=text, link=link, path=path, urgent=urgent, tag=need.id)
        title, text = messages.digest([need.agent.name for need in needs], [need.title for need in needs])
        path = "/waits"
        return Message(title=title, text=text, link=self._page_url(path), path=path, urgent=urgent, tag=needs[0].id)

    def _text_of(self, need: Need) -> str:
        """The text about a need. A wait is shown with the beginning of its request."""
        wait = self._wait_of(need)
        if wait is None or wait.kind not in messages.REQUEST_KINDS:
            return need.text
        try:
            request = self._sources.find_request(wait)
        except Exception:
            log.exception("request_not_read", wait=wait.id)
            request = None
        return messages.request_message(need.agent, wait, request) if request is not None else need.text

    def _wait_of(self, need: Need) -> Wait | None:
        agent = self._agents.get(need.agent.id, need.agent)
        return next((wait for wait in agent.waits if wait.id == need.wait_id), None)

    def _page_url(self, path: str = "") -> str:
        base = self._sources.base_url()
        return f"{base}{path}" if base else ""

    def _find_answer_link(self, need: Need, channel: str, preferences: NotificationPreferences) -> str | None:
        """Return a link that answers the need. None for the desktop, the page, and channels that others may read."""
        address = preferences.addresses.get(channel)
        if address is None or address.brief:
            return None
        wait = self._wait_of(need)
        return self._sources.answer_link(wait, channel) if wait is not None else None

    # --- closing ---

    async def _close(self, closed: ClosedNeed, preferences: NotificationPreferences) -> None:
        reason = await asyncio.to_thread(self._closing_reason, closed)
        agent = (
            await self._recorder.record(NotificationClosed(need=closed.need, reason=reason), closed.agent.id)
        ).agent
        self._update_agent(agent)
        for notification in agent.notices:
            if notification.need == closed.need and notification.is_delivered:
                await self._remove(notification, preferences)

    async def _remove(self, notification: Notification, preferences: NotificationPreferences) -> None:
        """Remove a notification from its channel. A digest stays while one of its needs is open."""
        is_shared = bool(notification.receipt) and any(
            other.receipt == notification.receipt and other.channel == notification.channel and not other.closed_at
            for each in self._agents.values()
            for other in each.notices
        )
        if is_shared:
            return
        message = Message(title=f"Resolved: {notification.title}", text=notification.outcome, tag=notification.need)
        with suppress(DeliveryFailed, TimeoutError):
            await self._run_in_thread(
                lambda: self.channels.remove(notification.channel, notification.receipt, message, preferences)
            )

    def _closing_reason(self, closed: ClosedNeed) -> str:
        """Return why a need was closed."""
        wait = self._reader.wait(closed.need) if closed.kind == "waiting" else None
        if wait is not None and wait.answered is not None:
            return f"{wait.answered.words} by {wait.answered.by} through {wait.answered.via}"
        if wait is not None:
            return wait.resolution or "closed"
        if closed.agent.ended_at is not None:
            return "the agent ended"
        sent = (each for each in closed.agent.notices if each.need == closed.need)
        is_seen = any(closed.agent.seen_at >= each.started_at for each in sent)
        return "seen" if is_seen else "the agent continued"

    # --- testing ---

    async def test(self, channel: str | None = None) -> list[ChannelOutcome]:
        """Send a test through every channel, or through one. The rules do not apply."""
        preferences = await asyncio.to_thread(self.preferences.current)
        states = await asyncio.to_thread(self.channels.states, preferences)
        chosen = [state for state in states if channel in (None, state.name)]
        if not chosen:
            names = ", ".join(state.name for state in states)
            raise BadRequest("unknown_channel", f"There is no channel {channel}.", f"Channels: {names}.", status=404)
        return [await self._test_channel(state, preferences) for state in chosen]

    async def _test_channel(self, state: ChannelState, preferences: NotificationPreferences) -> ChannelOutcome:
        channel = state.name
        if not state.available or channel == PAGE:
            return ChannelOutcome(channel, "sent" if state.available else "unavailable", state.detail)
        text = f"Headspace on {self._host} can reach you here."
        message = Message(title="Headspace test notification", text=text, link=self._page_url(), tag="test")
        _receipt, failure = await self._send_message(channel, message, preferences)
        return ChannelOutcome(channel, "failed" if failure else "sent", failure or state.detail)
