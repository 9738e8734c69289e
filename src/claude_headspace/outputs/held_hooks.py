"""Held hooks: hooks about a question that stay open until a person answers, or the question is closed.

The client's own dialog stays usable, and the first answer wins: an answer through Headspace is the reply to the hook;
an answer in the terminal releases the hook with an empty reply.

Rules
- Holding a hook is recorded (`WaitHeld`), and so is its release (`WaitReleased`): every surface of every daemon can
  show whether an answer would reach the client.
- Only an answer of a person approves anything. A hook that expires or is released by a restart gets an empty reply.
- An answer that did not reach the client is recorded as undelivered, also after a crash.
- An answer counts as received once the client shows no dialog (`WaitTaken`), unless an event proved it before.
- Answers arrive on the stream, from any daemon. A missed answer is read from the journal.
- The complete payload is kept in memory while its hook is held, so that people can see all of the request.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress

import msgspec

from claude_headspace.clients.capabilities import answers_are_delivered
from claude_headspace.clients.replies import replies_of
from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.acts import WaitAnswered, WaitHeld, WaitReleased, WaitTaken
from claude_headspace.kernel.agent import Agent, Wait
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.kernel.text import count
from claude_headspace.kernel.wait.answers import Answer
from claude_headspace.ports import Clock, Reader, Received, Recorder, StreamMessage

MESSAGE_TYPES = ("wait_answered", "wait_closed")
CHECK_SECONDS = 1.0
MAX_CHECKS = 5
"""How often, and how many times, a client that got its answer is checked for an open dialog."""
RESTARTED = "Headspace was stopped or restarted while the dialog was open."
EXPIRED = "The time to answer through Headspace is over."
DISCONNECTED = "The client does not wait for an answer any more."
"""Why a dialog cannot be answered through Headspace any more."""
UNATTENDED_MODES = ("headless",)
"""Modes of clients that nobody watches: holding their hooks would only stop their turn."""


class HeldHooks:
    """All hooks that are held open."""

    def __init__(
        self,
        reader: Reader,
        recorder: Recorder,
        clock: Clock,
        hold_seconds: float,
        *,
        headless: bool,
        shows_dialog: Callable[[str], bool] = lambda _session_id: False,
    ) -> None:
        self._reader = reader
        self._recorder = recorder
        self._clock = clock
        self._hold_seconds = hold_seconds
        self._holds_headless = headless
        self._shows_dialog = shows_dialog
        self._checks: set[asyncio.Task[None]] = set()
        self._open: dict[str, asyncio.Event] = {}
        self._received: dict[str, Received] = {}
        self._is_closed = False

    def health(self) -> tuple[bool, str | None, str]:
        """The health of this component: it always runs, and holds this many hooks."""
        return True, None, count(len(self._open), "request")

    def accepts(self, agent: Agent, wait: Wait | None) -> bool:
        """Whether to hold a hook about this wait."""
        if wait is None or self._hold_seconds <= 0 or wait.id in self._open:
            return False
        return self._holds_headless or agent.mode not in UNATTENDED_MODES

    def received(self, wait_id: str) -> Received | None:
        """The hook that is held open for a wait, with its complete payload; None if none is."""
        return self._received.get(wait_id)

    async def hold(self, received: Received, wait: Wait, disconnected: Awaitable[object]) -> bytes:
        """Hold a hook until it is answered, closed, expired or `disconnected`. Returns the reply."""
        ended = self._open[wait.id] = asyncio.Event()
        self._received[wait.id] = received
        try:
            until = self._clock() + round(self._hold_seconds * SECOND)
            await self._recorder.record(WaitHeld(wait_id=wait.id, until=until), wait.agent_id)
            current = await asyncio.to_thread(self._reader.wait, wait.id)
            is_open = current is not None and current.closed_at is None
            is_connected = is_open and await self._wait(ended, disconnected)
            reason = RESTARTED if self._is_closed else EXPIRED if is_connected else DISCONNECTED
            return await self._reply(received, wait, reason, is_connected=is_connected)
        finally:
            del self._open[wait.id], self._received[wait.id]

    async def _wait(self, ended: asyncio.Event, disconnected: Awaitable[object]) -> bool:
        """Wait for the end, a disconnect or the timeout. Returns whether the hook can still receive a reply."""
        end, disconnect = asyncio.ensure_future(ended.wait()), asyncio.ensure_future(disconnected)
        try:
            await asyncio.wait((end, disconnect), timeout=self._hold_seconds, return_when=asyncio.FIRST_COMPLETED)
            return not disconnect.done()
        finally:
            end.cancel()
            disconnect.cancel()
            await asyncio.gather(end, disconnect, return_exceptions=True)

    async def _reply(self, received: Received, wait: Wait, reason: str, *, is_connected: bool) -> bytes:
        """The answer as a reply. Without one, the `reason` is recorded why nobody can answer here any more."""
        current = await asyncio.to_thread(self._reader.wait, wait.id)
        if current is None or current.closed_at is not None:
            return b""
        answer = await asyncio.to_thread(find_answer, self._reader, current) if is_connected else None
        if answer is None:
            await self._recorder.record(_release(current, reason), wait.agent_id)
            return b""
        event = received.event
        check = asyncio.create_task(self._check_received(event.meta.session_id, current), name="answer received")
        self._checks.add(check)
        check.add_done_callback(self._checks.discard)
        return replies_of(received.envelope.client).answer_reply(event, current, answer)

    async def _check_received(self, session_id: str, wait: Wait) -> None:
        """Close the wait once the client shows no dialog."""
        for _ in range(MAX_CHECKS):
            await asyncio.sleep(CHECK_SECONDS)
            if not self._shows_dialog(session_id):
                with suppress(HeadspaceError):  # the daemon stops, or the wait is closed already
                    await self._recorder.record(WaitTaken(wait_id=wait.id), wait.agent_id)
                return

    def receive(self, messages: Iterable[StreamMessage]) -> None:
        """Process stream messages: an answer to a held hook, or the end of its wait."""
        if not self._open:
            return
        for message in messages:
            if message.type in MESSAGE_TYPES and (ended := self._open.get(_wait_id(message))) is not None:
                ended.set()

    def close(self) -> None:
        """Release all hooks: the daemon stops."""
        self._is_closed = True
        for ended in self._open.values():
            ended.set()
        for check in self._checks:
            check.cancel()

    async def release_all(self, agents: Iterable[Agent]) -> None:
        """Record after a start that no hook is held."""
        for agent in agents:
            for wait in agent.waits:
                if wait.held_until or wait.answered is not None:
                    reason = "" if answers_are_delivered(agent.client) else RESTARTED
                    await self._recorder.record(_release(wait, reason), agent.id)


def find_answer(reader: Reader, wait: Wait) -> Answer | None:
    """The complete answer to a wait, from its event. None if there is no answer, or it is from an older version."""
    if wait.answered is None or not wait.answered.event_id:
        return None
    event = reader.event(wait.agent_id, wait.answered.event_id)
    if event is None:
        return None
    act = msgspec.json.decode(event.envelope.payload, type=WaitAnswered)
    return msgspec.json.decode(act.answer, type=Answer)


def _release(wait: Wait, reason: str) -> WaitReleased:
    return WaitReleased(wait_id=wait.id, undelivered=wait.answered is not None, reason=reason)


def _wait_id(message: StreamMessage) -> str:
    return msgspec.json.decode(message.data, type=_Id).id


class _Id(msgspec.Struct):
    id: str = ""
