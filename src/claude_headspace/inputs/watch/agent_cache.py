"""The agents of this host as last committed, in memory.

Inputs use it to judge whether an observation is new. It is updated with every committed agent. It is a cache: nothing
but novelty and the list of processes to check may depend on it.
"""

from collections.abc import Iterable, Iterator

import msgspec

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Micros, Observations

MAX_SESSIONS = 10_000
"""An agent has a new session after every `/clear`."""


class AgentCache:
    """The agents of one host, by session and by process."""

    def __init__(self, host: str, agents: Iterable[Agent] = (), max_sessions: int = MAX_SESSIONS) -> None:
        self._host = host
        self._max_sessions = max_sessions
        self._agents: dict[str, Agent] = {}
        self._sessions: dict[str, str] = {}
        for agent in agents:
            self.add_if_missing(agent)

    def add_if_missing(self, agent: Agent) -> None:
        """Add an agent that was read from the journal. No-op if it is cached: the cached one is newer."""
        if agent.id not in self._agents:
            self.update(agent)

    def update(self, agent: Agent) -> None:
        """Store the latest version of an agent. No-op for agents of other hosts."""
        if agent.host != self._host:
            return
        if agent.session is not None and agent.session.client_id not in self._sessions:
            self._evict()
            self._sessions[agent.session.client_id] = agent.id
        self._agents[agent.id] = agent

    def find_by_session(self, session_id: str) -> Agent | None:
        """The agent that has, or had, this session."""
        return self._agents.get(self._sessions.get(session_id, ""))

    def session_of_client(self, pid: int) -> str | None:
        """The session of the running agent whose client is this process."""
        found = next((agent for agent in self.with_client() if agent.pid == pid), None)
        return found.session.client_id if found is not None and found.session is not None else None

    def with_client(self) -> Iterator[Agent]:
        """Running agents whose client process is known."""
        return (agent for agent in self._agents.values() if agent.pid is not None and agent.ended_at is None)

    def directories(self) -> Iterator[str]:
        """The directories in which clients run, and the roots of their projects."""
        for agent in self.with_client():
            yield from (each for each in (agent.cwd, agent.root) if each and each.startswith("/"))

    def with_wrapper(self) -> Iterator[Agent]:
        """Running agents that were started by a wrapper process (`headspace run`)."""
        return (agent for agent in self._agents.values() if agent.wrapper_pid is not None and agent.ended_at is None)

    def running(self) -> Iterator[Agent]:
        """The agents that have not ended."""
        return (agent for agent in self._agents.values() if agent.ended_at is None)

    def in_worktrees(self, ended_after: Micros) -> Iterator[Agent]:
        """Agents in a worktree that is not the main one of its repository: running, or ended after a time."""
        return (
            agent
            for agent in self._agents.values()
            if agent.worktree is not None and (agent.ended_at is None or agent.ended_at > ended_after)
        )

    def with_reported_end(self) -> Iterator[Agent]:
        """Agents with a reported end of a turn that waits for its confirmation."""
        return (agent for agent in self._agents.values() if agent.reported_end is not None)

    def expecting_dialogs(self) -> Iterator[Agent]:
        """Running agents with a call whose dialog has been announced and not seen."""
        return (agent for agent in self.running() if any(call.dialog is not None for call in agent.calls))

    def awaited(self, client: str) -> Iterator[Agent]:
        """Running agents that were registered by a wrapper, and whose client has not reported a session yet."""
        return (agent for agent in self.with_wrapper() if agent.client == client and agent.session is None)

    def add_wrapper(self, client: str, process: Observations) -> Observations:
        """The process of a client, with the id that its wrapper gave it if an awaited agent's wrapper started it."""
        found = (agent for agent in self.awaited(client) if agent.wrapper_pid in process.ancestor_pids)
        agent = next(found, None)
        return msgspec.structs.replace(process, headspace_id=agent.headspace_id) if agent is not None else process

    def transcript_paths(self, client: str) -> Iterator[str]:
        """The transcripts of a client's running agents."""
        for agent in self.running():
            if agent.client == client and agent.session is not None and agent.session.transcript_path:
                yield agent.session.transcript_path

    def _evict(self) -> None:
        """Make room for a session: remove those of ended agents, then the oldest."""
        if len(self._sessions) < self._max_sessions:
            return
        ended = {agent.id for agent in self._agents.values() if agent.ended_at is not None}
        self._sessions = {session: owner for session, owner in self._sessions.items() if owner not in ended}
        while len(self._sessions) >= self._max_sessions:
            del self._sessions[next(iter(self._sessions))]
        remaining = set(self._sessions.values())
        self._agents = {agent_id: agent for agent_id, agent in self._agents.items() if agent_id in remaining}
