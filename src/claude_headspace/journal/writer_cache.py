"""What the writer keeps in memory: recently used agents, owners of identities, and active efforts.

It is updated only from committed batches and from queries, so it is never ahead of the database. On a shared database
it may be behind: there an agent is kept with the version of its row, which is compared with the current version. It is
bounded: the least recently written entries are dropped.
"""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TypeVar

from claude_headspace.journal import schema
from claude_headspace.journal.efforts import ActiveEffortCache
from claude_headspace.journal.rows import Projection
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import Identity

Key = TypeVar("Key")
Value = TypeVar("Value")

MAX_AGENTS = 2_000
MAX_IDENTITIES = 10_000


class WriterCache:
    """A bounded cache that belongs to one writer."""

    def __init__(self) -> None:
        self._agents: dict[str, Agent] = {}
        self._versions: dict[str, str] = {}
        self._owner_ids: dict[tuple[str, str], str] = {}
        self.efforts = ActiveEffortCache()

    def agent(self, agent_id: str) -> Agent | None:
        """An agent, if cached."""
        return self._agents.get(agent_id)

    def version(self, agent_id: str) -> str:
        """The row version of a cached agent; empty if it is not cached."""
        return self._versions.get(agent_id, "")

    def owner_id(self, identity: Identity) -> str | None:
        """The agent that owns an identity: None if unknown, empty if it is known that no agent does."""
        return self._owner_ids.get((identity.kind, identity.key))

    def add_owners(self, queried: Iterable[Identity], owners: Mapping[Identity, str]) -> None:
        """Add the result of a query, including identities without an owner.

        Without that, a daemon that starts among running clients would look each of them up again with every event.
        """
        for identity in queried:
            self._owner_ids[identity.kind, identity.key] = owners.get(identity, "")

    def update(self, projection: Projection, version: str) -> None:
        """Add what was committed; `version` is the new version of its rows."""
        for agent_id, agent in projection.agents.items():
            self._agents.pop(agent_id, None)
            self._agents[agent_id] = agent
            self._versions[agent_id] = version
        for key, row in projection.tables[schema.identities].items():
            self._owner_ids.pop(key, None)
            self._owner_ids[key] = row["agent_id"]
        self.efforts.update(projection.efforts.values())
        for dropped in _trim(self._agents, MAX_AGENTS):
            del self._versions[dropped]
        _trim(self._owner_ids, MAX_IDENTITIES)

    def clear(self) -> None:
        """Drop everything, after the projections were rebuilt or pruned."""
        self._agents.clear()
        self._versions.clear()
        self._owner_ids.clear()
        self.efforts.clear()


def _trim(entries: dict[Key, Value], limit: int) -> list[Key]:
    """Drop the oldest entries (a dict keeps the order of insertion); returns their keys."""
    oldest = list(islice(entries, max(0, len(entries) - limit)))
    for key in oldest:
        del entries[key]
    return oldest
