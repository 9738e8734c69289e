"""Journals for tests: a temporary SQLite file (`TemporaryJournal`) and one of each backend (`MAKERS`)."""

import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from claude_headspace.engine.batch import Batch
from claude_headspace.engine.submission import BatchFunctions, Submission
from claude_headspace.journal import schema
from claude_headspace.journal.sql import SqlJournal
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.ports import Journal, StreamMessage

SHARED_MEMORY = Path("/dev/shm")  # a directory of our own is made in it

_open: list["TemporaryJournal"] = []


class TemporaryJournal(SqlJournal):
    """The real journal in a temporary file, in memory where the system has a tmpfs; closed and removed after the test.

    It starts as a copy of a migrated database, which takes 2 ms where the migrations take 25.
    """

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="hs-journal-", dir=_parent()))
        path = self.directory / "journal.db"
        path.write_bytes(_empty_database())
        super().__init__(f"sqlite:///{path}")
        _open.append(self)

    def close(self) -> None:
        """Close it and remove the file. Idempotent."""
        if self.directory.exists():
            super().close()
            shutil.rmtree(self.directory)


def _parent() -> Path | None:
    return SHARED_MEMORY if SHARED_MEMORY.is_dir() else None


@cache
def _empty_database() -> bytes:
    with tempfile.TemporaryDirectory(prefix="hs-journal-") as directory:
        path = Path(directory) / "journal.db"
        sqlite_journal(path).close()
        return path.read_bytes()


def close_temporary_journals() -> None:
    """Close the journals that a test opened."""
    while _open:
        _open.pop().close()


def opened(journal: SqlJournal) -> SqlJournal:
    """The journal, after its migrations."""
    journal.open()
    return journal


def sqlite_journal(path: Path) -> SqlJournal:
    """A journal in a SQLite file."""
    return opened(SqlJournal(f"sqlite:///{path}"))


MAKERS: dict[str, Callable[[pytest.FixtureRequest], SqlJournal]] = {
    "sqlite": lambda _request: TemporaryJournal(),
    "postgresql": lambda request: SqlJournal(request.getfixturevalue("postgres").database()),
}
"""How to make an empty journal of each backend."""


def store(journal: Journal, *envelopes: Envelope) -> list[StreamMessage]:
    """Process envelopes as one batch, as the engine does; agents are named `agent-1`, `agent-2`, …"""
    numbers = [int(agent.id.removeprefix("agent-")) for agent in journal.agents(ended_after=0)]
    ids = iter(f"agent-{max(numbers, default=0) + n}" for n in range(1, 100))
    with journal.transaction() as transaction:
        batch = Batch(transaction, BatchFunctions(new_id=lambda: next(ids)))
        batch.process([submission(envelope) for envelope in envelopes])
        return transaction.write(batch.records) if batch.records else []


def submission(envelope: Envelope) -> Submission:
    """A submission without a future: nothing awaits its outcome."""
    return Submission(envelope, None, None)  # type: ignore[arg-type]


def forget_positions(journal: SqlJournal) -> None:
    """Delete how far files were read."""
    with journal.transaction() as transaction:
        transaction.connection.execute(schema.positions.delete())
