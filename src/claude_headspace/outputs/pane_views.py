"""Whether somebody came to the pane of an agent that waits: then it is `checked`, on every surface.

Rules
- Looked at is a pane that is on top in an attached session, whose terminal was touched (a key, a switch of windows)
  after the wait began. Who left the pane open and went away has not looked.
- tmux is asked only while an agent waits in one of its panes and nobody has looked: two questions a server, every
  two seconds. What came of it is an act like every other (`AgentSeen`).
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence

import structlog

from claude_headspace.background import Loop
from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.acts import AgentSeen
from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.outputs import tmux
from claude_headspace.ports import Recorder, StreamMessage

log = structlog.get_logger(__name__)

EVERY_SECONDS = 2.0

Touched = dict[str, int]
"""Panes on top, and when their terminal was last touched, in seconds."""


class Lookout(Loop):
    """Looks who is looked at."""

    def __init__(self, agents: Callable[[], Iterable[Agent]], recorder: Recorder) -> None:
        super().__init__()
        self._agents = agents
        self._recorder = recorder
        self._news = asyncio.Event()

    def ring(self, _messages: Sequence[StreamMessage] = ()) -> None:
        """Something changed."""
        self._news.set()

    async def _run(self) -> None:
        while True:
            self._news.clear()
            if not await self._tried():
                await self._news.wait()
            await asyncio.sleep(EVERY_SECONDS)

    async def _tried(self) -> bool:
        """Look; whatever fails is looked at again."""
        try:
            return await self._look()
        except Exception:
            log.warning("lookout_failed", exc_info=True)
            return True

    async def _look(self) -> bool:
        """Tell who was looked at; whether others still wait for it."""
        calling = [agent for agent in self._agents() if _calls(agent)]
        looked_at = await asyncio.to_thread(_looked_at, calling) if calling else []
        for agent in looked_at:
            await self._recorder.record(AgentSeen(), agent.id)
        return len(calling) > len(looked_at)


def _looked_at(agents: Sequence[Agent]) -> list[Agent]:
    servers = {agent.id: tmux.server_of(agent.pid, {}) for agent in agents}
    touched = {socket: _touched(socket) for socket in set(servers.values())}
    return [
        agent
        for agent in agents
        if touched[servers[agent.id]].get(agent.tmux_pane or "", 0) * SECOND > agent.state_since
    ]


def _calls(agent: Agent) -> bool:
    """Whether it waits in a pane, and nobody has looked."""
    return bool(agent.state is AgentState.WAITING and agent.is_unseen and agent.tmux_pane and agent.pid)


def _touched(socket: str) -> Touched:
    """The panes on top of a server's attached sessions."""
    try:
        clients = tmux.tmux(socket, "list-clients", "-F", "#{client_activity} #{client_session}")
        panes = tmux.tmux(socket, "list-panes", "-a", "-F", "#{pane_active}#{window_active} #{pane_id} #{session_name}")
    except HeadspaceError:
        return {}
    sessions: dict[str, int] = {}
    for line in clients:
        moment, _, session = line.partition(" ")
        sessions[session] = max(sessions.get(session, 0), int(moment) if moment.isdigit() else 0)
    on_top = [line.split(" ", 2) for line in panes if line.startswith("11 ")]
    return {pane: sessions[session] for _, pane, session in on_top if session in sessions}
