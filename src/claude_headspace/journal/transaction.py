"""One batch of the writer: look up agents, append events, and write the changed projections.

Sequence numbers are taken last, from one counter row.

Frequent lookups use the writer's cache: recently written agents, owners of identities, and active efforts. The cache is
updated only from committed batches and from queries, so it is never ahead of the database. On a shared database it may
be behind: there an agent is cached with the version of its row, which is compared with the current version, and efforts
are not cached. The cache is bounded: the least recently written entries are dropped.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec
from msgspec.structs import asdict
from sqlalchemy import Connection, bindparam, select, update

from claude_headspace.journal import rows, schema, search
from claude_headspace.journal.reader import AGENT_BODIES, IS_ACTIVE, SEQUENCE_COUNTER
from claude_headspace.journal.rows import Row, RowChanges, insert_rows, replace_nul
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import Found, Identity, Strategy
from claude_headspace.kernel.effort.model import Effort, Task
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.search_documents import Document, event_documents
from claude_headspace.kernel.snapshot import Snapshot
from claude_headspace.ports import LockScope, Record, StoredDelivery, StreamMessage

CHUNK = 400
"""The maximum number of values in one `IN (…)`."""
MAX_AGENTS = 2_000
MAX_IDENTITIES = 10_000
"""How many agents and identities are cached."""

ADVANCE_COUNTER = (
    update(schema.counters)
    .where(schema.counters.c.name == SEQUENCE_COUNTER)
    .values(value=schema.counters.c.value + bindparam("count"))
    .returning(schema.counters.c.value)
)
"""Built once: building the statement took longer than running it."""

DELIVERIES = select(schema.events.c.delivery_id, schema.events.c.agent_id, schema.events.c.strategy).where(
    schema.events.c.delivery_id.in_(bindparam("ids", expanding=True))
)


class WriterCache:
    """A bounded cache that belongs to one writer."""

    def __init__(self) -> None:
        self.agents: dict[str, Agent] = {}
        self.roster: dict[str, Row] = {}
        self.versions: dict[str, str] = {}
        """The roster rows of the agents, and the versions of their rows in `agents`."""
        self.owner_ids: dict[tuple[str, str], str] = {}
        """The agent that owns an identity; empty if it is known that no agent does."""
        self.active_efforts: dict[str, Effort] | None = None
        """Loaded on first use. Only on a database that has one writer."""

    def add_owners(self, queried: Iterable[Identity], owners: Mapping[Identity, str]) -> None:
        """Add the result of a query, including identities without an owner.

        Without that, a daemon that starts among running clients would look each of them up again with every event.
        """
        for identity in queried:
            self.owner_ids[identity.kind, identity.key] = owners.get(identity, "")

    def update(self, row_changes: RowChanges, version: str) -> None:
        """Add what was committed; `version` is the new version of its rows."""
        for agent_id, agent in row_changes.agents.items():
            self.agents.pop(agent_id, None)
            self.agents[agent_id] = agent
            self.versions[agent_id] = version
        self.roster |= row_changes.tables[schema.roster]
        for key, row in row_changes.tables[schema.identities].items():
            self.owner_ids.pop(key, None)
            self.owner_ids[key] = row["agent_id"]
        if self.active_efforts is not None and row_changes.efforts:
            efforts = self.active_efforts | row_changes.efforts
            self.active_efforts = {effort.id: effort for effort in efforts.values() if effort.is_active}
        while len(self.agents) > MAX_AGENTS:
            oldest = next(iter(self.agents))  # a dict keeps the order of insertion
            del self.agents[oldest], self.versions[oldest]
            self.roster.pop(oldest, None)
        while len(self.owner_ids) > MAX_IDENTITIES:
            del self.owner_ids[next(iter(self.owner_ids))]

    def clear(self) -> None:
        """Drop everything, after the projections were rebuilt or pruned."""
        self.agents.clear()
        self.roster.clear()
        self.versions.clear()
        self.owner_ids.clear()
        self.active_efforts = None


class SqlTransaction:
    """One batch on a database that has no other writer, so there is nothing to lock."""

    is_shared = False

    def __init__(self, connection: Connection, cache: WriterCache) -> None:
        self.connection = connection
        self._cache = cache
        self._stored_roster: Mapping[str, Row] = cache.roster
        """Roster rows as they were before the batch, where that is known without a query."""
        self.row_changes = RowChanges()
        self.version = ""
        """The version of the written rows, on a shared database."""
        self.is_without_efforts = cache.active_efforts == {}

    def lock(self, _scope: LockScope) -> None: ...

    def lock_exclusively(self) -> None:
        """Wait until no other batch runs, and let none start until this one ends."""

    def find_deliveries(self, delivery_ids: Collection[str]) -> dict[str, StoredDelivery]:
        stored_as = {replace_nul(each): each for each in delivery_ids}
        return {
            stored_as[row.delivery_id]: StoredDelivery(row.agent_id, Strategy(row.strategy))
            for some in chunks(stored_as)
            for row in self.connection.execute(DELIVERIES, {"ids": some})
        }

    def agents_by_identity(self, identities: Collection[Identity]) -> dict[Identity, Found]:
        """The agents that own these identities, from the cache where possible."""
        owners = {identity: self._cache.owner_ids.get((identity.kind, identity.key)) for identity in identities}
        unknown = [identity for identity, owner in owners.items() if owner is None]
        if unknown:
            queried = self._query_owner_ids(unknown)
            self._cache.add_owners(unknown, queried)
            owners |= queried
        found: dict[Identity, Found] = {}
        uncached: dict[Identity, str] = {}
        for identity, owner in owners.items():
            agent = self._cache.agents.get(owner) if owner else None
            if agent is not None:
                found[identity] = Found(agent, True)
            elif owner:
                uncached[identity] = owner
        return found | self._read_agents(uncached) if uncached else found

    def _read_agents(self, owners: Mapping[Identity, str]) -> dict[Identity, Found]:
        agents = self.agents_by_id(set(owners.values()))
        return {identity: Found(agents[owner], False) for identity, owner in owners.items() if owner in agents}

    def _query_owner_ids(self, identities: Collection[Identity]) -> dict[Identity, str]:
        owners: dict[Identity, str] = {}
        table = schema.identities.c
        for kind in sorted({identity.kind for identity in identities}):
            stored_as = {replace_nul(identity.key): identity for identity in identities if identity.kind == kind}
            for some in chunks(stored_as):
                query = select(table.key, table.agent_id).where(table.kind == kind, table.key.in_(some))
                owners.update({stored_as[row.key]: row.agent_id for row in self.connection.execute(query)})
        return owners

    def agents_by_id(self, ids: Collection[str]) -> dict[str, Agent]:
        found = {agent_id: agent for agent_id in ids if (agent := self._cache.agents.get(agent_id))}
        table = schema.agents.c
        for some in chunks([agent_id for agent_id in ids if agent_id not in found]):
            for row in self.connection.execute(select(table.id, table.body).where(table.id.in_(some))):
                found[row.id] = rows.decode_agent(row.body)
        return found

    def claimable_agents(self, project_id: str, ended_since: Micros) -> list[Agent]:
        table = schema.roster.c
        recent = table.ended_at.is_(None) | (table.ended_at >= ended_since)
        query = AGENT_BODIES.where(table.project_id == project_id, recent, table.free == 1)
        found = [rows.decode_agent(row.body) for row in self.connection.execute(query)]
        return sorted(found, key=lambda agent: agent.last_active_at, reverse=True)

    def names_in_use(self, names: Collection[str]) -> set[str]:
        table = schema.roster.c
        query = select(table.name).where(table.name.in_(names), table.ended_at.is_(None))
        return {row.name for row in self.connection.execute(query)}

    def stored_event_ids(self, agent_id: str, event_ids: Collection[str]) -> set[str]:
        table = schema.events.c
        query = select(table.id).where(table.agent_id == agent_id)
        return {
            row.id for some in chunks(event_ids) for row in self.connection.execute(query.where(table.id.in_(some)))
        }

    def active_efforts(self, host: str) -> list[Effort]:
        if self._cache.active_efforts is None:
            bodies = self.connection.execute(select(schema.efforts.c.body).where(IS_ACTIVE)).scalars()
            self._cache.active_efforts = {effort.id: effort for effort in map(rows.decode_effort, bodies)}
        return [effort for effort in self._cache.active_efforts.values() if effort.host == host]

    def effort(self, effort_id: str) -> Effort | None:
        query = select(schema.efforts.c.body).where(schema.efforts.c.id == effort_id).with_for_update()
        found = self.connection.execute(query).scalar()
        return rows.decode_effort(found) if found is not None else None

    def task(self, task_id: str) -> Task | None:
        query = select(schema.tasks.c.body).where(schema.tasks.c.id == task_id).with_for_update()
        found = self.connection.execute(query).scalar()
        return rows.decode_task(found) if found is not None else None

    def restore(self, snapshot: Snapshot) -> None:
        renumbered = msgspec.structs.replace(snapshot, seq=self._take_numbers(1))
        insert_rows(self.connection, schema.snapshots, [rows.snapshot_row(renumbered)])
        self.row_changes.add_snapshot(renumbered)

    def write(self, records: Sequence[Record]) -> list[StreamMessage]:
        seq = self._take_numbers(sum(1 + len(record.publish) for record in records))
        events: list[Row] = []
        messages: list[StreamMessage] = []
        texts: list[tuple[Document, str]] = []
        for record in records:
            events.append(rows.event_row(seq, record))
            if record.change is not None:
                self.row_changes.add_change(seq, record.change, record.claims)
                texts += event_documents(seq, record.event, record.change) if record.event is not None else ()
            for change in record.efforts:
                self.row_changes.add_effort_change(change)
            for publish in record.publish:
                seq += 1
                data = msgspec.json.encode(publish.data)
                messages.append(StreamMessage(seq, publish.type, publish.agent_id, publish.project_id, data))
            seq += 1
        insert_rows(self.connection, schema.events, events)
        insert_rows(self.connection, schema.stream, [asdict(each) | {"data": each.data.decode()} for each in messages])
        self.row_changes.write(self.connection, self._stored_roster)
        search.add_documents(self.connection, texts)
        return messages

    def _take_numbers(self, count: int) -> int:
        """Take consecutive sequence numbers; returns the first.

        The counter row stays locked until the commit, so numbers are in commit order.
        """
        last = self.connection.execute(ADVANCE_COUNTER, {"count": count}).scalar_one()
        return int(last) - count + 1


def chunks(values: Collection[str]) -> Iterator[list[str]]:
    """Unique values in order, at most `CHUNK` at a time."""
    ordered = sorted(set(values))
    for start in range(0, len(ordered), CHUNK):
        yield ordered[start : start + CHUNK]
