"""The differences between SQLite and PostgreSQL, and their errors. The rest of the journal is plain SQLAlchemy Core.

`Sqlite` is a file that one daemon writes to. `Postgres` is shared by any number of daemons, so a batch locks what it
will change before it reads it.

Lock order of all batches, which prevents deadlocks
    1. the journal as a whole: shared by batches, exclusive for a rebuild
    2. identities and delivery ids, by bucket number
    3. projects that are searched for the agent of an unknown session
    4. rows of agents, by id
    5. names, if the batch assigns one
    6. the sequence counter; its owner is the next to commit
"""

import errno
import os
import re
import select
import socket
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from claude_headspace.errors import JournalUnavailable
from claude_headspace.journal.rows import replace_nul

CHANNEL = "headspace"
"""The channel on which PostgreSQL notifies of commits."""

LOCK_BUCKETS = 1_024
"""Identities share this many locks: PostgreSQL has room for a few thousand, and a collision only costs a short wait."""


_TRANSIENT_CODES = frozenset(
    (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,  # its WAL files cannot be created; `make_engine` has checked the directory
    )
)


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES)
"""Why a file cannot be created at the moment. Opening it reports that."""


class Sqlite:
    """A local file with one writer."""

    is_shared = False
    runs_on_event_loop = True
    """Statements before the commit only touch memory, so a batch may run on the event loop (`docs/decisions/0003`)."""
    busy_timeout_seconds = 5.0
    """How long to wait for another program that writes to the database."""
    errors: tuple[type[Exception], ...] = (SQLAlchemyError, sqlite3.Error)
    """The errors of SQLAlchemy, and of the driver where it is used directly."""
    snapshot_options: Mapping[str, Any] = {}
    """Options for a consistent read over several queries. On SQLite every transaction is one."""
    pragmas = (
        "journal_mode=WAL",
        "synchronous=FULL",
        "busy_timeout=5000",
        "cache_size=-4096",
        # The commit that reaches this many pages also runs the checkpoint. At 4,000 pages one in a hundred replies was
        # late by tens of milliseconds, and throughput was no higher.
        "wal_autocheckpoint=1000",
    )

    def __init__(self) -> None:
        self._path = ""
        self._file: tuple[int, int] | None = None
        """Device and inode of the file that was opened first."""
        self._is_missing = False
        """Whether the file could not be created yet."""

    def is_transient(self, error: BaseException) -> bool:
        """Whether an error may disappear without a restart: another program, a full or read-only disk."""
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in _TRANSIENT_CODES

    def make_engine(self, url: URL) -> Engine:
        """An engine with full durability: a commit returns after the batch is on disk."""
        engine = create_engine(url)
        self._path = str(Path(url.database or "").absolute())  # never empty: `dialect_for` checks
        if not Path(self._path).exists():
            try:
                Path(self._path).touch(mode=0o600)
            except OSError as error:
                if error.errno not in _NO_ROOM:
                    raise
                self._is_missing = True

        @event.listens_for(engine, "do_connect")
        def _connect(_dialect: object, _record: object, _arguments: Any, options: dict[str, Any]) -> Any:
            """Open existing files only: a file that disappears is not replaced by an empty one."""
            return sqlite3.connect(f"{Path(self._path).as_uri()}?mode=rw", **{**options, "uri": True})

        @event.listens_for(engine, "connect")
        def _configure(connection: Any, _record: object) -> None:
            connection.isolation_level = None  # `_begin` below sends BEGIN
            for pragma in self.pragmas:
                connection.execute(f"PRAGMA {pragma}")
            self._file = self._file or _file_at(self._path)

        @event.listens_for(engine, "begin")
        def _begin(connection: Connection) -> None:
            writes = connection.get_execution_options().get("writes")
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

        return engine

    def connect_writer(self, engine: Engine) -> Connection:
        """The writer's connection. It does not wait inside SQLite, which would block the event loop."""
        writer = engine.connect().execution_options(writes=True)
        for pragma in ("busy_timeout=0", "cache_size=-8192"):
            writer.connection.cursor().execute(f"PRAGMA {pragma}")
        return writer

    def check_database(self, _engine: Engine) -> None:
        """Use the file that exists now. Create it only if there was none and no room for it."""
        self._file = None
        if self._is_missing:
            with suppress(OSError):
                Path(self._path).touch(mode=0o600)
                self._is_missing = False

    def is_connected(self, _writer: Connection) -> bool:
        """Always: a file has no connection to lose."""
        return True

    def storage_problem(self) -> str:
        """Why the file cannot be used: it was removed or replaced. SQLite itself would keep writing to the old file.

        Runs before every commit; the check takes one or two microseconds.
        """
        found = _file_at(self._path)
        if found == self._file or self._file is None:
            return ""
        if found is None:
            return f"{self._path} was removed; put it back, or run `headspace down && headspace up` to start a new one"
        return (
            f"{self._path} was replaced; put the old file back, or run `headspace down && headspace up` to use this one"
        )

    def abort_connections(self) -> None:
        """No-op: a file has no connections to abort."""

    def checkpoint(self, engine: Engine) -> None:
        """Move the content of the write-ahead log into the database file."""
        if self.storage_problem():
            return
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


