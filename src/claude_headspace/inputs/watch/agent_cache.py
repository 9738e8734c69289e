"""Who is there, as last heard: what inputs must know of the agents to tell news from what everybody knows.

Fed with every agent that the engine hands back, so it is never older than the last answer. It is a memory, not the
truth: whoever asks it decides only whether something is worth telling.
"""

from collections.abc import Iterable, Iterator

from claude_headspace.kernel.agent import Agent

MAX_SESSIONS = 10_000
"""Sessions. An agent has a new one with every `/clear`."""


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
        """This is what the journal has of an agent: nothing new of one that was met."""
        if agent.id not in self._agents:
            self.update(agent)

    def update(self, agent: Agent) -> None:
        """This is what the agent is now."""
        if agent.host != self._host:
            return
        if agent.session is not None and agent.session.client_id not in self._sessions:
            self._evict()
            self._sessions[agent.session.client_id] = agent.id
        self._agents[agent.id] = agent

    def find_by_session(self, session_id: str) -> Agent | None:
        """The agent that has, or had, this session."""
        return self._agents.get(self._sessions.get(session_id, ""))

    def with_client(self) -> Iterator[Agent]:
        """Those whose client's process is known."""
        return (agent for agent in self._agents.values() if agent.pid is not None and agent.ended_at is None)

    def with_wrapper(self) -> Iterator[Agent]:
        """Those that somebody started and stays with."""
        return (agent for agent in self._agents.values() if agent.wrapper_pid is not None and agent.ended_at is None)

    def transcript_paths(self) -> Iterator[str]:
        """The files that living agents write."""
        for agent in self._agents.values():
            if agent.ended_at is None and agent.session is not None and agent.session.transcript_path:
                yield agent.session.transcript_path

    def _evict(self) -> None:
        """The sessions of those who are gone are forgotten first; a dict keeps its order."""
        if len(self._sessions) < self._max_sessions:
            return
        gone = {agent.id for agent in self._agents.values() if agent.ended_at is not None}
        self._sessions = {session: owner for session, owner in self._sessions.items() if owner not in gone}
        while len(self._sessions) >= self._max_sessions:
            del self._sessions[next(iter(self._sessions))]
        kept = set(self._sessions.values())
        self._agents = {agent_id: agent for agent_id, agent in self._agents.items() if agent_id in kept}
