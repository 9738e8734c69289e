"""A database for oneself: nobody else has it open when a journal is copied.

Daemons on PostgreSQL hold a lock together for as long as they listen; whoever copies wants it alone. A SQLite file says
so itself: its write-ahead log can be put away only while nobody else has it open. The next who opens it begins a new
one.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import URL
from sqlalchemy.exc import ArgumentError

from claude_headspace.errors import BadRequest
from claude_headspace.journal.dialects import DAEMON_LOCK, Postgres, dialect_for

LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_same_database(one: str, other: str) -> bool:
    """Whether two addresses mean the same database."""
    places = [_place(url) for address in (one, other) if (url := _url(address)) is not None]
    return len(places) == 2 and places[0] == places[1]


def _url(address: str) -> URL | None:
    """An address, if it is one; what is none is told of by who opens the journal."""
    with suppress(ArgumentError):
        return dialect_for(address)[1]
    return None


def _place(url: URL) -> tuple[object, ...]:
    if url.get_backend_name() == "sqlite":
        return ("sqlite", Path(url.database or "").resolve())
    named = [url.query.get(name, "") for name in ("host", "port", "dbname", "service")]
    return ("postgresql", url.host or "", url.port or 5432, url.database or url.username or "", *named)


@contextmanager
def exclusive_access(address: str, shown: str) -> Iterator[None]:
    """Keep a database for oneself; refuses one that somebody uses."""
    url = _url(address)
    if url is None:
        yield
    elif url.get_backend_name() == "sqlite":
        if _is_open(Path(url.database or "")):
            raise _in_use(shown)
        yield
    else:
        with _locked(url, shown):
            yield


def _in_use(shown: str) -> BadRequest:
    return BadRequest(
        "in_use",
        f"{shown} is in use.",
        "Stop every daemon on it (headspace down), then run the same command again. A copy of a SQLite file in use: "
        "headspace db backup FILE",
        status=409,
    )


def _is_open(path: Path) -> bool:
    """Whether another program has the file open. One that is no database is not ours to judge."""
    if not path.exists():
        return False
    connection = sqlite3.connect(path, timeout=0.2, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=DELETE").fetchone()
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorcode & 0xFF in LOCKED
    finally:
        connection.close()
    return False


@contextmanager
def _locked(url: URL, shown: str) -> Iterator[None]:
    """A server that cannot be reached is told of by who opens the journal."""
    import psycopg

    connection = None
    told = {name: value for name, value in Postgres.connection_options.items() if name not in url.query}
    plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
    with suppress(psycopg.OperationalError):
        connection = psycopg.connect(plain, autocommit=True, **told)
    if connection is None:
        yield
        return
    with connection:
        found = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", DAEMON_LOCK).fetchone()
        if found is None or not found[0]:
            raise _in_use(shown)
        yield
