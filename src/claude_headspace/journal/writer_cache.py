"""What the writer keeps in memory: recently used agents, owners of identities, and active efforts.

It is updated only from committed batches and from queries, so it is never ahead of the database. On a shared database
it may be behind: there an agent is kept with the version of its row, which is compared with the current version. It is
bounded: the least recently written entries are dropped.
"""

from collections.abc import Iterable, Mapping

from claude_headspace.journal import schema
from claude_headspace.journal.efforts import ActiveEffortCache
from claude_headspace.journal.rows import Projection
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import Identity

MAX_AGENTS = 2_000
MAX_IDENTITIES = 10_000


class WriterCache:
    """A bounded cache that belongs to one writer."""

    def __init__(self) -> None:
        self.agents: dict[str, Agent] = {}
        self.versions: dict[str, str] = {}
        """The row versions of the agents."""
        self.owner_ids: dict[tuple[str, str], str] = {}
        """The agent that owns an identity; empty if it is known that no agent does."""
        self.efforts = ActiveEffortCache()

    def add_owners(self, queried: Iterable[Identity], owners: Mapping[Identity, str]) -> None:
        """Add the result of a query, including identities without an owner.

        Without that, a daemon that starts among running clients would look each of them up again with every event.
        """
        for identity in queried:
            self.owner_ids[identity.kind, identity.key] = owners.get(identity, "")

    def update(self, projection: Projection, version: str) -> None:
        """Add what was committed; `version` is the new version of its rows."""
        for agent_id, agent in projection.agents.items():
            self.agents.pop(agent_id, None)
            self.agents[agent_id] = agent
            self.versions[agent_id] = version
        for key, row in projection.tables[schema.identities].items():
            self.owner_ids.pop(key, None)
            self.owner_ids[key] = row["agent_id"]
        if projection.efforts:
            self.efforts.update(projection.efforts.values())
        while len(self.agents) > MAX_AGENTS:
            oldest = next(iter(self.agents))  # a dict keeps the order of insertion
            del self.agents[oldest], self.versions[oldest]
        while len(self.owner_ids) > MAX_IDENTITIES:
            del self.owner_ids[next(iter(self.owner_ids))]

    def clear(self) -> None:
        """Drop everything, after the projections were rebuilt or pruned."""
        self.agents.clear()
        self.versions.clear()
        self.owner_ids.clear()
        self.efforts.clear()
