"""The prompt queue: sends pending prompts when their agents are idle (`kernel/pending_prompts.py`).

Rules
- The daemon of the agent's machine sends, one prompt per agent at a time, oldest first. The next one waits until the
  agent is idle again.
- Idle means: no turn, no question, no dialog, no error, and no turn that the client starts by itself.
- While the prompt cannot be typed (a draft, a person who types), it waits, and the reason is recorded.
- A prompt after an error is sent while the agent is stopped by it, when its time has come. If the agent continues
  without it, it is cancelled.
- If the agent ends, its prompts are not sent: a resumed conversation must not begin with an old prompt.
- Without pending prompts nothing runs. While an agent works, its next change is awaited.
- A prompt whose result was not recorded, because the daemon stopped, is not typed again. The log shows whether the
  client received it.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Protocol

import msgspec
import structlog

from claude_headspace.background import Loop
from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.acts import PromptCancelled, PromptDelayed, PromptFinished, PromptScheduled
from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.pending_prompts import PendingPrompt, schedule_delivery, send_delivery
from claude_headspace.kernel.text import count
from claude_headspace.outputs.pane_input import is_starting
from claude_headspace.ports import Clock, Reader, Recorder, StreamMessage

log = structlog.get_logger(__name__)

MESSAGE_TYPE = "agent_updated"
MIN_IDLE: Micros = SECOND
"""How long an agent must have been idle: automatic work after a turn has started by then."""
START_DELAY: Micros = 3 * SECOND
"""How long to wait after the start: what happened while no daemon ran is known by then."""
RETRY_SECONDS = 2.0
MAX_RETRY_SECONDS = 10.0
"""The longest pause between two attempts. It doubles while a prompt cannot be typed."""
LONG_WAIT = 10
"""A wait for the time of a prompt ends after this many retry pauses at the latest: the machine may have slept."""
MAX_AGE: Micros = 24 * 3600 * SECOND
"""How long ago an agent may have ended whose prompts are not given up yet."""

SELF = "headspace"
"""Who cancels a prompt that is not needed any more."""
ENDED = "The agent ended before it was sent."
UNCONFIRMED = "It was typed, but the client did not confirm it."
INTERRUPTED = "The daemon stopped while it was typed, and the client did not report it."
NO_TEXT = "Its text is not in the log any more."

OBSTACLES = {
    "draft": "There is a draft in its input box.",
    "no_input_box": "Its input box is not visible.",
    "in_use": "Someone is typing in its terminal.",
}
"""Why a prompt waits, by the code of the refusal. For other codes the message of the refusal is recorded."""
BUSY = ("not_idle", "not_ready", "at_dialog")
"""Refusals because the agent is not idle any more. They are visible in its state."""


class PromptSender(Protocol):
    """Types prompts, and finds out whether they arrived."""

    async def send(self, agent: Agent, prompt: PendingPrompt, text: str) -> bool | None:
        """Type a prompt. Returns whether the client confirmed it; None if it was cancelled. Raises `Refused`."""

    async def was_received(self, agent: Agent, text: str, after: int) -> bool:
        """Whether the client reported a prompt after an event number. Waits for late reports."""


class PromptQueue(Loop):
    """Sends the pending prompts of this machine's agents."""

    def __init__(
        self,
        reader: Reader,
        recorder: Recorder,
        clock: Clock,
        host: str,
        sender: PromptSender,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        super().__init__()
        self._reader = reader
        self._recorder = recorder
        self._clock = clock
        self._host = host
        self._sender = sender
        self._retry_seconds = retry_seconds
        self._agents: dict[str, Agent] = {}
        """Agents of this machine with pending prompts that are not given up."""
        self._unread: set[str] = set()
        """Agents that have to be read again."""
        self._sending: dict[str, asyncio.Task[None]] = {}
        self._pauses: dict[str, tuple[Micros, float]] = {}
        """By agent whose prompt could not be typed: until when to wait, and how long the pause is."""
        self._ready_at: Micros = 0
        self._changed = asyncio.Event()

    def start(self) -> None:
        """Start, and let other sources report first."""
        self._ready_at = self._clock() + START_DELAY
        super().start()

    def health(self) -> tuple[bool, str | None, str]:
        """Whether it runs, why it fails, and how many prompts are pending."""
        pending = sum(len(open_prompts(agent)) for agent in self._agents.values())
        return self.running, self.failure, f"{count(pending, 'prompt')} pending"

    # --- changes ---

    def update_agent(self, agent: Agent) -> None:
        """An agent changed. No-op for agents of other machines and without pending prompts."""
        if agent.host == self._host and open_prompts(agent):
            self._agents[agent.id] = agent
            self._changed.set()
        else:
            self._agents.pop(agent.id, None)
            self._pauses.pop(agent.id, None)

    def receive(self, messages: Iterable[StreamMessage]) -> None:
        """Stream messages: perhaps the daemon of another machine scheduled a prompt."""
        for message in messages:
            if message.type == MESSAGE_TYPE and b'"pending_prompts"' in message.data:
                self._unread.add(message.agent_id)
                self._changed.set()

    def load(self) -> None:
        """Find the pending prompts, at the start."""
        for agent in self._reader.agents(ended_after=self._clock() - MAX_AGE):
            self.update_agent(agent)

    # --- work ---

    async def _run(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds_to_wait()):
                    await self._changed.wait()
            self._changed.clear()
            await self._read_agents()
            for agent in tuple(self._agents.values()):
                if self._is_due(agent) and agent.id not in self._sending:
                    self._start(agent.id)

    async def _read_agents(self) -> None:
        while self._unread:
            agent = await asyncio.to_thread(self._reader.agent, self._unread.pop())
            if agent is not None:
                self.update_agent(agent)

    def _seconds_to_wait(self) -> float | None:
        """How long to wait for a change; None: as long as it takes."""
        now = self._clock()
        if any(_needs_work(agent, now) for agent in self._agents.values()):
            return self._retry_seconds
        times = [next_prompt(agent).not_before for agent in self._agents.values()]
        waits = [(each - now) / SECOND for each in times if each > now]
        return min([*waits, self._retry_seconds * LONG_WAIT]) if waits else None

    def _is_due(self, agent: Agent) -> bool:
        now = self._clock()
        return _needs_work(agent, now) and now >= max(self._ready_at, self._pauses.get(agent.id, (0, 0.0))[0])

    def _start(self, agent_id: str) -> None:
        task = asyncio.create_task(self._advance(agent_id), name=f"pending prompt of {agent_id}")
        self._sending[agent_id] = task
        task.add_done_callback(lambda _task: self._sending.pop(agent_id, None))

    async def _advance(self, agent_id: str) -> None:
        """Do the next thing about the first pending prompt of an agent."""
        try:
            agent = await asyncio.to_thread(self._reader.agent, agent_id)
            if agent is not None and open_prompts(agent):
                await self._handle(agent, next_prompt(agent))
            self.failure = None
        except Exception as error:  # the journal is unavailable, or a bug: it is tried again
            log.warning("pending_prompt_failed", exc_info=True)
            self.failure = str(error)

    async def _handle(self, agent: Agent, prompt: PendingPrompt) -> None:
        text = await asyncio.to_thread(self._text, prompt.id)
        if prompt.typed_at:
            await self._settle(agent, prompt, text)
        elif agent.ended_at is not None:
            await self._finish(agent, prompt, ENDED)
        elif not text:
            await self._finish(agent, prompt, NO_TEXT)
        elif prompt.after_error and agent.state is not AgentState.ERROR:
            await self._cancel(agent, prompt)
        elif _may_be_sent(agent, prompt, self._clock()) and self._has_settled(agent):
            await self._send(agent, prompt, text)

    def _has_settled(self, agent: Agent) -> bool:
        now = self._clock()
        return now - agent.state_since >= MIN_IDLE and not agent.continues_by_itself(now)

    async def _send(self, agent: Agent, prompt: PendingPrompt, text: str) -> None:
        try:
            confirmed = await self._sender.send(agent, prompt, text)
        except HeadspaceError as error:
            await self._refused(agent, prompt, error)
            return
        self._pauses.pop(agent.id, None)
        if confirmed is not None:
            await self._finish(agent, prompt, "" if confirmed else UNCONFIRMED)

    async def _refused(self, agent: Agent, prompt: PendingPrompt, error: HeadspaceError) -> None:
        """Record why it waits. If the typing had begun, it is given up: it is never typed twice."""
        self._pause(agent.id)
        now = await asyncio.to_thread(self._reader.agent, agent.id)
        current = next((each for each in now.pending_prompts if each.id == prompt.id), None) if now else None
        reason = OBSTACLES.get(error.code, error.message)
        if current is not None and current.typed_at:
            await self._finish(agent, prompt, reason)
        elif current is not None and error.code not in BUSY and current.obstacle != reason:
            await self._recorder.record(PromptDelayed(prompt_id=prompt.id, reason=reason), agent.id)

    def _pause(self, agent_id: str) -> None:
        _, seconds = self._pauses.get(agent_id, (0, self._retry_seconds / 2))
        seconds = min(seconds * 2, MAX_RETRY_SECONDS)
        self._pauses[agent_id] = (self._clock() + round(seconds * SECOND), seconds)

    async def _settle(self, agent: Agent, prompt: PendingPrompt, text: str) -> None:
        """Find out what became of a prompt that an earlier daemon typed."""
        typed = await asyncio.to_thread(self._reader.event_by_delivery, send_delivery(prompt.id))
        received = typed is not None and await self._sender.was_received(agent, text, typed.seq)
        await self._finish(agent, prompt, "" if received else INTERRUPTED)

    async def _cancel(self, agent: Agent, prompt: PendingPrompt) -> None:
        """The agent continued without a prompt that should have continued its stopped turn."""
        act = PromptCancelled(prompt_id=prompt.id, by=SELF, via=SELF)
        await self._recorder.record(act, agent.id, delivery_id=send_delivery(prompt.id))

    async def _finish(self, agent: Agent, prompt: PendingPrompt, reason: str) -> None:
        await self._recorder.record(PromptFinished(prompt_id=prompt.id, reason=reason), agent.id)

    def _text(self, prompt_id: str) -> str:
        event = self._reader.event_by_delivery(schedule_delivery(prompt_id))
        return msgspec.json.decode(event.envelope.payload, type=PromptScheduled).text if event is not None else ""

    async def stop(self) -> None:
        """Stop. A prompt that is being typed is settled by the next daemon."""
        await super().stop()
        tasks = tuple(self._sending.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def open_prompts(agent: Agent) -> tuple[PendingPrompt, ...]:
    """The pending prompts that are not given up."""
    return tuple(each for each in agent.pending_prompts if not each.problem)


def next_prompt(agent: Agent) -> PendingPrompt:
    """The prompt of an agent that comes next: one that was typed, then one after an error, then the oldest."""
    prompts = open_prompts(agent)
    return next((each for each in prompts if each.typed_at), next((e for e in prompts if e.after_error), prompts[0]))


def _needs_work(agent: Agent, now: Micros) -> bool:
    """Whether something is to be done now, or soon without another change of the agent."""
    prompts = open_prompts(agent)
    if agent.ended_at is not None or any(each.typed_at for each in prompts):
        return True
    prompt = next_prompt(agent)
    return _may_be_sent(agent, prompt, now) or (prompt.after_error and agent.state is not AgentState.ERROR)


def _may_be_sent(agent: Agent, prompt: PendingPrompt, now: Micros) -> bool:
    """Whether the time of a prompt has come, and the agent is ready for it."""
    return now >= prompt.not_before and may_send(agent, after_error=prompt.after_error)


def may_send(agent: Agent, *, after_error: bool) -> bool:
    """Whether a pending prompt can be sent: the agent is idle, or still stopped by the error that it follows."""
    return is_at_rest(agent) or (after_error and agent.state is AgentState.ERROR)


def is_at_rest(agent: Agent) -> bool:
    """Whether the agent is idle, or its client waits for its first prompt without having reported."""
    awaits_first = agent.state is AgentState.STARTING and not is_starting(agent) and not agent.is_restarting
    return agent.ended_at is None and (agent.state is AgentState.IDLE or awaits_first)
