"""Copies a SQLite journal while it is in use, with SQLite's backup API: a consistent, checked copy."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from claude_headspace.errors import HeadspaceError

PAGES_AT_ONCE = 2_000


def backup(database: Path, target: Path, advance: Callable[[int, int], None] = lambda _done, _total: None) -> int:
    """Write a copy; returns its size in bytes. Does not block writers."""
    draft = target.with_name(f"{target.name}.part")
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600)
    try:
        with closing(sqlite3.connect(_read_only(database), uri=True, isolation_level=None)) as source:
            source.execute("BEGIN")  # a read transaction: without it every write would restart the copy
            source.execute("SELECT count(*) FROM sqlite_master").fetchone()
            with closing(sqlite3.connect(draft)) as copy:
                source.backup(
                    copy, pages=PAGES_AT_ONCE, progress=lambda _state, left, total: advance(total - left, total)
                )
                _check(copy)
        draft.replace(target)
    except sqlite3.Error as error:
        raise HeadspaceError(
            "backup_failed", f"The backup could not be written: {error}.", "Check the free disk space, and try again."
        ) from error
    finally:
        draft.unlink(missing_ok=True)
    return target.stat().st_size


def _read_only(database: Path) -> str:
    return f"{database.absolute().as_uri()}?mode=ro"


def _check(copy: sqlite3.Connection) -> None:
    [found] = copy.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise sqlite3.DatabaseError(f"the copy is damaged ({found})")
    copy.execute("PRAGMA journal_mode=DELETE")  # a single file, without a write-ahead log
