"""Pane views: records that a person looked at the pane of a waiting agent. Every surface then shows the agent as seen.

Rules
- A pane is looked at if it is visible in an attached session whose terminal was used (a key, a switch of windows) after
  the wait started. A pane that was only left open is not looked at.
- tmux is queried only while an unseen agent waits in one of its panes: two commands per server, every two seconds.
- The result is recorded as an act (`AgentSeen`).
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
from claude_headspace.ports import Recorder

log = structlog.get_logger(__name__)

POLL_SECONDS = 2.0

PaneUses = dict[str, int]
"""Visible panes, and when their terminal was last used, in seconds."""


class PaneViewWatcher(Loop):
    """Finds the agents whose pane a person looked at."""

    def __init__(self, agents: Callable[[], Iterable[Agent]], recorder: Recorder) -> None:
        super().__init__()
        self._agents = agents
        self._recorder = recorder
        self.changed = asyncio.Event()
        """Set after a change of the board."""

    async def _run(self) -> None:
        while True:
            self.changed.clear()
            if not await self._try_record_seen():
                await self.changed.wait()
            await asyncio.sleep(POLL_SECONDS)

    async def _try_record_seen(self) -> bool:
        """Record the agents that were looked at. Returns whether to check again; true after a failure."""
        try:
            return await self._record_seen()
        except Exception:
            log.warning("pane_views_failed", exc_info=True)
            return True

    async def _record_seen(self) -> bool:
        """Record the agents that were looked at. Returns whether unseen agents remain."""
        unseen = [agent for agent in self._agents() if _is_unseen(agent)]
        seen = await asyncio.to_thread(_find_seen, unseen) if unseen else []
        for agent in seen:
            await self._recorder.record(AgentSeen(), agent.id)
        return len(unseen) > len(seen)


def _find_seen(agents: Sequence[Agent]) -> list[Agent]:
    servers = {agent.id: tmux.server_socket(agent.pid, {}) for agent in agents}
    uses = {socket: _pane_uses(socket) for socket in set(servers.values())}
    return [
        agent for agent in agents if uses[servers[agent.id]].get(agent.tmux_pane or "", 0) * SECOND > agent.state_since
    ]


def _is_unseen(agent: Agent) -> bool:
    """Whether the agent waits in a pane that nobody has looked at."""
    return bool(agent.state is AgentState.WAITING and agent.is_unseen and agent.tmux_pane and agent.pid)


def _pane_uses(socket: str) -> PaneUses:
    """Return the visible panes of a server's attached sessions."""
    try:
        clients = tmux.run_tmux(socket, "list-clients", "-F", "#{client_activity} #{client_session}")
        panes = tmux.run_tmux(
            socket, "list-panes", "-a", "-F", "#{pane_active}#{window_active} #{pane_id} #{session_name}"
        )
    except HeadspaceError:
        return {}
    sessions: dict[str, int] = {}
    for line in clients:
        activity, _, session = line.partition(" ")
        sessions[session] = max(sessions.get(session, 0), int(activity) if activity.isdigit() else 0)
    visible = [line.split(" ", 2) for line in panes if line.startswith("11 ")]
    return {pane: sessions[session] for _, pane, session in visible if session in sessions}
