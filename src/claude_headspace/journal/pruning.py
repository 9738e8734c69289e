"""Taking old events out of a journal, so that what is left still follows from what is left.

All events up to one sequence number go. An agent that ended before and was not heard of since goes wholly. Every other
agent keeps a snapshot of where it was: replay, verify and time travel begin there. Each transaction leaves a journal
that can be verified, so pruning may be broken off at any moment, and the writer waits for a few agents at most.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, Table, func, select

from claude_headspace.journal import rows, schema, search
from claude_headspace.journal.bulk import bulk
from claude_headspace.journal.cache import Cache
from claude_headspace.journal.reader import SqlReader
from claude_headspace.kernel.correlate import Identity, Strategy
from claude_headspace.kernel.documents import Document, documents
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.retell import retell
from claude_headspace.kernel.snapshot import Snapshot, Telling
from claude_headspace.ports import Pruned

if TYPE_CHECKING:
    from claude_headspace.journal.transaction import SqlTransaction

AGENTS_AT_ONCE = 20
EVENTS_AT_ONCE = 2_000
STREAM_AT_ONCE = 20_000

_BY_ID = {schema.sessions: "sessions", schema.commands: "commands", schema.turns: "turns", schema.waits: "waits"}
"""The tables whose rows come and go with what an agent carries, and what a snapshot calls them."""


def all_snapshots(connection: Connection) -> Iterator[Snapshot]:
    """Where pruned logs begin."""
    for row in connection.execute(select(schema.snapshots.c.body)):
        yield rows.snapshot_of(row.body)


class Pruning(SqlReader, ABC):
    """The pruning side of a journal."""

    _cache: Cache

    @abstractmethod
    def transaction(self) -> AbstractContextManager["SqlTransaction"]:
        """One batch of the writer."""

    def snapshot(self, agent_id: str) -> Snapshot | None:
        """Where the log of an agent begins, if it was pruned."""
        found = self._rows(select(schema.snapshots.c.body).where(schema.snapshots.c.agent_id == agent_id))
        return rows.snapshot_of(found[0]["body"]) if found else None

    def prune(self, before: Micros, *, dry_run: bool = False) -> Pruned:
        """Take out what was received before a moment; agents that go on keep a snapshot of where they were."""
        up_to = self._last_before(before)
        events, stream = schema.events.c.seq <= up_to, schema.stream.c.seq <= up_to
        taken, told = (self._scalar(select(func.count()).where(each)) or 0 for each in (events, stream))
        owners = self._rows(select(schema.events.c.agent_id).distinct().where(events))
        agents = [row["agent_id"] for row in owners]
        if dry_run:
            gone = self._scalar(_departed(up_to)) or 0
            return Pruned(taken, told, gone, up_to)
        gone = 0
        for start in range(0, len(agents), AGENTS_AT_ONCE):
            with self.transaction() as batch:
                batch.be_alone()
                self._cache.forget()  # inside the writer's turn: nobody goes on with what is taken out
                gone += sum(_prune_agent(batch.connection, each, up_to) for each in agents[start:][:AGENTS_AT_ONCE])
        for edge in range(0, up_to + 1, STREAM_AT_ONCE):
            with self.transaction() as batch:
                some = schema.stream.c.seq <= min(edge + STREAM_AT_ONCE, up_to)
                batch.connection.execute(schema.stream.delete().where(some))
        return Pruned(taken, told, gone, up_to)

    def _last_before(self, moment: Micros) -> int:
        """The newest event of which it and all before it were received before the moment. An effort has no snapshot:
        its log is kept from its beginning on.
        """
        table = schema.events.c
        is_kept = (table.received_at >= moment) | (table.strategy == Strategy.EFFORT.value)
        first_kept = self._scalar(select(table.seq).where(is_kept).order_by(table.seq).limit(1))
        last = self._scalar(select(func.max(table.seq))) or 0
        return last if first_kept is None else first_kept - 1


def _departed(up_to: int) -> Select[Any]:
    """How many agents ended, and were not heard of after a sequence number."""
    heard = select(schema.events.c.seq).where(schema.events.c.agent_id == schema.roster.c.id)
    return (
        select(func.count())
        .select_from(schema.roster)
        .where(
            schema.roster.c.ended_at.is_not(None),
            ~heard.where(schema.events.c.seq > up_to).exists(),
            heard.where(schema.events.c.seq <= up_to).exists(),
        )
    )


class Past(NamedTuple):
    """What the pruned events of an agent came to."""

    telling: Telling
    claims: set[Identity]
    findable: list[tuple[Document, str]]
    seq: int
    at: Micros


def _prune_agent(connection: Connection, agent_id: str, up_to: int) -> bool:
    """Take the old events of an agent out; tells whether it is gone with them."""
    table = schema.events.c
    old = (table.agent_id == agent_id) & (table.seq <= up_to)
    past = _retold(connection, agent_id, old)
    search.unindex(connection, past.findable)
    connection.execute(schema.events.delete().where(old))
    if past.telling.agent is None:
        return False
    if _is_gone(connection, agent_id):
        _forget(connection, agent_id)
        return True
    snapshot = past.telling.snapshot(past.seq, past.at, sorted(past.claims & _owned(connection, agent_id)))
    bulk(connection, schema.snapshots, [rows.snapshot_row(snapshot)])
    _drop_rows(connection, past.telling, snapshot)
    states = schema.states.c
    connection.execute(schema.states.delete().where(states.agent_id == agent_id, states.seq <= up_to))
    return False


def _retold(connection: Connection, agent_id: str, old: ColumnElement[bool]) -> Past:
    found = connection.execute(select(schema.snapshots.c.body).where(schema.snapshots.c.agent_id == agent_id)).scalar()
    before = rows.snapshot_of(found) if found else None
    telling, claims = Telling(before), set(before.identities) if before else set()
    findable: list[tuple[Document, str]] = []
    seq, at = (before.seq, before.at) if before else (0, 0)
    query = select(schema.events).where(old).order_by(schema.events.c.seq)
    for row in connection.execute(query).mappings():
        stored = rows.stored_event(dict(row))
        retold = retell(telling.agent, agent_id, stored.envelope, stored.strategy, stored.anomaly)
        seq, at = stored.seq, max(at, stored.envelope.received_at)
        if retold is not None:
            telling.take(retold.change)
            claims.update(retold.claims)
            findable += documents(stored.seq, stored.envelope, retold.change)
    return Past(telling, claims, findable, seq, at)


def _is_gone(connection: Connection, agent_id: str) -> bool:
    roster, events = schema.roster.c, schema.events.c
    ended = connection.execute(select(roster.ended_at).where(roster.id == agent_id)).scalar()
    heard = connection.execute(select(events.seq).where(events.agent_id == agent_id).limit(1)).scalar()
    return ended is not None and heard is None


def _forget(connection: Connection, agent_id: str) -> None:
    """Remove everything that is known of an agent."""
    for table in (schema.agents, schema.roster):
        connection.execute(table.delete().where(table.c.id == agent_id))
    for table in (schema.identities, schema.states, schema.snapshots, *_BY_ID):
        connection.execute(table.delete().where(table.c.agent_id == agent_id))


def _owned(connection: Connection, agent_id: str) -> set[Identity]:
    table = schema.identities.c
    query = select(table.kind, table.key).where(table.agent_id == agent_id)
    return {Identity(row.kind, row.key) for row in connection.execute(query)}


def _drop_rows(connection: Connection, telling: Telling, snapshot: Snapshot) -> None:
    """Remove the rows that nothing can change any more."""
    for table, name in _BY_ID.items():
        dropped = sorted(getattr(telling, name).keys() - getattr(snapshot, name).keys())
        for start in range(0, len(dropped), EVENTS_AT_ONCE):
            _delete(connection, table, dropped[start : start + EVENTS_AT_ONCE])


def _delete(connection: Connection, table: Table, ids: list[str]) -> None:
    connection.execute(table.delete().where(table.c.id.in_(ids)))
