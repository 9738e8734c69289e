"""Exclusive access: other users of a database are detected."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.journal.exclusive_access import RETRY_SECONDS, exclusive_access, is_same_database
from claude_headspace.journal.host_lease import HostLease
from claude_headspace.journal.listener import CommitListener
from claude_headspace.testing import hook
from tests.journals import sqlite_journal, store
from tests.postgres import Postgres


def is_free(address: str) -> bool:
    """Whether exclusive access is possible."""
    try:
        with exclusive_access(address, "it"):
            return True
    except BadRequest as refusal:
        if refusal.code != "in_use":
            raise
        return False


def test_an_open_file_is_in_use(tmp_path: Path) -> None:
    """Also without writes; after it is closed it is free and complete."""
    address = f"sqlite:///{tmp_path / 'journal.db'}"
    assert is_free(address)
    journal = sqlite_journal(tmp_path / "journal.db")
    store(journal, hook("SessionStart"))
    assert not is_free(address)
    journal.close()
    assert is_free(address)
    journal = sqlite_journal(tmp_path / "journal.db")
    assert journal.counts().events == 1
    journal.close()


def test_a_database_with_a_running_daemon_is_in_use(postgres: Postgres) -> None:
    """Several daemons can use it; a copy needs it exclusively."""
    address = postgres.database()

    async def play() -> None:
        committed = asyncio.Event()
        listeners = [CommitListener(address, HostLease(name, name.encode()), committed.set) for name in ("one", "two")]
        assert await asyncio.to_thread(is_free, address)
        for listener in listeners:
            committed.clear()
            listener.start()
            await asyncio.wait_for(committed.wait(), 30)
        assert not await asyncio.to_thread(is_free, address)
        for listener in listeners:
            await listener.stop()

    asyncio.run(play())
    assert is_free(address)
    with exclusive_access(address, "it"):
        assert not is_free(address)


def test_a_lock_that_is_released_late_is_waited_for(postgres: Postgres) -> None:
    """PostgreSQL may keep the lock of a daemon that has ended for a moment."""
    address = postgres.database()
    with ThreadPoolExecutor(1) as pool:
        with exclusive_access(address, "it"):
            waiting = pool.submit(is_free, address)
            with pytest.raises(TimeoutError):
                waiting.result(timeout=RETRY_SECONDS)
        assert waiting.result()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("sqlite:////a/b.db", "sqlite:////a/../a/b.db", True),
        ("sqlite:////a/b.db", "sqlite:////a/c.db", False),
        ("postgresql+psycopg://me@db/hs", "postgresql://you:secret@db:5432/hs", True),
        ("postgresql://me@db/hs", "postgresql://me@db/hs2", False),
        ("postgresql://me@db/hs", "sqlite:////hs", False),
        ("postgresql:///hs?host=/a", "postgresql:///hs?host=/b", False),
        ("nothing://", "nothing://", False),
    ],
)
def test_the_same_database_is_recognised(one: str, other: str, same: bool) -> None:
    """Regardless of how its address is written."""
    assert is_same_database(one, other) is same
