"""Tells conversations what came of their workers: writes it down, wakes them once, and has their prompts answered.

A worker that is back is written down with its conversation (`WorkerEnded`). The conversation's pane gets one line, and
the hook of that prompt, or of whichever comes first, brings the summary (`kernel/mission/tell`).

Rules
- A line is typed only to a client that is idle, in a pane that is its own and in which nobody is typing; until then it
  waits. Without a pane nothing is typed, and the next prompt brings the summary.
- That it is woken is written down before a key is pressed (`ConversationWoken`): after a crash it is not typed again.
- The daemon of the conversation's machine does it; what happened while it was down is found at its start.
"""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress

import msgspec
import structlog

from claude_headspace.background import Loop
from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.acts import ConversationWoken, TypingFailed, WorkerEnded
from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.evolve.missions import unreported_workers
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.mission.messages import summary, wake_up
from claude_headspace.kernel.mission.notices import wanted
from claude_headspace.outputs.keyboard import Keyboard
from claude_headspace.ports import Clock, Reader, Recorder, StreamMessage

log = structlog.get_logger(__name__)

HEARD = "mission_changed"
LOOKED_BACK: Micros = 24 * 3600 * SECOND
"""How long ago a worker may have ended of which its conversation was not told."""
SETTLED: Micros = SECOND
"""So long a conversation must have been idle: what follows a turn by itself has begun by then."""
LOOK_AGAIN_SECONDS = 2.0


class Conversations(Loop):
    """Beside the hooks of the agents of this machine."""

    def __init__(
        self,
        reader: Reader,
        recorder: Recorder,
        keyboard: Keyboard,
        clock: Clock,
        host: str,
        changed: Callable[[], None] = lambda: None,
        pause: float = LOOK_AGAIN_SECONDS,
    ) -> None:
        super().__init__()
        self._reader = reader
        self._recorder = recorder
        self._keyboard = keyboard
        self._clock = clock
        self._host = host
        self._changed = changed
        self._pause = pause
        self._wanted: dict[str, tuple[HookKind, ...]] = {}
        self._back: list[str] = []
        self._asleep: set[str] = set()
        self._stirred = asyncio.Event()

    def health(self) -> tuple[bool, str | None, str]:
        """Whether it goes on, what fails, and how many agents are to be told something."""
        return self.running, self.failure, f"{len(self._wanted)} agents to be told something"

    # --- what is heard ---

    def asked(self) -> frozenset[HookKind]:
        """The events that wait for an answer: none while nobody is to be told anything."""
        return frozenset(kind for kinds in self._wanted.values() for kind in kinds)

    def met(self, agent: Agent) -> None:
        """This is what an agent is now."""
        kinds = wanted(agent)
        if agent.host != self._host or not (kinds or agent.id in self._wanted):
            return
        before = self.asked()
        self._wanted |= {agent.id: kinds}
        if not kinds:
            del self._wanted[agent.id]
        if self.asked() != before:
            self._changed()
        if unreported_workers(agent):
            self._asleep.add(agent.id)
            self._stirred.set()

    def hear(self, messages: Iterable[StreamMessage]) -> None:
        """Something was announced: perhaps that a worker is back."""
        for message in messages:
            if message.type == HEARD and _is_over(message):
                self._back.append(message.agent_id)
                self._stirred.set()

    def recall(self) -> None:
        """Know who is to be told something, also of what happened meanwhile."""
        for agent in self._reader.agents(ended_after=self._clock() - LOOKED_BACK):
            self.met(agent)
            if agent.mission is not None and agent.mission.ended_at is not None:
                self._back.append(agent.id)
        self._stirred.set()

    # --- what is done ---

    async def _run(self) -> None:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._pause if self._back or self._asleep else None):
                    await self._stirred.wait()
            self._stirred.clear()
            try:
                await self._look()
                self.failure = None
            except Exception as error:  # the journal is away, or a mistake of ours: it is tried again
                log.warning("conversations_failed", exc_info=True)
                self.failure = str(error)
                await asyncio.sleep(self._pause)

    async def _look(self) -> None:
        while self._back:
            await self._tell_of(self._back[0])
            self._back.pop(0)
        for agent_id in tuple(self._asleep):
            if await self._is_settled(agent_id):
                self._asleep.discard(agent_id)

    async def _tell_of(self, worker_id: str) -> None:
        """Write it down with the conversation that asked for it, once."""
        worker = await asyncio.to_thread(self._reader.agent, worker_id)
        mission = worker.mission if worker else None
        if worker is None or mission is None or mission.ended_at is None or mission.conversation_id is None:
            return
        conversation = await asyncio.to_thread(self._reader.agent, mission.conversation_id)
        if conversation is None or conversation.host != self._host:
            return
        act = WorkerEnded(mission_id=mission.id, goal=mission.goal, text=summary(worker, mission))
        await self._recorder.record(act, conversation.id, delivery_id=f"worker-{mission.id}-{worker.id}")

    async def _is_settled(self, agent_id: str) -> bool:
        """Wake an agent if it can be woken now; whether there is nothing more to wait for."""
        agent = await asyncio.to_thread(self._reader.agent, agent_id)
        if agent is None or not unreported_workers(agent) or agent.ended_at is not None or not agent.tmux_pane:
            return True
        if not self._is_resting(agent):
            return False
        async with self._keyboard.turn(agent):
            try:
                if await self._keyboard.is_in_use(agent):
                    return False
            except HeadspaceError:
                return True  # the pane is not its own any more
            return await self._wake(agent.id)

    def _is_resting(self, agent: Agent) -> bool:
        now = self._clock()
        is_idle = agent.state is AgentState.IDLE and not agent.continues_by_itself(now)
        return is_idle and now - agent.state_since >= SETTLED

    async def _wake(self, agent_id: str) -> bool:
        """It may have begun a turn while somebody else typed."""
        agent = await asyncio.to_thread(self._reader.agent, agent_id)
        news = unreported_workers(agent) if agent is not None else ()
        if agent is None or not news:
            return True
        if not self._is_resting(agent):
            return False
        text = wake_up(news)
        act = ConversationWoken(text=text, mission_id=news[-1].mission_id)
        outcome = await self._recorder.record(act, agent.id, delivery_id=f"wake-{agent.id}-{news[-1].mission_id}")
        if outcome.duplicate:
            return True
        try:
            await self._keyboard.type(agent, text)
        except HeadspaceError as error:
            log.warning("conversation_not_woken", agent=agent.name, reason=error.message)
            failed = f"typing-{agent.id}-{news[-1].mission_id}"
            await self._recorder.record(TypingFailed(reason=error.message), agent.id, delivery_id=failed)
        return True


class _Told(msgspec.Struct):
    mission: "_Mission"


class _Mission(msgspec.Struct):
    ended_at: str | None = None


def _is_over(message: StreamMessage) -> bool:
    return msgspec.json.decode(message.data, type=_Told).mission.ended_at is not None
