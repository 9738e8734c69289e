"""The journal on SQL: `SqlJournal` implements `ports.Journal` for SQLite and PostgreSQL.

The parts: `reader` (queries), `writer` (transactions), `search`, `prune` and `tokens`. This module adds what works on
the journal as a whole: opening, verifying and rebuilding.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from sqlalchemy import Connection, select

from claude_headspace.errors import JournalUnavailable
from claude_headspace.journal import replay, rows, schema, search
from claude_headspace.journal.dialects import translate_errors
from claude_headspace.journal.migrate import upgrade
from claude_headspace.journal.prune import SqlPruning, load_efforts_snapshot, load_snapshots
from claude_headspace.journal.reader import event_query
from claude_headspace.journal.rows import RowChanges, insert_rows, replace_nul
from claude_headspace.journal.search import SqlSearch
from claude_headspace.journal.tokens import SqlTokenStore
from claude_headspace.kernel import KERNEL_VERSION
from claude_headspace.kernel.search_documents import Document
from claude_headspace.ports import Difference, Position, StoredEvent

EVENTS_PER_PAGE = 2_000
"""How many events a replay reads at once."""

UNFINISHED_COPY = "copying"
"""The row of `counters` that marks a database with an unfinished copy. No daemon uses a marked journal."""

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
                yield from replay.compare(table, expected, connection.execute(select(table)).mappings().all())

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
            "half_copied",
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


def _replay_log(
    connection: Connection, add_documents: Callable[[list[tuple[Document, str]]], None], advance: Advance = _no_progress
) -> tuple[RowChanges, int]:
    events = _all_events(connection, advance)
    return replay.project(events, add_documents, load_snapshots(connection), load_efforts_snapshot(connection))


def _all_events(connection: Connection, advance: Advance) -> Iterator[StoredEvent]:
    after = 0
    while True:
        page = connection.execute(event_query(None, after, EVENTS_PER_PAGE)[0]).mappings().all()
        yield from (rows.event_from_row(dict(row)) for row in page)
        advance(len(page))
        if len(page) < EVENTS_PER_PAGE:
            return
        after = page[-1]["seq"]
