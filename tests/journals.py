"""Journals of every kind for tests, and what the engine does with them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from claude_headspace.engine.batch import Batch, BatchRules, Submission
from claude_headspace.journal.sql import SqlJournal
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.ports import Journal, StreamMessage
from claude_headspace.testing import MemoryJournal

MAKERS: dict[str, Callable[[pytest.FixtureRequest, Path], Journal]] = {
    "memory": lambda _request, _place: MemoryJournal(),
    "sqlite": lambda _request, place: sqlite_journal(place / "journal.db"),
    "postgresql": lambda request, _place: opened(SqlJournal(request.getfixturevalue("postgres").database())),
}


def opened(journal: SqlJournal) -> SqlJournal:
    """A journal that is ready."""
    journal.open()
    return journal


def sqlite_journal(path: Path) -> SqlJournal:
    """A journal in a file."""
    return opened(SqlJournal(f"sqlite:///{path}"))


def store(journal: Journal, *envelopes: Envelope) -> list[StreamMessage]:
    """Work envelopes through as one batch, as the engine does."""
    taken = [int(agent.id.removeprefix("agent-")) for agent in journal.agents(ended_after=0)]
    ids = iter(f"agent-{max(taken, default=0) + n}" for n in range(1, 100))
    with journal.transaction() as transaction:
        batch = Batch(transaction, BatchRules(new_id=lambda: next(ids)))
        batch.process([submission(envelope) for envelope in envelopes])
        return transaction.write(batch.records) if batch.records else []


def submission(envelope: Envelope) -> Submission:
    """An envelope whose outcome nobody waits for."""
    return Submission(envelope, None, None)  # type: ignore[arg-type]
