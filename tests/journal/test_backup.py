"""A backup while the database is written: consistent, checked and usable."""

import sqlite3
import stat
import threading
from pathlib import Path

import pytest
from sqlalchemy import URL

from claude_headspace.errors import HeadspaceError
from claude_headspace.journal.backup import backup
from claude_headspace.journal.sql import SqlJournal
from claude_headspace.testing import START, hook
from tests.journals import opened, sqlite_journal, store


def test_a_backup_is_a_journal(tmp_path: Path) -> None:
    """One private file that passes `verify`."""
    database, target = tmp_path / "odd name #1?.db", tmp_path / "copy.db"
    journal = opened(SqlJournal(str(URL.create("sqlite", database=str(database)))))
    store(journal, hook("SessionStart"), hook("UserPromptSubmit", START + 1, prompt="Keep this"))
    progress: list[tuple[int, int]] = []
    size = backup(database, target, lambda done, total: progress.append((done, total)))
    journal.close()
    assert size == target.stat().st_size > 0
    assert progress[-1][0] == progress[-1][1] > 0
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    copy = sqlite_journal(target)
    assert [turn.text for turn in copy.turns()] == ["Keep this"]
    assert list(copy.verify()) == []
    copy.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.db", "odd name #1?.db"]


def test_a_backup_does_not_block_writers_and_is_consistent(tmp_path: Path) -> None:
    """While events arrive, every copy passes `verify`."""
    journal = sqlite_journal(tmp_path / "journal.db")
    ended = threading.Event()

    def write() -> None:
        number = 0
        while not ended.is_set():
            number += 1
            store(journal, hook("SessionStart", START + number, session_id=f"s{number % 5}", cwd=f"/{number % 5}"))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(3):
            backup(tmp_path / "journal.db", tmp_path / f"copy-{number}.db")
    finally:
        ended.set()
        writer.join()
        journal.close()
    for number in range(3):
        copy = sqlite_journal(tmp_path / f"copy-{number}.db")
        assert list(copy.verify()) == []
        copy.close()


def test_a_failed_backup_leaves_no_file(tmp_path: Path) -> None:
    """For a file that is not a database, and a missing one."""
    (tmp_path / "notes.txt").write_text("no database " * 1_000)
    for name in ("notes.txt", "missing.db"):
        with pytest.raises(HeadspaceError, match="could not be written"):
            backup(tmp_path / name, tmp_path / "copy.db")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_damaged_database_is_refused(tmp_path: Path) -> None:
    """A copy of damage is not a backup."""
    database = tmp_path / "broken.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.executemany("INSERT INTO t VALUES (?)", [("x" * 500,)] * 1_000)
    connection.close()
    raw = bytearray(database.read_bytes())
    raw[8_192:40_000] = b"\xff" * (40_000 - 8_192)
    database.write_bytes(raw)
    with pytest.raises(HeadspaceError, match=r"damaged|malformed"):
        backup(database, tmp_path / "copy.db")
    assert not (tmp_path / "copy.db").exists()
