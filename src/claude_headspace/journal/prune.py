"""Removes old events, so that the remaining projections still follow from the remaining log.

Rules
- Of each agent, all events before its first recent one are removed.
- An agent that has ended and has no recent event is removed completely.
- Every other agent keeps a snapshot of its state: replay, verify and time travel start there.
- An effort follows from events of many agents, so it cannot be replayed up to a cut. Efforts that were finished before
  it are removed. One snapshot holds the current rows of all others, and the newest sequence number: a replay applies
  only later events to efforts, so any older event can be removed.
- Stream messages before the oldest recent event are removed.
- Each transaction removes few events and leaves a journal that passes `verify`: pruning can be interrupted at any time,
  and other batches run in between.
"""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import msgspec
from sqlalchemy import Connection, func, select

from claude_headspace.clients.decode import decode
from claude_headspace.journal import rows, schema, search
from claude_headspace.journal.dialects import translate_errors
from claude_headspace.journal.reader import SEQUENCE_COUNTER
from claude_headspace.journal.rows import insert_rows
from claude_headspace.journal.writer import SqlWriter
from claude_headspace.kernel.correlate import Identity
from claude_headspace.kernel.effort.model import Effort, Lifecycle, Message
from claude_headspace.kernel.effort.snapshot import (
    EFFORTS_SNAPSHOT_ID,
    NO_EFFORTS,
    EffortsSnapshot,
    EffortWithRows,
    is_finished_before,
)
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.replay import replay_event
from claude_headspace.kernel.search_documents import Document, event_documents
from claude_headspace.kernel.snapshot import Snapshot, SnapshotBuilder
from claude_headspace.ports import PruneResult

MAX_EVENTS_PER_STEP = 100
MAX_ROWS_PER_DELETE = 2_000
STREAM_STEP = 2_000
MAX_PAUSE_SECONDS = 0.5

_BY_ID = {schema.sessions: "sessions", schema.commands: "commands", schema.turns: "turns", schema.waits: "waits"}
"""Tables of which an agent's snapshot keeps the rows that may still change, with the snapshot's field."""


_decode_efforts = msgspec.json.Decoder(EffortsSnapshot).decode


def load_snapshots(connection: Connection) -> Iterator[Snapshot]:
    """The snapshots at which pruned logs start, by sequence number."""
    table = schema.snapshots.c
    query = select(table.body).where(table.agent_id != EFFORTS_SNAPSHOT_ID).order_by(table.seq)
    yield from map(rows.decode_snapshot, connection.execute(query).scalars().all())


def load_efforts_snapshot(connection: Connection) -> EffortsSnapshot:
    """The snapshot at which the log of the efforts starts."""
    found = connection.execute(
        select(schema.snapshots.c.body).where(schema.snapshots.c.agent_id == EFFORTS_SNAPSHOT_ID)
    ).scalar()
    return _decode_efforts(found) if found else NO_EFFORTS


