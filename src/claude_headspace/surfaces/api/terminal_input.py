"""Input into an agent's terminal on this host: a prompt, or Esc to interrupt.

Rules
- Input goes only into the pane in which the agent's client still runs.
- A prompt waits a short time for the first report of a client that was just started.
- A prompt is typed only into an empty input box. A draft is stashed and restored if the request says so.
- The act is stored before a key is pressed. A text is typed at most once: the same `id` again is a duplicate.
- Esc is pressed only while the agent works or shows a dialog: if it is idle, a second Esc would open the client's
  rewind dialog. Some clients need two of them to interrupt a turn (`clients/program.py`).
- The result is confirmed by the client: it reports the same prompt, it becomes idle, or its dialog closes. A command
  that the client runs itself (`/model`, `!ls`) is confirmed when it has left the input box. Nothing is typed again if
  the confirmation does not come in time.
"""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

import msgspec

from claude_headspace.clients.capabilities import require
from claude_headspace.clients.client import Capability
from claude_headspace.clients.input_box import is_client_command
from claude_headspace.engine.remote_actions import Action
from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.acts import EscPressed, TextTyped, TypingFailed
from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.pending_prompts import send_delivery
from claude_headspace.outputs.pane_input import (
    PaneInput,
    is_starting,
    require_interruptible,
    require_ready,
    validate_text,
)
from claude_headspace.outputs.prompt_queue import may_send
from claude_headspace.outputs.tmux import Refused
from claude_headspace.ports import Recorder
from claude_headspace.surfaces.read.model import ReadModel

START_SECONDS = 15.0
"""How long a prompt waits for the first report of a client that was just started."""
CONFIRM_SECONDS = 6.0
POLL_SECONDS = 0.1

Answer = TypeVar("Answer")


class Sent(msgspec.Struct, frozen=True):
    """The result of `send`: `confirmed` by the client, `typed` without confirmation, `pending` or `duplicate`."""

    status: str
    agent_id: str
    agent: str
    draft_restored: bool | None = None
    """Whether the draft is in the input box again; null if there was none."""
    prompt_id: str = ""
    """The id of the pending prompt, to cancel it; empty if it was sent at once."""


class Interrupted(msgspec.Struct, frozen=True):
    """The result of `interrupt`: `confirmed` if the client stopped, otherwise `pressed`; and the state afterwards."""

    status: str
    agent_id: str
    agent: str
    state: str


class TerminalInput:
    """Types into the terminals of this host's agents."""

    def __init__(
        self, read: ReadModel, recorder: Recorder, pane_input: PaneInput, redact: Callable[[str], str] = str
    ) -> None:
        self._read = read
        self._redact = redact
        self._recorder = recorder
        self._pane_input = pane_input

    async def type_text(self, agent: Agent, action: Action) -> Sent:
        """Type a text, once, and wait for the client to report it."""
        text = validate_text(action.text)
        require(agent.client, Capability.SEND)
        if action.keep_draft:
            require(agent.client, Capability.KEEP_DRAFT)
        async with self._pane_input.lock(agent):
            agent = await self._when_started(agent)
            require_ready(agent)
            if action.when_idle and not may_send(agent, after_error=action.after_error):
                raise Refused("not_idle", f"{agent.name} is not idle any more.", "The prompt waits until it is.")
            await self._pane_input.check_input(agent, keep_draft=action.keep_draft)
            after = await asyncio.to_thread(self._read.events.last_seq, agent.id)
            prompt_id = action.id if action.when_idle else ""
            act = TextTyped(text=text, by=action.by, via=action.via, prompt_id=prompt_id)
            delivery_id = send_delivery(action.id) if action.id else None
            if (await self._recorder.record(act, agent.id, delivery_id=delivery_id)).duplicate:
                return Sent("duplicate", agent.id, agent.name)
            try:
                had_draft = await self._pane_input.type_text(agent, text, keep_draft=action.keep_draft)
            except HeadspaceError as error:
                await self._record_failure(agent, error)
                raise
            confirmed = await poll(lambda: self._is_delivered(agent, after, text), bool)
            restored = await self._pane_input.restore_draft(agent) if had_draft else None
        return Sent("confirmed" if confirmed else "typed", agent.id, agent.name, restored)

    async def was_received(self, agent: Agent, text: str, after: int) -> bool:
        """Whether the client reported a prompt after an event number. Waits for late reports."""
        prompt = self._redact(text)
        return await poll(lambda: self._read.events.has_prompt(agent.id, after, prompt), bool)

    def _is_delivered(self, agent: Agent, after: int, text: str) -> bool:
        """Whether the client reported a prompt, or took a command that it does not report."""
        if self._read.events.has_prompt(agent.id, after, self._redact(text)):
            return True
        return is_client_command(text) and self._pane_input.is_submitted(agent, text)

    async def press_escape(self, agent: Agent, action: Action) -> Interrupted:
        """Press Esc, as often as the client needs it, and wait for the client to stop."""
        require(agent.client, Capability.INTERRUPT)
        async with self._pane_input.lock(agent):
            before = await self._current(agent)  # it may have changed while the lock was held
            require_interruptible(before)
            await self._pane_input.check_pane(before)
            await self._recorder.record(EscPressed(by=action.by, via=action.via), agent.id)
            try:
                await self._pane_input.interrupt(before)
            except HeadspaceError as error:
                await self._record_failure(agent, error)
                raise
            after = await poll(lambda: self._read.agents.find(agent.id), lambda now: has_stopped(before, now))
        status = "confirmed" if has_stopped(before, after) else "pressed"
        return Interrupted(status, agent.id, agent.name, after.state.value)

    async def _when_started(self, agent: Agent) -> Agent:
        """The agent as it is now; if its client is just starting, as soon as it has reported."""
        return await poll(lambda: self._read.agents.find(agent.id), lambda now: not is_starting(now), START_SECONDS)

    async def _current(self, agent: Agent) -> Agent:
        return await asyncio.to_thread(self._read.agents.find, agent.id)

    async def _record_failure(self, agent: Agent, error: HeadspaceError) -> None:
        await self._recorder.record(TypingFailed(reason=error.message), agent.id)


async def poll(
    query: Callable[[], Answer], is_done: Callable[[Answer], bool], seconds: float = CONFIRM_SECONDS
) -> Answer:
    """Repeat a query until its answer is final or time is up; the last answer."""
    deadline = time.monotonic() + seconds
    while True:
        answer = await asyncio.to_thread(query)
        if is_done(answer) or time.monotonic() > deadline:
            return answer
        await asyncio.sleep(POLL_SECONDS)


def has_stopped(before: Agent, after: Agent) -> bool:
    """Whether the agent is idle, or the dialog that it showed is closed (the turn may continue after a sub-agent's)."""
    open_now = {wait.id for wait in after.waits}
    is_closed = bool(before.waits) and not any(wait.id in open_now for wait in before.waits)
    return is_closed or after.state not in (AgentState.WORKING, AgentState.WAITING)
