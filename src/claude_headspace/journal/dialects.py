"""What differs between the databases. Everything else of the journal is plain SQLAlchemy Core.

`Sqlite` is one file with one writing program: this one. `Postgres` is shared: any number of daemons write to it, so a
batch takes locks, in one order for all, before it reads what it will change.

Order of the locks, so that no two batches ever wait for each other
    1. the journal as a whole: shared by batches, exclusive for a rebuild
    2. identities and deliveries, by the number of their bucket
    3. projects in which a newcomer's agent is looked for
    4. the rows of agents, by id
    5. names, when an agent is named
    6. the counter of the sequence, whose holder is the next to commit
"""

import os
import select
import socket
import sqlite3
import zlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from claude_headspace.errors import JournalUnavailable
from claude_headspace.journal.values import replace_nul

CHANNEL = "headspace"
"""On which PostgreSQL tells that something was announced."""

LOCK_BUCKETS = 1_024
"""Identities share so many locks: PostgreSQL has room for some thousands at a time, and a collision costs nothing."""


_PASSING = frozenset(
    (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,  # its companions cannot be made; that its directory is there was seen before
    )
)


class Sqlite:
    """One file beside the daemon: durable, and quick about it."""

    is_shared = False
    runs_on_event_loop = True
    """Its statements only touch memory: a batch need not leave the loop's thread (`docs/decisions/0003`)."""
    busy_timeout_seconds = 5.0
    """How long another program may keep the database from us."""
    errors: tuple[type[Exception], ...] = (sqlite3.Error,)
    snapshot_options: Mapping[str, Any] = {}
    """How a long reading sees one moment: here every transaction does."""
    pragmas = (
        "journal_mode=WAL",
        "synchronous=FULL",
        "busy_timeout=5000",
        "cache_size=-4096",
        # Whoever commits when the write-ahead log is that long waits until it is folded in: at 4,000 pages a hundredth
        # of the answers was late by tens of milliseconds, and no more events a second came in.
        "wal_autocheckpoint=1000",
    )

    def __init__(self) -> None:
        self._path = ""
        self._file: tuple[int, int] | None = None
        """Which file it is, whatever its name: the first that was opened."""

    def is_transient(self, error: BaseException) -> bool:
        """Whether it is a trouble of the moment: another program, a full disk, one that cannot be written."""
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in _PASSING

    def make_engine(self, url: URL) -> Engine:
        """Full durability: a batch is on the disk before anybody is answered. Group commit makes that cheap."""
        engine = create_engine(url)
        self._path = str(Path(url.database or "").absolute())  # `dialect_of` saw that it names one
        if not Path(self._path).exists():
            Path(self._path).touch(mode=0o600)

        @event.listens_for(engine, "do_connect")
        def _find(_dialect: object, _record: object, _arguments: Any, options: dict[str, Any]) -> Any:
            """Only what is there is opened: a file that goes away is not replaced by an empty one."""
            return sqlite3.connect(f"{Path(self._path).as_uri()}?mode=rw", **{**options, "uri": True})

        @event.listens_for(engine, "connect")
        def _connect(connection: Any, _record: object) -> None:
            connection.isolation_level = None  # we say BEGIN ourselves, below
            for pragma in self.pragmas:
                connection.execute(f"PRAGMA {pragma}")
            self._file = self._file or _file_at(self._path)

        @event.listens_for(engine, "begin")
        def _begin(connection: Connection) -> None:
            writes = connection.get_execution_options().get("writes")
            connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

        return engine

    def connect_writer(self, engine: Engine) -> Connection:
        """The writer waits where nobody else has to, not inside SQLite."""
        writer = engine.connect().execution_options(writes=True)
        for pragma in ("busy_timeout=0", "cache_size=-8192"):
            writer.connection.cursor().execute(f"PRAGMA {pragma}")
        return writer

    def check_database(self, _engine: Engine) -> None:
        """Any file will do."""

    def is_connected(self, _writer: Connection) -> bool:
        """A file does not hang up."""
        return True

    def storage_problem(self) -> str:
        """What is the matter if its file is no more where it was: SQLite would go on writing into one without a name.
        One look costs a microsecond or two.
        """
        found = _file_at(self._path)
        if found == self._file or self._file is None:
            return ""
        if found is None:
            return f"{self._path} is gone; put it back, or `headspace down && headspace up` begins a new one"
        return f"{self._path} is another file now; put the first one back, or `headspace down && headspace up` takes it"

    def abort_connections(self) -> None:
        """A file answers."""

    def checkpoint(self, engine: Engine) -> None:
        """Fold the write-ahead log into the file."""
        if self.storage_problem():
            return
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


