"""Exclusive access to a database while a journal is copied.

On PostgreSQL every running daemon shares an advisory lock; a copy takes it exclusively. On SQLite switching off the
write-ahead log succeeds only if no other program has the file open; the next journal that opens it switches it on.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import URL
from sqlalchemy.exc import ArgumentError

from claude_headspace.errors import BadRequest
from claude_headspace.journal.dialects import DAEMON_LOCK, Postgres, dialect_for

if TYPE_CHECKING:
    import psycopg

RELEASE_SECONDS = 3.0
"""How long PostgreSQL may keep the lock of a daemon that has ended."""
RETRY_SECONDS = 0.1

LOCKED_CODES = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_same_database(one: str, other: str) -> bool:
    """Whether two addresses name the same database."""
    keys = [_database_key(url) for address in (one, other) if (url := _url(address)) is not None]
    return len(keys) == 2 and keys[0] == keys[1]


def _url(address: str) -> URL | None:
    """The URL of an address; None if it is invalid, which opening the journal reports."""
    with suppress(ArgumentError):
        return dialect_for(address)[1]
    return None


def _database_key(url: URL) -> tuple[object, ...]:
    if url.get_backend_name() == "sqlite":
        return ("sqlite", Path(url.database or "").resolve())
    overrides = [url.query.get(name, "") for name in ("host", "port", "dbname", "service")]
    return ("postgresql", url.host or "", url.port or 5432, url.database or url.username or "", *overrides)


@contextmanager
def exclusive_access(address: str, shown: str) -> Iterator[None]:
    """Keep other users out of a database; raises `BadRequest` if it is in use. `shown` names it in the error."""
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
        "Stop every daemon that uses it (headspace down), then run the same command again. To copy a SQLite file "
        "while it is in use: headspace db backup FILE",
        status=409,
    )


def _is_open(path: Path) -> bool:
    """Whether another program has the file open. A file that is not a database is reported when it is opened."""
    if not path.exists():
        return False
    connection = sqlite3.connect(path, timeout=0.2, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode=DELETE").fetchone()
    except sqlite3.DatabaseError as error:
        return error.sqlite_errorcode & 0xFF in LOCKED_CODES
    finally:
        connection.close()
    return False


@contextmanager
def _locked(url: URL, shown: str) -> Iterator[None]:
    """Take the lock. A server that cannot be reached is reported when the journal is opened."""
    import psycopg

    connection = None
    defaults = {name: value for name, value in Postgres.connection_options.items() if name not in url.query}
    plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
    with suppress(psycopg.OperationalError):
        connection = psycopg.connect(plain, autocommit=True, **defaults)
    if connection is None:
        yield
        return
    with connection:
        deadline = time.monotonic() + RELEASE_SECONDS
        while not _takes_lock(connection):
            if time.monotonic() >= deadline:
                raise _in_use(shown)
            time.sleep(RETRY_SECONDS)
        yield


def _takes_lock(connection: "psycopg.Connection[tuple[object, ...]]") -> bool:
    found = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", DAEMON_LOCK).fetchone()
    return found is not None and bool(found[0])
