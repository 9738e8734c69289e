"""The writing side of the journal on SQL: one connection, one transaction at a time.

Rules
- One batch runs at a time, from its start to its commit or rollback (`_lock`).
- The cache is updated after the commit, never before.
- An error drops the connection with everything that is not committed; the next batch opens a new one.
- On SQLite a batch runs on the event loop. Only what may block (another writer, a slow disk) runs in the writer's
  thread (`docs/decisions/0003-one-writer.md`). On PostgreSQL the whole batch runs there.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial

from sqlalchemy import Connection, ExceptionContext, event
from sqlalchemy.exc import SQLAlchemyError

from claude_headspace.errors import JournalUnavailable
from claude_headspace.journal import dialects
from claude_headspace.journal.dialects import MESSAGE_PREFIX, UNAVAILABLE, translate_errors
from claude_headspace.journal.reader import SqlReader
from claude_headspace.journal.shared_transaction import SharedTransaction
from claude_headspace.journal.transaction import SqlTransaction, WriterCache
from claude_headspace.ports import Result

FAST_COMMIT_SECONDS = 0.004
"""A faster commit stays on the event loop: under load a change of threads takes as long."""

RETRY_SECONDS = 0.01


class SqlWriter(SqlReader):
    """Runs transactions."""

    def __init__(self, url: str) -> None:
        dialect, address = dialects.dialect_for(url)
        super().__init__(dialect.make_engine(address), dialect)
        self.is_shared = dialect.is_shared
        self._cache = WriterCache()
        self._writer: Connection | None = None
        self._first_error: Exception | None = None
        """The first error of the running batch: the root cause, of which later errors are consequences."""
        event.listen(self._engine, "handle_error", self._record_first_error)
        self._translate_batch_errors = partial(translate_errors, self._dialect, lambda: self._first_error)
        self._lock = threading.Lock()
        self._commit_seconds = FAST_COMMIT_SECONDS
        """A moving average. The first commits run in the writer's thread, until they prove fast."""
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="journal")

    @contextmanager
    def transaction(self) -> Iterator[SqlTransaction]:
        batch = self._begin()
        try:
            with self._translate_batch_errors():
                yield batch
        except BaseException:
            self._roll_back()
            raise
        self._commit(batch)

    async def transact(self, work: Callable[[SqlTransaction], Result]) -> Result:
        loop = asyncio.get_running_loop()
        if not self._dialect.runs_on_event_loop:
            return await loop.run_in_executor(self._thread, self._run, work)
        batch = self._try_begin()
        if batch is None:
            batch = await loop.run_in_executor(self._thread, self._begin)
        try:
            with self._translate_batch_errors():
                result = work(batch)
        except BaseException:
            await loop.run_in_executor(self._thread, self._roll_back)
            raise
        if self._commit_seconds < FAST_COMMIT_SECONDS:
            self._commit(batch)
        else:
            await loop.run_in_executor(self._thread, self._commit, batch)
        return result

    def close(self) -> None:
        with self._lock, translate_errors(self._dialect):
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            self._dialect.checkpoint(self._engine)
            self._engine.dispose()
        self._thread.shutdown()

    def _run(self, work: Callable[[SqlTransaction], Result]) -> Result:
        with self.transaction() as batch:
            return work(batch)

    def _begin(self) -> SqlTransaction:
        """Start a batch; waits for other batches, and a while for other programs that write to the database."""
        self._lock.acquire()
        deadline = time.monotonic() + self._dialect.busy_timeout_seconds
        while True:
            try:
                with self._translate_batch_errors():
                    return self._start()
            except JournalUnavailable:
                if time.monotonic() > deadline:
                    self._lock.release()
                    raise
                time.sleep(RETRY_SECONDS)

    def _try_begin(self) -> SqlTransaction | None:
        """Start a batch, if that is possible without waiting."""
        if not self._lock.acquire(blocking=False):
            return None
        try:
            return self._start()
        except self._dialect.errors:
            self._lock.release()
            return None

    def _start(self) -> SqlTransaction:
        self._first_error = None
        try:
            if self._writer is not None and self._dialect.is_shared and not self._dialect.is_connected(self._writer):
                self._drop_connection()
            self._writer = self._writer or self._dialect.connect_writer(self._engine)
            self._writer.begin()
            return (SharedTransaction if self._dialect.is_shared else SqlTransaction)(self._writer, self._cache)
        except self._dialect.errors:
            self._drop_connection()
            raise

    def _commit(self, batch: SqlTransaction) -> None:
        if problem := self._dialect.storage_problem():
            self._refuse(batch, problem)
        started = time.perf_counter()
        try:
            with self._translate_batch_errors():
                batch.connection.commit()
            self._commit_seconds += (time.perf_counter() - started - self._commit_seconds) / 8
            self._cache.update(batch.row_changes, batch.version)
        except BaseException:
            self._drop_connection()
            raise
        finally:
            self._lock.release()

    def _refuse(self, batch: SqlTransaction, problem: str) -> None:
        """Roll back a batch whose file is missing. The connection stays open: it keeps the file's content alive until
        the file is put back.
        """
        try:
            with self._translate_batch_errors():
                batch.connection.rollback()
        finally:
            self._lock.release()
        raise JournalUnavailable(
            UNAVAILABLE, f"{MESSAGE_PREFIX}{problem}.", "Restore the file. Events are kept in the spool."
        )

    def _record_first_error(self, context: ExceptionContext) -> None:
        """Only errors of the batch's own connection: a dead connection found in the pool is replaced without harm."""
        if context.connection is not None and context.connection is self._writer and self._first_error is None:
            self._first_error = context.sqlalchemy_exception

    def _roll_back(self) -> None:
        self._drop_connection()
        self._lock.release()

    def _drop_connection(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            with suppress(SQLAlchemyError):
                writer.invalidate()
            writer.close()
