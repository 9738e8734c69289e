"""The agents as a batch sees them: as they are stored, or as earlier events of the same batch changed them."""

from collections.abc import Iterable
from itertools import islice

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import Found, Identity
from claude_headspace.kernel.effort.resolve import has_live_client
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.names import suggest_names
from claude_headspace.ports import Transaction

NAMES_PER_TRY = 8


class BatchAgents:
    """Agents and their identities, during one batch."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._agents: dict[str, Agent] = {}
        self._owners: dict[Identity, str] = {}

    def update(self, agent: Agent, claims: Iterable[Identity]) -> None:
        """An event of the batch changed an agent, and gave it these identities."""
        self._agents[agent.id] = agent
        for identity in claims:
            self._owners[identity] = agent.id

    def get(self, agent_id: str) -> Agent | None:
        """One agent by its id."""
        return self._agents.get(agent_id) or self._transaction.agents_by_id([agent_id]).get(agent_id)

    def is_working(self, agent_id: str) -> bool:
        """Whether an agent is there and has not ended."""
        agent = self.get(agent_id)
        return agent is not None and has_live_client(agent)

    def find(self, identities: list[Identity]) -> dict[Identity, Found]:
        """The agents that have these identities."""
        unknown = [identity for identity in identities if identity not in self._owners]
        found = self._transaction.agents_by_identity(unknown)
        for identity, stored in found.items():
            if stored.agent.id in self._agents:
                found[identity] = Found(self._agents[stored.agent.id], stored.in_memory)
        for identity in identities:
            if identity in self._owners:
                found[identity] = Found(self._agents[self._owners[identity]], True)
        return found

    def claimable(self, project_id: str, ended_since: Micros) -> list[Agent]:
        """The agents of a project that a new session may belong to, the most recently active first."""
        agents = {agent.id: agent for agent in self._transaction.claimable_agents(project_id, ended_since)}
        agents |= {agent.id: agent for agent in self._agents.values() if agent.project.id == project_id}
        return sorted(agents.values(), key=lambda agent: agent.last_active_at, reverse=True)

    def names_in_use(self, names: list[str]) -> set[str]:
        """Which of these names agents have that have not ended."""
        changed = {agent.name for agent in self._agents.values() if agent.ended_at is None}
        return self._transaction.names_in_use(names) | changed.intersection(names)

    def free_name(self, agent_id: str) -> str:
        """A name for a new agent."""
        choices = suggest_names(agent_id)
        while True:
            names = list(islice(choices, NAMES_PER_TRY))
            in_use = self.names_in_use(names)
            if free := next((name for name in names if name not in in_use), None):
                return free
