"""Mission reports: the result of a mission is sent to the conversation that started it.

When an agent finishes its mission, the result is recorded with the conversation (`WorkerEnded`). One line is typed into
the conversation's pane, and the hook of that prompt, or of any earlier one, delivers the summary
(`kernel/mission/notices.py`).

Rules
- The line is typed only if the client is idle, the pane is its own, nobody is typing in it, and its input box is empty.
  Until then it waits. Without a pane nothing is typed, and the next prompt delivers the summary.
- The line is recorded before it is typed (`ConversationPrompted`), so it is not typed again after a crash.
- The daemon of the conversation's machine does this. Missions that ended while it was down are found at its start.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress

import msgspec
import structlog

from claude_headspace.background import Loop
from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.acts import ConversationPrompted, TypingFailed, WorkerEnded
from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.evolve.missions import unreported_workers
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.mission.messages import summary, wake_up
from claude_headspace.kernel.mission.notices import hooks_with_notice
from claude_headspace.kernel.text import count
from claude_headspace.outputs.pane_input import PaneInput
from claude_headspace.ports import Clock, ExpectHooks, Reader, Recorder, StreamMessage

log = structlog.get_logger(__name__)

MESSAGE_TYPE = "mission_changed"
MAX_AGE: Micros = 24 * 3600 * SECOND
"""How long ago an agent may have ended whose conversation was not informed."""
MIN_IDLE: Micros = SECOND
"""How long a conversation must have been idle: automatic work after a turn has started by then."""
RETRY_SECONDS = 2.0


class MissionReports(Loop):
    """Informs the conversations of this machine."""

    def __init__(
        self,
        reader: Reader,
        recorder: Recorder,
        pane_input: PaneInput,
        clock: Clock,
        host: str,
        expect: ExpectHooks = lambda _hooks: None,
        prefix: str = "CLAUDE OS SYS",
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        super().__init__()
        self._reader = reader
        self._recorder = recorder
        self._pane_input = pane_input
        self._clock = clock
        self._host = host
        self._expect = expect
        self._prefix = prefix
        self._retry_seconds = retry_seconds
        self._hooks: dict[str, tuple[HookKind, ...]] = {}
        """By agent: the hooks that deliver something to it."""
        self._finished: list[str] = []
        """Agents whose mission ended, and whose conversation is not informed yet."""
        self._uninformed: set[str] = set()
        """Conversations to which a line is to be typed."""
        self._changed = asyncio.Event()

    def health(self) -> tuple[bool, str | None, str]:
        """Whether it runs, why it fails, and how many agents wait for a notice."""
        return self.running, self.failure, f"{count(len(self._hooks), 'agent')} with undelivered results"

    # --- changes ---

    def update_agent(self, agent: Agent) -> None:
        """An agent changed. No-op for agents of other machines."""
        hooks = hooks_with_notice(agent) if agent.worker_reports or agent.mission else ()
        if agent.host != self._host or not (hooks or agent.id in self._hooks):
            return
        self._hooks |= {agent.id: hooks}
        if not hooks:
            del self._hooks[agent.id]
        self._expect(frozenset(hook for hooks in self._hooks.values() for hook in hooks))
        if unreported_workers(agent):
            self._uninformed.add(agent.id)
            self._changed.set()

    def receive(self, messages: Iterable[StreamMessage]) -> None:
        """Stream messages: perhaps a mission ended."""
        for message in messages:
            if message.type == MESSAGE_TYPE and _is_ended(message):
                self._finished.append(message.agent_id)
                self._changed.set()

    def load(self) -> None:
        """Find what is to be done, at the start."""
        for agent in self._reader.agents(ended_after=self._clock() - MAX_AGE):
            self.update_agent(agent)
            if agent.mission is not None and agent.mission.ended_at is not None:
                self._finished.append(agent.id)
        self._changed.set()

    # --- work ---

    async def _run(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._retry_seconds if self._finished or self._uninformed else None):
                    await self._changed.wait()
            self._changed.clear()
            try:
                await self._work()
                self.failure = None
            except Exception as error:  # the journal is unavailable, or a bug: it is tried again
                log.warning("mission_report_failed", exc_info=True)
                self.failure = str(error)
                await asyncio.sleep(self._retry_seconds)

    async def _work(self) -> None:
        while self._finished:
            await self._record_result(self._finished[0])
            self._finished.pop(0)
        for agent_id in tuple(self._uninformed):
            if await self._is_done(agent_id):
                self._uninformed.discard(agent_id)

    async def _record_result(self, worker_id: str) -> None:
        """Record the result of a mission with its conversation, once."""
        worker = await asyncio.to_thread(self._reader.agent, worker_id)
        mission = worker.mission if worker else None
        if worker is None or mission is None or mission.ended_at is None or mission.conversation_id is None:
            return
        conversation = await asyncio.to_thread(self._reader.agent, mission.conversation_id)
        if conversation is None or conversation.host != self._host:
            return
        act = WorkerEnded(mission_id=mission.id, goal=mission.goal, text=summary(worker, mission))
        await self._recorder.record(act, conversation.id, delivery_id=f"worker-{mission.id}-{worker.id}")

    async def _is_done(self, agent_id: str) -> bool:
        """Type the line if that is possible now. Returns whether there is nothing more to wait for."""
        agent = await asyncio.to_thread(self._reader.agent, agent_id)
        if agent is None or not unreported_workers(agent) or agent.ended_at is not None or not agent.tmux_pane:
            return True
        if not self._is_idle(agent):
            return False
        async with self._pane_input.lock(agent):
            try:
                if await self._pane_input.is_in_use(agent):
                    return False
            except HeadspaceError:
                return True  # the pane no longer belongs to the agent
            return await self._type(agent.id)

    def _is_idle(self, agent: Agent) -> bool:
        now = self._clock()
        is_idle = agent.state is AgentState.IDLE and not agent.continues_by_itself(now)
        return is_idle and now - agent.state_since >= MIN_IDLE

    async def _type(self, agent_id: str) -> bool:
        """Type the line, unless the agent started a turn while the pane was locked by other input."""
        agent = await asyncio.to_thread(self._reader.agent, agent_id)
        reports = unreported_workers(agent) if agent is not None else ()
        if agent is None or not reports:
            return True
        if not self._is_idle(agent):
            return False
        text, last = wake_up(self._prefix, reports), reports[-1].mission_id
        act = ConversationPrompted(text=text, mission_id=last)
        if (await self._recorder.record(act, agent.id, delivery_id=f"wake-{agent.id}-{last}")).duplicate:
            return True
        try:
            await self._pane_input.type_text(agent, text)
        except HeadspaceError as error:
            log.warning("mission_report_not_typed", agent=agent.name, reason=error.message)
            failed = TypingFailed(reason=error.message)
            await self._recorder.record(failed, agent.id, delivery_id=f"typing-{agent.id}-{last}")
        return True


class _Changed(msgspec.Struct):
    mission: "_Mission"


class _Mission(msgspec.Struct):
    ended_at: str | None = None


def _is_ended(message: StreamMessage) -> bool:
    return msgspec.json.decode(message.data, type=_Changed).mission.ended_at is not None
