"""Taking old events out of a journal, so that what is left still follows from what is left.

Of every agent all events go that come before its first one that is not that old. An agent that ended before and was not
heard of since goes wholly. Every other agent keeps a snapshot of where it was: replay, verify and time travel begin
there. Efforts are kept beside (`effort_pruning`). The stream forgets what was announced before the oldest event that is
not that old.

Each transaction takes a few events, and leaves a journal that can be verified: pruning may be broken off at any moment,
and the writer has its turn between any two.
"""

import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import Connection, Table, func, select

from claude_headspace.journal import rows, schema, search
from claude_headspace.journal.bulk_insert import insert_rows
from claude_headspace.journal.database_errors import translate_errors
from claude_headspace.journal.prune_efforts import finished_effort_ids, prune_efforts
from claude_headspace.journal.reader import SqlReader
from claude_headspace.journal.writer_cache import WriterCache
from claude_headspace.kernel.correlate import Identity
from claude_headspace.kernel.effort.snapshot import KEY
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.replay import retell
from claude_headspace.kernel.search_documents import Document, documents
from claude_headspace.kernel.snapshot import Snapshot, Telling
from claude_headspace.ports import PruneResult

if TYPE_CHECKING:
    from claude_headspace.journal.transaction import SqlTransaction

MAX_EVENTS_PER_STEP = 100
"""How many events one transaction takes out."""
MAX_ROWS_PER_DELETE = 2_000
STREAM_STEP = 2_000
MAX_PAUSE_SECONDS = 0.5

_BY_ID = {schema.sessions: "sessions", schema.commands: "commands", schema.turns: "turns", schema.waits: "waits"}
"""The tables whose rows come and go with what an agent carries, and what a snapshot calls them."""


def load_snapshots(connection: Connection) -> Iterator[Snapshot]:
    """Where pruned logs begin, in their order."""
    table = schema.snapshots.c
    for body in connection.execute(select(table.body).where(table.agent_id != KEY).order_by(table.seq)).scalars().all():
        yield rows.decode_snapshot(body)


class SqlPruning(SqlReader, ABC):
    """The pruning side of a journal."""

    _cache: WriterCache

    @abstractmethod
    def transaction(self) -> AbstractContextManager["SqlTransaction"]:
        """One batch of the writer."""

    def snapshot(self, agent_id: str) -> Snapshot | None:
        """Where the log of an agent begins, if it was pruned."""
        found = self._rows(select(schema.snapshots.c.body).where(schema.snapshots.c.agent_id == agent_id))
        return rows.decode_snapshot(found[0]["body"]) if found else None

    def prune(self, before: Micros, *, dry_run: bool = False) -> PruneResult:
        """Take out what was received before a moment; agents that go on keep a snapshot of where they were."""
        cuts, up_to = self._cuts(before), self._told_before(before)
        taken = sum(cut.events for cut in cuts)
        told = self._scalar(select(func.count()).where(schema.stream.c.seq <= up_to)) or 0
        if dry_run:
            return PruneResult(taken, told, self._departed(cuts), up_to, self._finished(before))
        efforts = self._prune_efforts(before) if taken or self._finished(before) else 0
        gone = self._prune_agents(cuts)
        for edge in range(0, up_to + 1, STREAM_STEP):
            with self._step() as connection:
                some = schema.stream.c.seq <= min(edge + STREAM_STEP, up_to)
                connection.execute(schema.stream.delete().where(some))
        return PruneResult(taken, told, gone, up_to, efforts)

    def _prune_efforts(self, before: Micros) -> int:
        """Before any event goes: afterwards they no longer follow from the log."""
        with self._step() as connection:
            return prune_efforts(connection, before)

    def _prune_agents(self, cuts: Sequence["AgentCut"]) -> int:
        """Some events at a time, of one agent or of several; tells how many agents are gone."""
        waiting, gone = deque(cuts), 0
        while waiting:
            with self._step() as connection:
                left = MAX_EVENTS_PER_STEP
                while waiting and left > 0:
                    step = _prune_agent(connection, waiting[0], left)
                    left -= max(step.events, 1)
                    gone += step.is_gone
                    if step.is_last:
                        waiting.popleft()
        return gone

    @contextmanager
    def _step(self) -> Iterator[Connection]:
        """One transaction; then as long a pause, so that whoever waits to write has as much of the time."""
        started = time.monotonic()
        with self.transaction() as batch:
            batch.lock_exclusively()
            self._cache.clear()  # inside the writer's turn: nobody goes on with what is taken out
            yield batch.connection
        time.sleep(min(time.monotonic() - started, MAX_PAUSE_SECONDS))

    def _cuts(self, moment: Micros) -> list["AgentCut"]:
        """Up to where each agent's log goes: before its first event that was received at the moment or later."""
        table = schema.events.c
        recent = select(table.agent_id, func.min(table.seq).label("edge")).where(table.received_at >= moment)
        kept = recent.group_by(table.agent_id).subquery()
        old = (
            select(table.agent_id, func.max(table.seq).label("up_to"), func.count().label("events"))
            .select_from(schema.events.outerjoin(kept, kept.c.agent_id == table.agent_id))
            .where(kept.c.edge.is_(None) | (table.seq < kept.c.edge))
            .group_by(table.agent_id)
            .order_by(table.agent_id)
        )
        return [AgentCut(**row) for row in self._rows(old)]

    def _told_before(self, moment: Micros) -> int:
        """The number before that of the oldest event that was received at the moment or later."""
        table = schema.events.c
        first_kept = self._scalar(select(table.seq).where(table.received_at >= moment).order_by(table.seq).limit(1))
        newest = self._scalar(select(func.max(schema.stream.c.seq))) or 0
        return newest if first_kept is None else first_kept - 1

    def _finished(self, before: Micros) -> int:
        with translate_errors(self._dialect), self._engine.connect() as connection:
            return len(finished_effort_ids(connection, before))

    def _departed(self, cuts: Sequence["AgentCut"]) -> int:
        """How many agents ended, and were not heard of after their cut."""
        newest = select(schema.events.c.agent_id, func.max(schema.events.c.seq).label("seq"))
        ended = select(schema.roster.c.id).where(schema.roster.c.ended_at.is_not(None))
        heard = {row["agent_id"]: row["seq"] for row in self._rows(newest.group_by(schema.events.c.agent_id))}
        over = {row["id"] for row in self._rows(ended)}
        return sum(cut.agent_id in over and heard[cut.agent_id] <= cut.up_to for cut in cuts)


