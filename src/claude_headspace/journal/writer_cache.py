"""What the writer remembers of the database: the agents it worked on lately and who answers to which identity.

It learns only what is committed, from batches and from look-ups, so it is never ahead of the database. Where others
write too it may be behind: there an agent is remembered with the version of its row, and asked for by the version that
the database has now. It is bounded: the longest unused are forgotten.
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

AGENTS = 2_000
IDENTITIES = 10_000


class WriterCache:
    """A bounded memory; the only writer owns it."""

    def __init__(self) -> None:
        self._agents: dict[str, Agent] = {}
        self._versions: dict[str, str] = {}
        self._owners: dict[tuple[str, str], str] = {}
        self.efforts = ActiveEffortCache()

    def agent(self, agent_id: str) -> Agent | None:
        """An agent, if it is remembered."""
        return self._agents.get(agent_id)

    def version(self, agent_id: str) -> str:
        """The version of its row that an agent is remembered by; empty if it is not."""
        return self._versions.get(agent_id, "")

    def owner_id(self, identity: Identity) -> str | None:
        """Who answers to an identity, if that is remembered; empty if nobody does."""
        return self._owners.get((identity.kind, identity.key))

    def add_owners(self, looked_up: Iterable[Identity], owners: Mapping[Identity, str]) -> None:
        """Take in what a look-up found. Nobody else writes: who was not found is nobody until a batch says otherwise.

        A daemon that starts among running clients looks each of them up once.
        """
        for identity in looked_up:
            self._owners[identity.kind, identity.key] = owners.get(identity, "")

    def update(self, projection: Projection, version: str) -> None:
        """Take in what was committed, under the version that its rows have now."""
        for agent_id, agent in projection.agents.items():
            self._agents.pop(agent_id, None)
            self._agents[agent_id] = agent
            self._versions[agent_id] = version
        for key, row in projection.tables[schema.identities].items():
            self._owners.pop(key, None)
            self._owners[key] = row["agent_id"]
        self.efforts.update(projection.efforts.values())
        for forgotten in _trim(self._agents, AGENTS):
            del self._versions[forgotten]
        _trim(self._owners, IDENTITIES)

    def clear(self) -> None:
        """Know nothing: the projections were made anew."""
        self._agents.clear()
        self._versions.clear()
        self._owners.clear()
        self.efforts.clear()


def _trim(memory: dict[Key, Value], limit: int) -> list[Key]:
    """Forget the oldest, and tell which; a dict keeps its order of insertion."""
    oldest = list(islice(memory, max(0, len(memory) - limit)))
    for key in oldest:
        del memory[key]
    return oldest
