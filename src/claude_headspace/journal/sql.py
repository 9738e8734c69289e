"""The journal on SQL: `SqlJournal` implements `ports.Journal` for SQLite and PostgreSQL.

The parts: `reader` (queries), `writer` (transactions), `search`, `prune` and `tokens`. This module adds what works on
the journal as a whole: opening, verifying and rebuilding. The projections are derived from the log with `evolve` only,
so a replay never notifies or acts again.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from heapq import merge
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, RowMapping, Table, select

from claude_headspace.clients.decode import decode
from claude_headspace.errors import JournalUnavailable
from claude_headspace.journal import rows, schema, search
from claude_headspace.journal.dialects import translate_errors
from claude_headspace.journal.migrate import upgrade
from claude_headspace.journal.prune import SqlPruning, load_efforts_snapshot, load_snapshots
from claude_headspace.journal.reader import event_query
from claude_headspace.journal.rows import Row, RowChanges, insert_rows, replace_nul
from claude_headspace.journal.search import SqlSearch
from claude_headspace.journal.tokens import SqlTokenStore
from claude_headspace.kernel import KERNEL_VERSION
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort.advance import EffortReplay
from claude_headspace.kernel.replay import replay_event
from claude_headspace.kernel.search_documents import Document, event_documents
from claude_headspace.kernel.snapshot import Snapshot
from claude_headspace.ports import Difference, Position, StoredEvent

EVENTS_PER_PAGE = 2_000
"""How many events a replay reads at once."""

UNFINISHED_COPY = "copying"
"""The row of `counters` that marks a database with an unfinished copy. No daemon uses a marked journal."""

UNFINISHED = "half_copied"
"""The error code of such a database."""

_agents = schema.agents.c
OUTDATED_AGENT = select(_agents.id).where(_agents.kernel_version != KERNEL_VERSION).limit(1)
"""An agent that another kernel version wrote, which may derive other projections from the same log."""

log = logging.getLogger(__name__)

Advance = Callable[[int], None]
"""Receives the number of events processed since the last call."""


def _no_progress(_events: int) -> None:
    pass


class SqlJournal(SqlSearch, SqlPruning, SqlTokenStore):
    """The event log and its projections in a database."""

    def open(self, *, allow_partial_copy: bool = False) -> None:
        """Migrate the schema, and rebuild projections of another kernel version.

        A database with an unfinished copy is refused, unless the caller is about to continue the copy.
        """
        try:
            self._open(allow_partial_copy=allow_partial_copy)
        except JournalUnavailable:
            self._engine.dispose()  # the next attempt may find another file
            raise

    def _open(self, *, allow_partial_copy: bool) -> None:
        with translate_errors(self._dialect):
            self._dialect.check_database(self._engine)
            upgrade(self._engine)
            if allow_partial_copy:
                return
            with self._engine.connect() as connection:
                _refuse_unfinished_copy(connection)
            if self._scalar(OUTDATED_AGENT) is not None:
                self._rebuild_outdated()

    def save_positions(self, reader: str, positions: Mapping[str, Position]) -> None:
        with self.transaction() as batch:
            values = [
                {"reader": reader, "path": replace_nul(path), "offset": position.offset, "at": position.at}
                for path, position in positions.items()
            ]
            insert_rows(batch.connection, schema.positions, values)

    def verify(self) -> Iterator[Difference]:
        with translate_errors(self._dialect), self._consistent_read() as connection:
            with search.expected_index(connection) as documents:
                row_changes, _ = _replay_log(connection, documents.add)
                documents.flush()
                yield from search.index_differences(connection)
            for table, expected in row_changes.tables.items():
                yield from _compare(table, expected, connection.execute(select(table)).mappings().all())

    def rebuild(self, advance: Advance = _no_progress) -> int:
        with self.transaction() as batch:
            batch.lock_exclusively()
            count = _rebuild(batch.connection, advance)
        self._cache.clear()
        return count

    def _rebuild_outdated(self) -> None:
        """Rebuild, unless another daemon did so while this one waited for the lock."""
        with self.transaction() as batch:
            batch.lock_exclusively()
            if batch.connection.execute(OUTDATED_AGENT).first() is not None:
                log.info("projections_rebuilding")
                _rebuild(batch.connection)
        self._cache.clear()

    @contextmanager
    def _consistent_read(self) -> Iterator[Connection]:
        """A connection on which all queries see the same state of the database."""
        with self._engine.connect() as connection:
            consistent = connection.execution_options(**self._dialect.snapshot_options)
            with consistent.begin():
                yield consistent

    def storage_problem(self) -> str:
        return self._dialect.storage_problem()

    def abort_connections(self) -> None:
        self._dialect.abort_connections()


def _refuse_unfinished_copy(connection: Connection) -> None:
    counter = schema.counters.c
    if connection.execute(select(counter.value).where(counter.name == UNFINISHED_COPY)).first() is not None:
        raise JournalUnavailable(
            UNFINISHED,
            "The database contains an unfinished copy.",
            "Run the same `headspace db copy` again to continue it.",
        )


def _rebuild(connection: Connection, advance: Advance = _no_progress) -> int:
    search.clear_documents(connection)
    documents = search.DocumentBuffer(partial(search.add_documents, connection))
    row_changes, count = _replay_log(connection, documents.add, advance)
    documents.flush()
    for table in schema.PROJECTIONS:
        connection.execute(table.delete())
    row_changes.write(connection, {})
    return count


def _all_events(connection: Connection, advance: Advance) -> Iterator[StoredEvent]:
    after = 0
    while True:
        page = connection.execute(event_query(None, after, EVENTS_PER_PAGE)[0]).mappings().all()
        yield from (rows.event_from_row(dict(row)) for row in page)
        advance(len(page))
        if len(page) < EVENTS_PER_PAGE:
            return
        after = page[-1]["seq"]


def _replay_log(
    connection: Connection, add_documents: Callable[[list[tuple[Document, str]]], None], advance: Advance = _no_progress
) -> tuple[RowChanges, int]:
    """The projections of the log and its number of events; search documents go to `add_documents`.

    A snapshot is applied at its place in the log: its identities may belong to another agent later.
    """
    kept_efforts = load_efforts_snapshot(connection)
    row_changes, agents, efforts, count = RowChanges(), dict[str, Agent](), EffortReplay(kept_efforts), 0
    row_changes.add_efforts_snapshot(kept_efforts)
    steps: Iterable[Snapshot | StoredEvent] = merge(
        load_snapshots(connection), _all_events(connection, advance), key=attrgetter("seq")
    )
    for step in steps:
        if isinstance(step, Snapshot):
            agents[step.agent.id] = step.agent
            row_changes.add_snapshot(step)
            continue
        stored, count = step, count + 1
        event, agent = decode(stored.envelope), agents.get(stored.agent_id)
        replayed = replay_event(agent, stored.agent_id, stored.envelope, event, stored.strategy, stored.anomaly)
        if replayed is not None:
            agents[stored.agent_id] = replayed.change.agent
            row_changes.add_change(stored.seq, replayed.change, replayed.claims)
            add_documents(event_documents(stored.seq, event, replayed.change))
        agent = replayed.change.agent if replayed else None
        if effort_change := efforts.apply(stored.seq, stored.envelope, event, agent):
            row_changes.add_effort_change(effort_change)
    row_changes.add_agent_rows({})
    return row_changes, count


def _compare(table: Table, expected: Mapping[Any, Row], found: Sequence[RowMapping]) -> Iterator[Difference]:
    """The rows of a table that differ from the expected ones."""
    keys = [column.name for column in table.primary_key]
    stored = {_key(dict(row), keys): dict(row) for row in found}
    wanted = {_key(row, keys): row for row in expected.values()}
    for key in sorted(stored.keys() | wanted.keys()):
        problem = _problem(wanted.get(key), stored.get(key))
        if problem:
            yield Difference(str(table.name), key, problem)  # msgspec cannot encode SQLAlchemy's subclass of str


def _key(row: Mapping[Any, Any], keys: list[str]) -> str:
    return ":".join(str(replace_nul(row[name])) for name in keys)


def _problem(wanted: Row | None, stored: Row | None) -> str | None:
    if wanted is None:
        return "does not follow from the log"
    if stored is None:
        return "is missing"
    differing = [name for name, value in wanted.items() if replace_nul(stored.get(name)) != replace_nul(value)]
    return f"differs in {', '.join(differing)}" if differing else None
