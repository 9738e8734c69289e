"""The journal on SQL: one writer with one connection and one transaction per batch, beside readers.

On SQLite the writer is the only one, and its cache is always right. A shared database has other writers: there each
batch holds what it touches (`shared`), and a daemon may come up while the database is away.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial

from sqlalchemy import Connection, ExceptionContext, event, select
from sqlalchemy.exc import SQLAlchemyError

from claude_headspace.errors import JournalUnavailable
from claude_headspace.journal import dialects, replay, rows, schema, search
from claude_headspace.journal.bulk_insert import insert_rows
from claude_headspace.journal.copy_marker import refuse_unfinished_copy
from claude_headspace.journal.database_errors import MESSAGE_PREFIX, UNAVAILABLE, translate_errors
from claude_headspace.journal.migrate import upgrade
from claude_headspace.journal.prune import SqlPruning, load_snapshots
from claude_headspace.journal.prune_efforts import load_efforts_snapshot
from claude_headspace.journal.reader import event_query
from claude_headspace.journal.rows import Projection
from claude_headspace.journal.search import SqlSearch
from claude_headspace.journal.shared_transaction import SharedTransaction
from claude_headspace.journal.tokens import SqlTokenStore
from claude_headspace.journal.transaction import SqlTransaction, write_projection
from claude_headspace.journal.writer_cache import WriterCache
from claude_headspace.kernel import KERNEL_VERSION
from claude_headspace.kernel.search_documents import Document
from claude_headspace.ports import Difference, Position, Result, StoredEvent

EVENTS_PER_PAGE = 2_000
"""How many events a replay reads at once."""

FAST_COMMIT_SECONDS = 0.004
"""A commit that is quicker than this is not worth a change of threads, which costs as much under load."""


_agents = schema.agents.c
OUTDATED_AGENT = select(_agents.id).where(_agents.kernel_version != KERNEL_VERSION).limit(1)
"""Whether anything was made by another version, which may have understood the same log otherwise."""

log = logging.getLogger(__name__)


class SqlJournal(SqlSearch, SqlPruning, SqlTokenStore):
    """What is remembered, in a database."""

    def __init__(self, url: str) -> None:
        dialect, address = dialects.dialect_for(url)
        super().__init__(dialect.make_engine(address), dialect)
        self._cache = WriterCache()
        self._writer: Connection | None = None
        self._first_error: Exception | None = None
        """Of the batch that runs: what follows it only says that there was one."""
        event.listen(self._engine, "handle_error", self._note_error)
        self._lock = threading.Lock()
        self._commit_seconds = FAST_COMMIT_SECONDS
        """How long a commit takes lately; at first it is not trusted to be quick."""
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")

    @property
    def is_shared(self) -> bool:
        """Whether other daemons write here too."""
        return self._dialect.is_shared

    def open(self, *, allow_partial_copy: bool = False) -> None:
        """Bring the database to this version: its schema, and what another kernel made of the log. One that is half
        copied is only opened to go on with that.
        """
        with translate_errors(self._dialect):
            self._dialect.check_database(self._engine)
            upgrade(self._engine)
            if allow_partial_copy:
                return
            with self._engine.connect() as connection:
                refuse_unfinished_copy(connection)
            if self._scalar(OUTDATED_AGENT) is not None:
                self._renew()

    # --- writing ---

    @contextmanager
    def transaction(self) -> Iterator[SqlTransaction]:
        """One batch: committed when the block ends, undone when it fails."""
        batch = self._begin()
        try:
            with self._told():
                yield batch
        except BaseException:
            self._undo()
            raise
        self._commit(batch)

    async def transact(self, work: Callable[[SqlTransaction], Result]) -> Result:
        """One batch, of which only what may wait runs in another thread (`docs/decisions/0003-one-writer.md`)."""
        loop = asyncio.get_running_loop()
        if not self._dialect.runs_on_event_loop:
            return await loop.run_in_executor(self._thread, self._work, work)
        batch = self._begin_at_once()
        if batch is None:
            batch = await loop.run_in_executor(self._thread, self._begin)
        try:
            with self._told():
                result = work(batch)
        except BaseException:
            await loop.run_in_executor(self._thread, self._undo)
            raise
        if self._commit_seconds < FAST_COMMIT_SECONDS:
            self._commit(batch)
        else:
            await loop.run_in_executor(self._thread, self._commit, batch)
        return result

    def _work(self, work: Callable[[SqlTransaction], Result]) -> Result:
        with self.transaction() as batch:
            return work(batch)

    def _begin(self) -> SqlTransaction:
        """Wait for our turn, and for other programs that write."""
        self._lock.acquire()
        patience = time.monotonic() + self._dialect.busy_timeout_seconds
        while True:
            try:
                return self._start()
            except JournalUnavailable:
                if time.monotonic() > patience:
                    self._lock.release()
                    raise
                time.sleep(0.01)

    def _begin_at_once(self) -> SqlTransaction | None:
        """Begin, if nobody is in the way."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            return self._start()
        except JournalUnavailable:
            self._lock.release()
            return None

    def _start(self) -> SqlTransaction:
        self._first_error = None
        try:
            with translate_errors(self._dialect):
                if self._writer is not None and not self._dialect.is_connected(self._writer):
                    self._let_go()
                self._writer = self._writer or self._dialect.connect_writer(self._engine)
                self._writer.begin()
                return (SharedTransaction if self._dialect.is_shared else SqlTransaction)(self._writer, self._cache)
        except JournalUnavailable:
            self._let_go()
            raise

    def _commit(self, batch: SqlTransaction) -> None:
        """Bring it to the disk; only then it is known."""
        if loss := self.storage_problem():
            self._refuse(batch, loss)
        started = time.perf_counter()
        try:
            with self._told():
                batch.connection.commit()
            self._commit_seconds += (time.perf_counter() - started - self._commit_seconds) / 8
            self._cache.update(batch.projection, batch.version)
        except BaseException:
            self._let_go()
            raise
        finally:
            self._lock.release()

    def _refuse(self, batch: SqlTransaction, loss: str) -> None:
        """Undo a batch whose file is gone. The connection stays: it keeps the file until that has its name again."""
        try:
            with self._told():
                batch.connection.rollback()
        finally:
            self._lock.release()
        raise JournalUnavailable(UNAVAILABLE, f"{MESSAGE_PREFIX}{loss}.", "Hooks wait in the spool meanwhile.")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """The troubles of a batch, in our words."""
        with translate_errors(self._dialect, lambda: self._first_error):
            yield

    def _note_error(self, context: ExceptionContext) -> None:
        """Of the batch itself: that a connection of the pool was found dead on the way to it is no error."""
        if context.connection is not None and context.connection is self._writer and self._first_error is None:
            self._first_error = context.sqlalchemy_exception

    def _undo(self) -> None:
        self._let_go()
        self._lock.release()

    def _let_go(self) -> None:
        """Drop the writer's connection with all that is not committed; the next batch takes a new one."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(SQLAlchemyError):
                writer.invalidate()
            writer.close()

    # --- bookmarks ---

    def save_positions(self, reader: str, positions: Mapping[str, Position]) -> None:
        """Keep how far a reader came."""
        with self.transaction() as batch:
            kept = [
                {"reader": reader, "path": rows.replace_nul(path), "offset": known.offset, "at": known.at}
                for path, known in positions.items()
            ]
            insert_rows(batch.connection, schema.positions, kept)

    # --- upkeep ---

    def verify(self) -> Iterator[Difference]:
        """Replay the log and compare it with the projections."""
        with translate_errors(self._dialect), self._snapshot() as connection:
            with search.expected_index(connection) as findable:
                projection, _ = _replayed(connection, findable.add)
                findable.flush()
                yield from search.index_differences(connection)
            for table, expected in projection.tables.items():
                yield from replay.compare(table, expected, connection.execute(select(table)).mappings().all())

    def rebuild(self, advance: Callable[[int], None] = lambda _events: None) -> int:
        """Make the projections anew from the log; `advance` is told how many events more were read."""
        with self.transaction() as batch:
            batch.lock_exclusively()
            count = _rebuild(batch.connection, advance)
        self._cache.clear()
        return count

    def _renew(self) -> None:
        """Rebuild, unless another daemon did so while we waited for our turn."""
        with self.transaction() as batch:
            batch.lock_exclusively()
            if batch.connection.execute(OUTDATED_AGENT).first() is not None:
                log.info("The journal is made anew from its log for this version. That may take a while.")
                _rebuild(batch.connection)
        self._cache.clear()

    @contextmanager
    def _snapshot(self) -> Iterator[Connection]:
        """A reading that sees one moment, however long it takes."""
        with self._engine.connect() as connection:
            moment = connection.execution_options(**self._dialect.snapshot_options)
            with moment.begin():
                yield moment

    def storage_problem(self) -> str:
        """What is the matter with its place."""
        return self._dialect.storage_problem()

    def abort_connections(self) -> None:
        """Wait no longer for a database that does not answer."""
        self._dialect.abort_connections()

    def close(self) -> None:
        """Let go of the database, cleanly."""
        with self._lock, translate_errors(self._dialect):
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            self._dialect.checkpoint(self._engine)
            self._engine.dispose()
        self._thread.shutdown()


def _rebuild(connection: Connection, advance: Callable[[int], None] = lambda _events: None) -> int:
    """Make anew what follows from the log; tells how many events it has."""
    search.clear_documents(connection)
    findable = search.DocumentBuffer(partial(search.add_documents, connection))
    projection, count = _replayed(connection, findable.add, advance)
    findable.flush()
    for table in schema.PROJECTIONS:
        connection.execute(table.delete())
    write_projection(connection, projection)
    return count


def _replayed(
    connection: Connection,
    find: Callable[[list[tuple[Document, str]]], None],
    advance: Callable[[int], None] = lambda _events: None,
) -> tuple[Projection, int]:
    events = _all_events(connection, advance)
    return replay.project(events, find, load_snapshots(connection), load_efforts_snapshot(connection))


def _all_events(connection: Connection, advance: Callable[[int], None]) -> Iterator[StoredEvent]:
    after = 0
    while True:
        found = connection.execute(event_query(None, after, EVENTS_PER_PAGE)[0]).mappings().all()
        yield from (rows.event_from_row(dict(row)) for row in found)
        advance(len(found))
        if len(found) < EVENTS_PER_PAGE:
            return
        after = found[-1]["seq"]