class SqlPruning(SqlWriter):
    """Prunes a journal and reads the snapshots of its agents."""

    def snapshot(self, agent_id: str) -> Snapshot | None:
        found = self._rows(select(schema.snapshots.c.body).where(schema.snapshots.c.agent_id == agent_id))
        return rows.decode_snapshot(found[0]["body"]) if found else None

    def prune(self, before: Micros, *, dry_run: bool = False) -> PruneResult:
        cuts, up_to = self._cuts(before), self._last_seq_before(before)
        events = sum(cut.events for cut in cuts)
        messages = self._scalar(select(func.count()).where(schema.stream.c.seq <= up_to)) or 0
        if dry_run:
            return PruneResult(events, messages, self._count_removable(cuts), up_to, self._count_finished(before))
        efforts = self._prune_efforts(before) if events or self._count_finished(before) else 0
        agents = self._prune_agents(cuts)
        for start in range(0, up_to + 1, STREAM_STEP):
            with self._step() as connection:
                old = schema.stream.c.seq <= min(start + STREAM_STEP, up_to)
                connection.execute(schema.stream.delete().where(old))
        return PruneResult(events, messages, agents, up_to, efforts)

    def _prune_efforts(self, before: Micros) -> int:
        """Must run before events are removed: afterwards efforts no longer follow from the log."""
        with self._step() as connection:
            return _prune_efforts(connection, before)

    def _prune_agents(self, cuts: Sequence["AgentCut"]) -> int:
        """Remove the events in small steps, of one or several agents each; returns the number of removed agents."""
        pending, removed_agents = deque(cuts), 0
        while pending:
            with self._step() as connection:
                budget = MAX_EVENTS_PER_STEP
                while pending and budget > 0:
                    step = _prune_agent(connection, pending[0], budget)
                    budget -= max(step.events, 1)
                    removed_agents += step.agent_removed
                    if step.is_last:
                        pending.popleft()
        return removed_agents

    @contextmanager
    def _step(self) -> Iterator[Connection]:
        """One transaction, followed by a pause of the same length, in which other batches run."""
        started = time.monotonic()
        with self.transaction() as batch:
            batch.lock_exclusively()
            self._cache.clear()  # before the commit, so that no batch uses what is removed
            yield batch.connection
        time.sleep(min(time.monotonic() - started, MAX_PAUSE_SECONDS))

    def _cuts(self, before: Micros) -> list["AgentCut"]:
        """Which events to remove of each agent: those before its first event that was received at `before` or later."""
        table = schema.events.c
        recent = select(table.agent_id, func.min(table.seq).label("edge")).where(table.received_at >= before)
        kept = recent.group_by(table.agent_id).subquery()
        old = (
            select(table.agent_id, func.max(table.seq).label("up_to"), func.count().label("events"))
            .select_from(schema.events.outerjoin(kept, kept.c.agent_id == table.agent_id))
            .where(kept.c.edge.is_(None) | (table.seq < kept.c.edge))
            .group_by(table.agent_id)
            .order_by(table.agent_id)
        )
        return [AgentCut(**row) for row in self._rows(old)]

    def _last_seq_before(self, before: Micros) -> int:
        """The sequence number before the oldest event that was received at `before` or later."""
        table = schema.events.c
        first_kept = self._scalar(select(table.seq).where(table.received_at >= before).order_by(table.seq).limit(1))
        newest = self._scalar(select(func.max(schema.stream.c.seq))) or 0
        return newest if first_kept is None else first_kept - 1

    def _count_finished(self, before: Micros) -> int:
        with translate_errors(self._dialect), self._engine.connect() as connection:
            return len(_finished_effort_ids(connection, before))

    def _count_removable(self, cuts: Sequence["AgentCut"]) -> int:
        """How many agents have ended and have no event after their cut."""
        newest = select(schema.events.c.agent_id, func.max(schema.events.c.seq).label("seq"))
        ended = select(schema.roster.c.id).where(schema.roster.c.ended_at.is_not(None))
        last_seq = {row["agent_id"]: row["seq"] for row in self._rows(newest.group_by(schema.events.c.agent_id))}
        ended_ids = {row["id"] for row in self._rows(ended)}
        return sum(cut.agent_id in ended_ids and last_seq[cut.agent_id] <= cut.up_to for cut in cuts)


class AgentCut(NamedTuple):
    """The sequence number up to which events of an agent are removed, and how many these are."""

    agent_id: str
    up_to: int
    events: int


class Step(NamedTuple):
    """The result of one step on an agent."""

    events: int
    is_last: bool
    agent_removed: bool = False


class PrunedHistory(NamedTuple):
    """The result of replaying the events that a step removes."""

    builder: SnapshotBuilder
    claims: set[Identity]
    documents: list[tuple[Document, str]]
    events: int
    seq: int
    at: Micros


def _prune_agent(connection: Connection, cut: AgentCut, limit: int) -> Step:
    """Remove at most `limit` of the oldest events of an agent."""
    past = _replay_oldest(connection, cut, limit)
    step = Step(past.events, past.seq >= cut.up_to or past.events < limit)
    search.remove_documents(connection, past.documents)
    table, states = schema.events.c, schema.states.c
    connection.execute(schema.events.delete().where(table.agent_id == cut.agent_id, table.seq <= past.seq))
    if past.builder.agent is None:
        return step
    if _is_removable(connection, cut.agent_id):
        _remove_agent(connection, cut.agent_id)
        return step._replace(agent_removed=True)
    owned = _owned_identities(connection, cut.agent_id)
    snapshot = past.builder.snapshot(past.seq, past.at, sorted(past.claims & owned))
    insert_rows(connection, schema.snapshots, [rows.snapshot_row(snapshot)])
    _drop_rows(connection, past.builder, snapshot)
    connection.execute(schema.states.delete().where(states.agent_id == cut.agent_id, states.seq <= past.seq))
    return step