class AgentCut(NamedTuple):
    """Up to where the log of an agent goes, and how many events that are."""

    agent_id: str
    up_to: int
    events: int


class Step(NamedTuple):
    """What was taken of an agent at once, whether that was all, and whether it is gone with it."""

    events: int
    is_last: bool
    is_gone: bool = False


class PrunedHistory(NamedTuple):
    """What the pruned events of an agent came to."""

    telling: Telling
    claims: set[Identity]
    findable: list[tuple[Document, str]]
    events: int
    seq: int
    at: Micros


def _prune_agent(connection: Connection, cut: AgentCut, limit: int) -> Step:
    """Take some of the oldest events of an agent out."""
    past = _retold(connection, cut, limit)
    step = Step(past.events, past.seq >= cut.up_to or past.events < limit)
    search.remove_documents(connection, past.findable)
    table, states = schema.events.c, schema.states.c
    connection.execute(schema.events.delete().where(table.agent_id == cut.agent_id, table.seq <= past.seq))
    if past.telling.agent is None:
        return step
    if _is_gone(connection, cut.agent_id):
        _forget(connection, cut.agent_id)
        return step._replace(is_gone=True)
    owned = _owned(connection, cut.agent_id)
    snapshot = past.telling.snapshot(past.seq, past.at, sorted(past.claims & owned))
    insert_rows(connection, schema.snapshots, [rows.snapshot_row(snapshot)])
    _drop_rows(connection, past.telling, snapshot)
    connection.execute(schema.states.delete().where(states.agent_id == cut.agent_id, states.seq <= past.seq))
    return step


def _retold(connection: Connection, cut: AgentCut, limit: int) -> PrunedHistory:
    table, agent_id = schema.events.c, cut.agent_id
    found = connection.execute(select(schema.snapshots.c.body).where(schema.snapshots.c.agent_id == agent_id)).scalar()
    before = rows.decode_snapshot(found) if found else None
    telling, claims = Telling(before), set(before.identities) if before else set()
    findable: list[tuple[Document, str]] = []
    seq, at, count = (before.seq, before.at, 0) if before else (0, 0, 0)
    old = select(schema.events).where(table.agent_id == agent_id, table.seq <= cut.up_to)
    for row in connection.execute(old.order_by(table.seq).limit(limit)).mappings():
        stored = rows.event_from_row(dict(row))
        retold = retell(telling.agent, agent_id, stored.envelope, stored.strategy, stored.anomaly)
        seq, at, count = stored.seq, max(at, stored.envelope.received_at), count + 1
        if retold is not None:
            telling.take(retold.change)
            claims.update(retold.claims)
            findable += documents(stored.seq, stored.envelope, retold.change)
    return PrunedHistory(telling, claims, findable, count, seq, at)


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
        for start in range(0, len(dropped), MAX_ROWS_PER_DELETE):
            _delete(connection, table, dropped[start : start + MAX_ROWS_PER_DELETE])


def _delete(connection: Connection, table: Table, ids: list[str]) -> None:
    connection.execute(table.delete().where(table.c.id.in_(ids)))