def _file_at(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  # runs at every commit; creating a `Path` takes longer than the call
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Postgres:
    """A server that several daemons share."""

    is_shared = True
    runs_on_event_loop = False
    busy_timeout_seconds = 0.0
    snapshot_options: Mapping[str, Any] = {"isolation_level": "REPEATABLE READ"}
    session_options = "-c lock_timeout=10s -c idle_in_transaction_session_timeout=30s"
    """A daemon that hangs in the middle of a batch does not block the others for ever."""
    connection_options: Mapping[str, Any] = {
        "connect_timeout": 5,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 15_000,
        "application_name": "headspace",
        "client_encoding": "UTF8",
    }
    """A server that stops responding is noticed within seconds. Parameters of the address override these."""

    def __init__(self) -> None:
        self._connections: set[Any] = set()

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """The errors of SQLAlchemy, and of the driver where it is used directly."""
        import psycopg

        return SQLAlchemyError, psycopg.Error

    def is_transient(self, error: BaseException) -> bool:
        """Whether an error may disappear without a restart: the server is unreachable or has no free connection."""
        import psycopg

        return isinstance(error, psycopg.OperationalError)

    def make_engine(self, url: URL) -> Engine:
        """An engine whose pool tests connections before use."""
        defaults = {name: value for name, value in self.connection_options.items() if name not in url.query}
        options = f"{self.session_options} {url.query.get('options', '')}".strip()
        engine = create_engine(
            url.difference_update_query(["options"]),
            pool_pre_ping=True,
            connect_args={**defaults, "options": options},
        )

        @event.listens_for(engine, "before_cursor_execute", retval=True)
        def _replace_nul(
            _connection: Connection, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool
        ) -> tuple[str, Any]:
            return statement, _replace_nul_in(parameters)

        @event.listens_for(engine, "connect")
        def _connect(connection: Any, _record: object) -> None:
            self._connections.add(connection)

        @event.listens_for(engine, "close")
        def _close(connection: Any, _record: object) -> None:
            self._connections.discard(connection)

        return engine

    def check_database(self, engine: Engine) -> None:
        """Refuse a database that cannot store every Unicode character."""
        with engine.connect() as connection:
            encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
        if encoding != "UTF8":
            name = engine.url.database or "headspace"
            raise JournalUnavailable(
                "database_not_utf8",
                f"The database {name} has the encoding {encoding}, which cannot store every character.",
                f"Create a UTF8 database under another name: `createdb -E UTF8 -T template0 {name}_utf8`.",
            )

    def is_connected(self, writer: Connection) -> bool:
        """Whether the server still has the connection open.

        Without a round trip: if the server has closed it, its last message is waiting in the socket.
        """
        line = writer.connection.driver_connection.pgconn  # type: ignore[union-attr]  # psycopg's own
        try:
            watched = select.poll()
            watched.register(line.socket, select.POLLIN)
            while watched.poll(0):
                line.consume_input()
        except self.errors:
            return False
        return True

    def storage_problem(self) -> str:
        """Always empty: there is no local file to check."""
        return ""

    def abort_connections(self) -> None:
        """Shut the sockets down, so that pending calls fail immediately."""
        for connection in list(self._connections):
            with suppress(OSError, *self.errors), socket.socket(fileno=os.dup(connection.pgconn.socket)) as line:
                line.shutdown(socket.SHUT_RDWR)

    def connect_writer(self, engine: Engine) -> Connection:
        """The writer's connection, from the pool."""
        return engine.connect()

    def checkpoint(self, _engine: Engine) -> None:
        """No-op: the server does this itself."""


def _replace_nul_in(parameters: Any) -> Any:
    """Statement parameters without NUL, so that a query for a text finds the stored form of it."""
    if isinstance(parameters, str):
        return replace_nul(parameters)
    if isinstance(parameters, dict):
        return {name: _replace_nul_in(value) for name, value in parameters.items()}
    return type(parameters)(map(_replace_nul_in, parameters)) if isinstance(parameters, list | tuple) else parameters


Dialect = Sqlite | Postgres


BACKENDS: Mapping[str, tuple[type[Dialect], str]] = {
    "sqlite": (Sqlite, "sqlite"),
    "postgresql": (Postgres, "postgresql+psycopg"),
    "postgres": (Postgres, "postgresql+psycopg"),
}
"""URL scheme → dialect and SQLAlchemy driver."""


def dialect_for(url: str) -> tuple[Dialect, URL]:
    """The dialect for a database URL, and the URL with our driver."""
    try:
        address = make_url(url)
    except (ArgumentError, ValueError) as error:  # ValueError: the port is not a number
        raise ArgumentError("not a database address") from error
    if (name := address.get_backend_name()) not in BACKENDS:
        raise ArgumentError(f"Headspace does not support {name}")
    dialect, driver = BACKENDS[name]
    if dialect is Sqlite and address.database in (None, "", ":memory:"):
        raise ArgumentError("the address has no file")
    return dialect(), address.set(drivername=driver)


# --- errors -----------------------------------------------------------------------------------------------------------

UNAVAILABLE, UNUSABLE = "journal_unavailable", "database_unusable"
"""Error codes: may disappear without a restart, or not."""

MESSAGE_PREFIX = "The database cannot be used: "


@contextmanager
def translate_errors(dialect: Dialect, cause: Callable[[], Exception | None] = lambda: None) -> Iterator[None]:
    """Turn every database error into `JournalUnavailable`; `cause` gives the root cause, if it is known."""
    try:
        yield
    except dialect.errors as last:
        error = cause() or last
        original = getattr(error, "orig", None) or error
        raise JournalUnavailable(
            UNAVAILABLE if dialect.is_transient(original) else UNUSABLE,
            f"{MESSAGE_PREFIX}{(str(original).splitlines() or [type(error).__name__])[0]}",
            hint_for(str(original)),
        ) from error


HINTS = (
    (
        "not a database|malformed",
        "Restore a backup, or move the file away and run `headspace down && headspace up` to start with an empty one. "
        "Until then events wait in the spool, and the guards work.",
    ),
    (r'database "(.*)" does not exist', r"Create it with `createdb -E UTF8 \1` on the server, or correct the address."),
    (r'role "(.*)" does not exist', r"Create it with `createuser \1` on the server, or correct the address."),
    ("password|authentication failed", "Check the user, and the password in `~/.pgpass` or in the address."),
    (r"pg_hba\.conf", "Allow this machine in the server's `pg_hba.conf`."),
    (
        "refused|resolve|translate host|timeout expired|unreachable|No route|No such file|starting up|shutting down"
        "|closed|terminating",
        "Check that the server is running and the address is correct.",
    ),
    ("too many clients|connection slots", "Raise `max_connections` on the server."),
    ("read-only transaction", "This server is read-only: use the primary server, or make this one writable."),
    (
        "permission denied",
        "The user must own the database or be allowed to create tables in it: `createdb -E UTF8 -O USER NAME`.",
    ),
    (
        "connection failed|connection is bad",
        "Check that the server is running, and that the address, the user and the password are correct.",
    ),
)
"""Pattern of the error message → what to do. The message decides, because a refused connection has no error code.
Messages in other languages get the default hint.
"""

DEFAULT_HINT = "Check `headspace logs`, the free disk space, and whether the database is writable."


def hint_for(message: str) -> str:
    """What to do about an error message."""
    for pattern, hint in HINTS:
        if found := re.search(pattern, message):
            return found.expand(hint)
    return DEFAULT_HINT


# --- locks of PostgreSQL ----------------------------------------------------------------------------------------------

_JOURNAL, _IDENTITIES, _PROJECTS, _NAMES, HOST_LOCK, OWNER_LOCK = (0x4853_0000 + number for number in range(6))
"""The kinds of advisory locks. The last two are locked while a daemon runs (`host_lease`)."""

DAEMON_LOCK = (_JOURNAL, 1)
"""Locked (shared) by every daemon while it runs, so that the journal is not copied (`exclusive_access`)."""


def lock_journal(connection: Connection) -> None:
    """Wait until no batch runs, and let none start until this transaction ends."""
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s, 0)", (_JOURNAL,))


def lock_identities(connection: Connection, keys: Iterable[str]) -> None:
    """Lock these identities and delivery ids, and share the lock of the journal."""
    connection.exec_driver_sql(
        "SELECT pg_advisory_xact_lock_shared(%s, 0) UNION ALL SELECT pg_advisory_xact_lock(%s, bucket)"
        " FROM unnest(%s::int[]) AS bucket",
        (_JOURNAL, _IDENTITIES, _buckets(keys)),
    )


def lock_projects(connection: Connection, keys: Iterable[str]) -> None:
    """Lock the search for agents in these projects."""
    connection.exec_driver_sql(
        "SELECT pg_advisory_xact_lock(%s, bucket) FROM unnest(%s::int[]) AS bucket", (_PROJECTS, _buckets(keys))
    )


def lock_names(connection: Connection) -> None:
    """Lock the assignment of names."""
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s, 0)", (_NAMES,))


def _buckets(keys: Iterable[str]) -> list[int]:
    """Sorted, because `unnest` locks in the order of the array."""
    return sorted({zlib.crc32(key.encode("utf-8", "replace")) % LOCK_BUCKETS for key in keys})
