"""What the writer remembers of the database: the agents it worked on lately and who answers to which identity.

It learns only from committed batches, so it is never ahead of the database. It is bounded: the longest unused are
forgotten.
"""

from claude_headspace.journal import schema
from claude_headspace.journal.efforts import KnownEfforts
from claude_headspace.journal.rows import Projection
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import Identity

AGENTS = 2_000
IDENTITIES = 10_000


class Cache:
    """A bounded memory; the only writer owns it."""

    def __init__(self) -> None:
        self._agents: dict[str, Agent] = {}
        self._owners: dict[tuple[str, str], str] = {}
        self.efforts = KnownEfforts()

    def agent(self, agent_id: str) -> Agent | None:
        """An agent, if it is remembered."""
        return self._agents.get(agent_id)

    def owner(self, identity: Identity) -> str | None:
        """Who answers to an identity, if that is remembered."""
        return self._owners.get((identity.kind, identity.key))

    def learn(self, projection: Projection) -> None:
        """Take in what was committed."""
        for agent_id, agent in projection.agents.items():
            self._agents.pop(agent_id, None)
            self._agents[agent_id] = agent
        for key, row in projection.tables[schema.identities].items():
            self._owners.pop(key, None)
            self._owners[key] = row["agent_id"]
        self.efforts.learn(projection.efforts.values())
        _trim(self._agents, AGENTS)
        _trim(self._owners, IDENTITIES)

    def forget(self) -> None:
        """Know nothing: the projections were made anew."""
        self._agents.clear()
        self._owners.clear()
        self.efforts.forget()


def _trim(memory: dict[object, object] | dict[str, Agent] | dict[tuple[str, str], str], limit: int) -> None:
    """Forget the oldest; a dict keeps its order of insertion."""
    for key in list(memory)[: max(0, len(memory) - limit)]:
        del memory[key]  # type: ignore[arg-type]  # its own key
