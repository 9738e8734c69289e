"""SQLite: durability, files, damage and repair."""

import stat
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import create_engine, event, text

from claude_headspace.engine.batch import Batch
from claude_headspace.engine.submission import BatchFunctions, Submission
from claude_headspace.errors import JournalUnavailable
from claude_headspace.journal.sql import SqlJournal
from claude_headspace.kernel.correlate import Identity
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.testing import START, hook


def store(journal: SqlJournal, *envelopes: Envelope) -> None:
    """Process envelopes as one batch."""
    with journal.transaction() as transaction:
        batch = Batch(transaction, BatchFunctions(new_id=lambda: "agent-1"))
        batch.process([Submission(envelope, None, None) for envelope in envelopes])  # type: ignore[arg-type]
        transaction.write(batch.records)


def url(folder: Path) -> str:
    """The URL of the journal."""
    return f"sqlite:///{folder}/journal.db"


def opened(folder: Path) -> SqlJournal:
    """The journal, after its migrations."""
    journal = SqlJournal(url(folder))
    journal.open()
    return journal


def test_a_closed_journal_can_be_opened_again(tmp_path: Path) -> None:
    """It is one file that only its user can read, and finds its agents in the database."""
    journal = opened(tmp_path)
    store(journal, hook("SessionStart"))
    journal.close()
    assert [path.name for path in tmp_path.iterdir()] == ["journal.db"]
    assert stat.S_IMODE((tmp_path / "journal.db").stat().st_mode) == 0o600
    again = opened(tmp_path)
    with again.transaction() as transaction:
        found = transaction.agents_by_identity([Identity("session", "session-1")])
    assert [answer.in_memory for answer in found.values()] == [False]
    again.close()


def test_lookups_are_cached(tmp_path: Path) -> None:
    """Each identity is queried once, also one without an agent."""
    journal = opened(tmp_path)
    store(journal, hook("SessionStart"))
    journal.close()
    again, queried = opened(tmp_path), Counter[str]()
    event.listen(
        again._engine, "before_cursor_execute", lambda *args: queried.update([args[2].split("FROM")[-1].split()[0]])
    )
    newcomer = Identity("session", "session-2")
    for number in range(3):
        store(again, hook("UserPromptSubmit", START + 1 + number, prompt=f"go {number}"))
        with again.transaction() as transaction:
            assert transaction.agents_by_identity([newcomer]) == {}
    assert queried["identities"] == 2
    store(again, hook("SessionStart", START + 9, session_id="session-2", cwd="/home/dev/web"))
    with again.transaction() as transaction:
        assert list(transaction.agents_by_identity([newcomer])) == [newcomer]
    again.close()


def test_damage_is_found_and_repaired(tmp_path: Path) -> None:
    """`verify` names rows that were changed, deleted or added; `rebuild` repairs them."""
    journal = opened(tmp_path)
    store(journal, hook("SessionStart"), hook("UserPromptSubmit", START + 1, prompt="go"))
    journal.close()
    with create_engine(url(tmp_path)).begin() as connection:
        connection.execute(text("UPDATE turns SET text = 'other'"))
        connection.execute(text("DELETE FROM commands"))
        connection.execute(text("INSERT INTO identities VALUES ('pane', 'x', 'nobody')"))
    journal = opened(tmp_path)
    problems = {(difference.table, difference.problem) for difference in journal.verify()}
    assert problems == {
        ("turns", "differs in text"),
        ("commands", "is missing"),
        ("identities", "does not follow from the log"),
    }
    journal.rebuild()
    assert list(journal.verify()) == []
    journal.close()


def test_database_errors_are_translated(tmp_path: Path) -> None:
    """The error says what to do."""
    journal = opened(tmp_path)
    with create_engine(url(tmp_path)).begin() as connection:
        connection.execute(text("DROP TABLE events"))
    with pytest.raises(JournalUnavailable) as trouble:
        store(journal, hook("SessionStart"))
    assert "headspace logs" in trouble.value.hint
    journal.close()


def test_the_writer_is_durable(tmp_path: Path) -> None:
    """It uses a write-ahead log and waits for the disk."""
    journal = opened(tmp_path)
    with journal.transaction() as transaction:
        connection = transaction.connection
        modes = [connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")]
    assert modes == ["wal", 2]
    journal.close()
