"""One batch of the writer: look up agents, append events, and write the changed projections.

Sequence numbers are taken last, from one counter row. Frequent lookups use the writer's cache.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import msgspec
from sqlalchemy import Connection, bindparam, select, update

from claude_headspace.journal import rows, schema, search
from claude_headspace.journal.bulk_insert import insert_rows
from claude_headspace.journal.efforts import EffortLookups
from claude_headspace.journal.reader import AGENT_BODIES, SEQUENCE_COUNTER
from claude_headspace.journal.rows import Projection
from claude_headspace.journal.values import Row, replace_nul
from claude_headspace.journal.writer_cache import WriterCache
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import Found, Identity, Strategy
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.search_documents import Document, event_documents
from claude_headspace.kernel.snapshot import Snapshot
from claude_headspace.ports import LockScope, Record, StoredDelivery, StreamMessage

CHUNK = 400
"""The maximum number of values in one `IN (…)`."""

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


class SqlTransaction(EffortLookups):
    """One batch on a database that has no other writer, so there is nothing to lock."""

    def __init__(self, connection: Connection, cache: WriterCache) -> None:
        self.connection = connection
        self._cache = cache
        self.effort_cache = cache.efforts
        self.projection = Projection()
        self.version = ""
        """The version of the written rows, on a shared database."""

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

    def restore(self, snapshot: Snapshot) -> None:
        renumbered = msgspec.structs.replace(snapshot, seq=self._take_numbers(1))
        insert_rows(self.connection, schema.snapshots, [rows.snapshot_row(renumbered)])
        self.projection.add_snapshot(renumbered)

    def write(self, records: Sequence[Record]) -> list[StreamMessage]:
        seq = self._take_numbers(sum(1 + len(record.publish) for record in records))
        events: list[Row] = []
        messages: list[StreamMessage] = []
        texts: list[tuple[Document, str]] = []
        for record in records:
            events.append(rows.event_row(seq, record))
            if record.change is not None:
                self.projection.add_change(seq, record.change, record.claims)
                texts += event_documents(seq, record.event, record.change) if record.event is not None else ()
            for change in record.efforts:
                self.projection.add_effort_change(change)
            for publish in record.publish:
                seq += 1
                messages.append(rows.make_stream_message(seq, publish))
            seq += 1
        insert_rows(self.connection, schema.events, events)
        insert_rows(self.connection, schema.stream, [rows.stream_row(message) for message in messages])
        write_projection(self.connection, self.projection, self._stored_agent)
        search.add_documents(self.connection, texts)
        return messages

    def _stored_agent(self, agent_id: str) -> Agent | None:
        """An agent as it was before the batch, if that is known without a query."""
        return self._cache.agents.get(agent_id)

    def _take_numbers(self, count: int) -> int:
        """Take consecutive sequence numbers; returns the first.

        The counter row stays locked until the commit, so numbers are in commit order.
        """
        last = self.connection.execute(ADVANCE_COUNTER, {"count": count}).scalar_one()
        return int(last) - count + 1


def write_projection(
    connection: Connection, projection: Projection, stored: Callable[[str], Agent | None] = lambda _id: None
) -> None:
    """Write the rows of a projection; `stored` gives agents as they are in the database, if that is known."""
    for table, values in projection.table_rows(stored):
        insert_rows(connection, table, values)
    for patch in projection.patches:
        turns = schema.turns
        connection.execute(update(turns).where(turns.c.id == patch.id).values(rows.patch_values(patch)))


def chunks(values: Collection[str]) -> Iterator[list[str]]:
    """Unique values in order, at most `CHUNK` at a time."""
    ordered = sorted(set(values))
    for start in range(0, len(ordered), CHUNK):
        yield ordered[start : start + CHUNK]
