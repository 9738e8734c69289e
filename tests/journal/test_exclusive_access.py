"""A database for oneself: whoever uses one is noticed, of either kind."""

import asyncio
from pathlib import Path

import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.journal.exclusive_access import exclusive_access, is_same_database
from claude_headspace.journal.host_lease import HostLease
from claude_headspace.journal.listener import CommitListener
from claude_headspace.testing import hook
from tests.journals import sqlite_journal, store
from tests.postgres import Postgres


def is_free(address: str) -> bool:
    """Whether a database can be had."""
    try:
        with exclusive_access(address, "it"):
            return True
    except BadRequest as refusal:
        if refusal.code != "in_use":
            raise
        return False


def test_a_file_that_is_open_is_in_use(tmp_path: Path) -> None:
    """Also while nobody writes; afterwards it is free, and whole."""
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


def test_a_server_on_which_a_daemon_listens_is_in_use(postgres: Postgres) -> None:
    """Daemons do not keep each other away; whoever copies wants it alone."""
    address = postgres.database()

    async def play() -> None:
        heard = asyncio.Event()
        listeners = [CommitListener(address, HostLease(name, name.encode()), heard.set) for name in ("one", "two")]
        assert await asyncio.to_thread(is_free, address)
        for listener in listeners:
            heard.clear()
            listener.start()
            await asyncio.wait_for(heard.wait(), 30)
        assert not await asyncio.to_thread(is_free, address)
        for listener in listeners:
            await listener.stop()

    asyncio.run(play())
    assert is_free(address)
    with exclusive_access(address, "it"):
        assert not is_free(address)


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
    """However its address is written."""
    assert is_same_database(one, other) is same