def _file_at(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116  # at every commit: a `Path` would take longer than the look itself
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Postgres:
    """A server that many daemons share."""

    is_shared = True
    runs_on_event_loop = False
    busy_timeout_seconds = 0.0
    snapshot_options: Mapping[str, Any] = {"isolation_level": "REPEATABLE READ"}
    session_options = "-c lock_timeout=10s -c idle_in_transaction_session_timeout=30s"
    """A daemon that hangs in the middle of a batch does not keep the others waiting for ever."""
    connection_options: Mapping[str, Any] = {
        "connect_timeout": 5,
        "keepalives_idle": 10,
        "keepalives_interval": 5,
        "keepalives_count": 3,
        "tcp_user_timeout": 15_000,
        "application_name": "headspace",
        "client_encoding": "UTF8",
    }
    """A server that fell silent is noticed within seconds; what the address itself says wins."""

    def __init__(self) -> None:
        self._open: set[Any] = set()
        """The connections that there are."""

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What the driver raises where SQLAlchemy is not in between."""
        import psycopg

        return (psycopg.Error,)

    def is_transient(self, error: BaseException) -> bool:
        """Whether it is a trouble of the moment: the server is not there, or has no room for us."""
        import psycopg

        return isinstance(error, psycopg.OperationalError)

    def make_engine(self, url: URL) -> Engine:
        """A pool whose connections are asked for a sign of life before they are used."""
        told = {name: value for name, value in self.connection_options.items() if name not in url.query}
        options = f"{self.session_options} {url.query.get('options', '')}".strip()
        engine = create_engine(
            url.difference_update_query(["options"]),
            pool_pre_ping=True,
            connect_args={**told, "options": options},
        )

        @event.listens_for(engine, "before_cursor_execute", retval=True)
        def _ask(
            _connection: Connection, _cursor: Any, statement: str, given: Any, _context: Any, _many: bool
        ) -> tuple[str, Any]:
            return statement, _storable(given)

        @event.listens_for(engine, "connect")
        def _connect(connection: Any, _record: object) -> None:
            self._open.add(connection)

        @event.listens_for(engine, "close")
        def _close(connection: Any, _record: object) -> None:
            self._open.discard(connection)

        return engine

    def check_database(self, engine: Engine) -> None:
        """What was said is in all scripts of the world, so the database must have room for them."""
        with engine.connect() as connection:
            encoding = connection.exec_driver_sql("SHOW server_encoding").scalar_one()
        if encoding != "UTF8":
            name = engine.url.database or "headspace"
            raise JournalUnavailable(
                "database_not_utf8",
                f"The database {name} keeps its text as {encoding}, in which not everything can be written.",
                f"Use one that is UTF8, as `createdb -E UTF8 -T template0 {name}` makes it under a name that is free.",
            )

    def is_connected(self, writer: Connection) -> bool:
        """Whether the server has not hung up on us since. It is not asked, which would take a way there and back for
        every batch: if it has, its farewell lies there to be read.
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
        """A server has no file that we could miss."""
        return ""

    def abort_connections(self) -> None:
        """Hang up on a server that does not answer: whoever waits for it is told so."""
        for connection in list(self._open):
            with suppress(OSError, self.errors[0]), socket.socket(fileno=os.dup(connection.pgconn.socket)) as line:
                line.shutdown(socket.SHUT_RDWR)

    def connect_writer(self, engine: Engine) -> Connection:
        """A connection of the pool."""
        return engine.connect()

    def checkpoint(self, _engine: Engine) -> None:
        """The server looks after itself."""


def _storable(given: Any) -> Any:
    """Values as PostgreSQL takes them: whoever asks for a text with a NUL means the one that was stored for it."""
    if isinstance(given, str):
        return replace_nul(given)
    if isinstance(given, dict):
        return {name: _storable(value) for name, value in given.items()}
    return type(given)(map(_storable, given)) if isinstance(given, list | tuple) else given


Dialect = Sqlite | Postgres


BACKENDS: Mapping[str, tuple[type[Dialect], str]] = {
    "sqlite": (Sqlite, "sqlite"),
    "postgresql": (Postgres, "postgresql+psycopg"),
    "postgres": (Postgres, "postgresql+psycopg"),
}
"""What an address begins with: the kind of database, and the driver that we use."""


def dialect_for(url: str) -> tuple[Dialect, URL]:
    """How to speak to a database, and its address."""
    try:
        address = make_url(url)
    except (ArgumentError, ValueError) as error:  # the latter for a port that is no number
        raise ArgumentError("that is no address of a database") from error
    if (name := address.get_backend_name()) not in BACKENDS:
        raise ArgumentError(f"Headspace does not keep its journal in {name}")
    dialect, driver = BACKENDS[name]
    if dialect is Sqlite and address.database in (None, "", ":memory:"):
        raise ArgumentError("it names no file")
    return dialect(), address.set(drivername=driver)


# --- locks of PostgreSQL ----------------------------------------------------------------------------------------------

_JOURNAL, _IDENTITIES, _PROJECTS, _NAMES, HOST_LOCK, OWNER_LOCK = (0x4853_0000 + number for number in range(6))
"""The kinds of locks; the last two last as long as a daemon (`naming`)."""

DAEMON_LOCK = (_JOURNAL, 1)
"""Held by every daemon for as long as it listens, not by batches: nobody copies a journal meanwhile (`reserving`)."""


def lock_journal(connection: Connection) -> None:
    """Be alone: no batch runs until this transaction is over."""
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s, 0)", (_JOURNAL,))


def lock_identities(connection: Connection, keys: Iterable[str]) -> None:
    """Begin a batch that is about these; whoever is about one of them waits."""
    connection.exec_driver_sql(
        "SELECT pg_advisory_xact_lock_shared(%s, 0) UNION ALL SELECT pg_advisory_xact_lock(%s, bucket)"
        " FROM unnest(%s::int[]) AS bucket",
        (_JOURNAL, _IDENTITIES, _buckets(keys)),
    )


def lock_projects(connection: Connection, keys: Iterable[str]) -> None:
    """Be the only one who looks for an agent in these projects."""
    connection.exec_driver_sql(
        "SELECT pg_advisory_xact_lock(%s, bucket) FROM unnest(%s::int[]) AS bucket", (_PROJECTS, _buckets(keys))
    )


def lock_names(connection: Connection) -> None:
    """Be the only one who gives names."""
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s, 0)", (_NAMES,))


def _buckets(keys: Iterable[str]) -> list[int]:
    """In order: an unnested array is worked through from its beginning."""
    return sorted({zlib.crc32(key.encode("utf-8", "replace")) % LOCK_BUCKETS for key in keys})