def _replay_oldest(connection: Connection, cut: AgentCut, limit: int) -> PrunedHistory:
    table, agent_id = schema.events.c, cut.agent_id
    found = connection.execute(select(schema.snapshots.c.body).where(schema.snapshots.c.agent_id == agent_id)).scalar()
    before = rows.decode_snapshot(found) if found else None
    builder, claims = SnapshotBuilder(before), set(before.identities) if before else set()
    texts: list[tuple[Document, str]] = []
    seq, at, count = (before.seq, before.at, 0) if before else (0, 0, 0)
    old = select(schema.events).where(table.agent_id == agent_id, table.seq <= cut.up_to)
    for row in connection.execute(old.order_by(table.seq).limit(limit)).mappings():
        stored = rows.event_from_row(dict(row))
        event = decode(stored.envelope)
        replayed = replay_event(builder.agent, agent_id, stored.envelope, event, stored.strategy, stored.anomaly)
        seq, at, count = stored.seq, max(at, stored.envelope.received_at), count + 1
        if replayed is not None:
            builder.add(replayed.change)
            claims.update(replayed.claims)
            texts += event_documents(stored.seq, event, replayed.change)
    return PrunedHistory(builder, claims, texts, count, seq, at)


def _is_removable(connection: Connection, agent_id: str) -> bool:
    """Whether an agent has ended and has no events left."""
    roster, events = schema.roster.c, schema.events.c
    ended = connection.execute(select(roster.ended_at).where(roster.id == agent_id)).scalar()
    remaining = connection.execute(select(events.seq).where(events.agent_id == agent_id).limit(1)).scalar()
    return ended is not None and remaining is None


def _remove_agent(connection: Connection, agent_id: str) -> None:
    """Remove all rows of an agent."""
    for table in (schema.agents, schema.roster):
        connection.execute(table.delete().where(table.c.id == agent_id))
    for table in (schema.identities, schema.states, schema.snapshots, schema.usage, *_BY_ID):
        connection.execute(table.delete().where(table.c.agent_id == agent_id))


def _owned_identities(connection: Connection, agent_id: str) -> set[Identity]:
    table = schema.identities.c
    query = select(table.kind, table.key).where(table.agent_id == agent_id)
    return {Identity(row.kind, row.key) for row in connection.execute(query)}


def _drop_rows(connection: Connection, builder: SnapshotBuilder, snapshot: Snapshot) -> None:
    """Remove the rows that are not part of the snapshot."""
    for table, name in _BY_ID.items():
        dropped = sorted(getattr(builder, name).keys() - getattr(snapshot, name).keys())
        for start in range(0, len(dropped), MAX_ROWS_PER_DELETE):
            some = dropped[start : start + MAX_ROWS_PER_DELETE]
            connection.execute(table.delete().where(table.c.id.in_(some)))


# --- efforts ---


def _finished_effort_ids(connection: Connection, before: Micros) -> list[str]:
    """The efforts that were finished before a time."""
    table = schema.efforts.c
    finished = connection.execute(select(table.body).where(table.lifecycle == Lifecycle.FINISHED.value)).scalars()
    return [effort.id for effort in map(rows.decode_effort, finished) if is_finished_before(effort, before)]


def _prune_efforts(connection: Connection, before: Micros) -> int:
    """Remove finished efforts and store a snapshot of the others; returns the number of removed efforts."""
    finished = _finished_effort_ids(connection, before)
    for effort_id in finished:
        connection.execute(schema.efforts.delete().where(schema.efforts.c.id == effort_id))
        for table in (schema.windows, schema.messages):
            connection.execute(table.delete().where(table.c.effort_id == effort_id))
    snapshot = _take_snapshot(connection)
    if snapshot.tasks:
        body = msgspec.json.encode(snapshot).decode()
        insert_rows(
            connection,
            schema.snapshots,
            [{"agent_id": EFFORTS_SNAPSHOT_ID, "seq": snapshot.seq, "at": before, "body": body}],
        )
    return len(finished)


def _take_snapshot(connection: Connection) -> EffortsSnapshot:
    counter = schema.counters.c
    newest = connection.execute(select(counter.value).where(counter.name == SEQUENCE_COUNTER)).scalar()
    remaining = connection.execute(select(schema.efforts.c.body).order_by(schema.efforts.c.id)).scalars()
    tasks = connection.execute(select(schema.tasks.c.body).order_by(schema.tasks.c.id)).scalars()
    return EffortsSnapshot(
        seq=newest or 0,
        tasks=[rows.decode_task(body) for body in tasks],
        efforts=[_kept(connection, rows.decode_effort(body)) for body in remaining],
    )


def _kept(connection: Connection, effort: Effort) -> EffortWithRows:
    windows, messages = schema.windows.c, schema.messages.c
    window_query = select(windows.body).where(windows.effort_id == effort.id).order_by(windows.id)
    message_query: Any = select(schema.messages).where(messages.effort_id == effort.id).order_by(messages.id)
    return EffortWithRows(
        effort=effort,
        windows=[rows.decode_window(body) for body in connection.execute(window_query).scalars()],
        messages=[Message(**row) for row in connection.execute(message_query).mappings()],
    )
