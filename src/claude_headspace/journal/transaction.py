"""One batch of the writer: look up, append, take the sequence numbers last from the one counter row.

What the writer reads again and again it keeps in a cache that learns only from what was committed.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

import msgspec
from sqlalchemy import Connection, bindparam, select, update

from claude_headspace.journal import rows, schema, search
from claude_headspace.journal.bulk_insert import insert_rows
from claude_headspace.journal.efforts import EffortLookups
from claude_headspace.journal.reader import AGENT_BODIES, SEQUENCE_COUNTER
from claude_headspace.journal.rows import Projection, Row
from claude_headspace.journal.writer_cache import WriterCache
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import Found, Identity, Strategy
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.search_documents import Document, documents
from claude_headspace.kernel.snapshot import Snapshot
from claude_headspace.ports import LockScope, Record, StoredDelivery, StreamMessage

CHUNK = 400
"""How many values one `IN (…)` may have."""

ADVANCE_COUNTER = (
    update(schema.counters)
    .where(schema.counters.c.name == SEQUENCE_COUNTER)
    .values(value=schema.counters.c.value + bindparam("count"))
    .returning(schema.counters.c.value)
)
"""Built once: making it anew took longer than running it."""

DELIVERIES = select(schema.events.c.delivery_id, schema.events.c.agent_id, schema.events.c.strategy).where(
    schema.events.c.delivery_id.in_(bindparam("ids", expanding=True))
)


class SqlTransaction(EffortLookups):
    """One batch of the writer."""

    def __init__(self, connection: Connection, cache: WriterCache) -> None:
        self.connection = connection
        self._cache = cache
        self.effort_cache = cache.efforts
        self.projection = Projection()
        self.version = ""
        """What the rows that it wrote are known by where others write too."""

    def lock(self, _touched: LockScope) -> None:
        """Nobody else writes here."""

    def lock_exclusively(self) -> None:
        """Nobody else writes here."""

    def find_deliveries(self, delivery_ids: Collection[str]) -> dict[str, StoredDelivery]:
        """Which of these deliveries are here already."""
        stored_as = {rows.replace_nul(each): each for each in delivery_ids}
        return {
            stored_as[row.delivery_id]: StoredDelivery(row.agent_id, Strategy(row.strategy))
            for some in chunks(stored_as)
            for row in self.connection.execute(DELIVERIES, {"ids": some})
        }

    def agents_by_identity(self, identities: Collection[Identity]) -> dict[Identity, Found]:
        """The agents that answer to these identities: known ones from memory, others from the database."""
        owners = {identity: self._cache.owner_id(identity) for identity in identities}
        unknown = [identity for identity, owner in owners.items() if owner is None]
        if unknown:
            looked_up = self._look_up_owners(unknown)
            self._cache.add_owners(unknown, looked_up)
            owners |= looked_up
        found: dict[Identity, Found] = {}
        elsewhere: dict[Identity, str] = {}
        for identity, owner in owners.items():
            agent = self._cache.agent(owner) if owner else None
            if agent is not None:
                found[identity] = Found(agent, True)
            elif owner:
                elsewhere[identity] = owner
        return found | self._read(elsewhere) if elsewhere else found

    def _look_up(self, missing: list[Identity]) -> dict[Identity, Found]:
        return self._read(self._look_up_owners(missing))

    def _read(self, owners: Mapping[Identity, str]) -> dict[Identity, Found]:
        agents = self.agents_by_id(set(owners.values()))
        return {identity: Found(agents[owner], False) for identity, owner in owners.items() if owner in agents}

    def _look_up_owners(self, missing: Collection[Identity]) -> dict[Identity, str]:
        owners: dict[Identity, str] = {}
        table = schema.identities.c
        for kind in sorted({identity.kind for identity in missing}):
            stored_as = {rows.replace_nul(identity.key): identity for identity in missing if identity.kind == kind}
            for some in chunks(stored_as):
                query = select(table.key, table.agent_id).where(table.kind == kind, table.key.in_(some))
                owners.update({stored_as[row.key]: row.agent_id for row in self.connection.execute(query)})
        return owners

    def agents_by_id(self, ids: Collection[str]) -> dict[str, Agent]:
        """The agents with these ids."""
        found = {agent_id: agent for agent_id in ids if (agent := self._cache.agent(agent_id))}
        table = schema.agents.c
        for some in chunks([agent_id for agent_id in ids if agent_id not in found]):
            for row in self.connection.execute(select(table.id, table.body).where(table.id.in_(some))):
                found[row.id] = rows.decode_agent(row.body)
        return found

    def claimable_agents(self, project_id: str, ended_since: Micros) -> list[Agent]:
        """The agents of a project that a new session may be taken for, if they did not end before; newest first."""
        table = schema.roster.c
        recent = table.ended_at.is_(None) | (table.ended_at >= ended_since)
        query = AGENT_BODIES.where(table.project_id == project_id, recent, table.free == 1)
        found = [rows.decode_agent(row.body) for row in self.connection.execute(query)]
        return sorted(found, key=lambda agent: agent.last_active_at, reverse=True)

    def names_in_use(self, names: Collection[str]) -> set[str]:
        """Which of these names living agents have."""
        table = schema.roster.c
        query = select(table.name).where(table.name.in_(names), table.ended_at.is_(None))
        return {row.name for row in self.connection.execute(query)}

    def stored_event_ids(self, agent_id: str, event_ids: Collection[str]) -> set[str]:
        """Which of these events of an agent are here already."""
        table = schema.events.c
        query = select(table.id).where(table.agent_id == agent_id)
        return {
            row.id for some in chunks(event_ids) for row in self.connection.execute(query.where(table.id.in_(some)))
        }

    def restore(self, snapshot: Snapshot) -> None:
        """Begin an agent where its pruned log begins elsewhere."""
        here = msgspec.structs.replace(snapshot, seq=self._take_numbers(1))
        insert_rows(self.connection, schema.snapshots, [rows.snapshot_row(here)])
        self.projection.add_snapshot(here)

    def write(self, records: Sequence[Record]) -> list[StreamMessage]:
        """Append the events with all that came of them; the sequence numbers are taken last."""
        seq = self._take_numbers(sum(1 + len(record.publish) for record in records))
        events: list[Row] = []
        messages: list[StreamMessage] = []
        findable: list[tuple[Document, str]] = []
        for record in records:
            events.append(rows.event_row(seq, record))
            if record.change is not None:
                self.projection.add_change(seq, record.change, record.claims)
                findable += documents(seq, record.envelope, record.change)
            for change in record.efforts:
                self.projection.add_effort_change(change)
            for publish in record.publish:
                seq += 1
                messages.append(rows.make_stream_message(seq, publish))
            seq += 1
        insert_rows(self.connection, schema.events, events)
        insert_rows(self.connection, schema.stream, [rows.stream_row(message) for message in messages])
        write_projection(self.connection, self.projection, self._before)
        search.add_documents(self.connection, findable)
        return messages

    def _before(self, agent_id: str) -> Agent | None:
        """What is stored of an agent, if that is known."""
        return self._cache.agent(agent_id)

    def _take_numbers(self, count: int) -> int:
        """The first of `count` consecutive numbers. The row's lock is held until the commit: numbers are in commit
        order.
        """
        taken = self.connection.execute(ADVANCE_COUNTER, {"count": count}).scalar_one()
        return int(taken) - count + 1


def write_projection(
    connection: Connection, projection: Projection, known: Callable[[str], Agent | None] = lambda _id: None
) -> None:
    """Write the rows that changes came to."""
    for table, values in projection.table_rows(known):
        insert_rows(connection, table, values)
    for patch in projection.patches:
        turns = schema.turns
        connection.execute(update(turns).where(turns.c.id == patch.id).values(rows.patch_values(patch)))


def chunks(values: Collection[str]) -> Iterator[list[str]]:
    """Some at a time, in order."""
    ordered = sorted(set(values))
    for start in range(0, len(ordered), CHUNK):
        yield ordered[start : start + CHUNK]
