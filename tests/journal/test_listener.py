"""Notifications of commits, also after the connection was lost."""

import asyncio

from claude_headspace.journal.dialects import CHANNEL
from claude_headspace.journal.host_lease import HostLease
from claude_headspace.journal.listener import CommitListener
from tests.postgres import Postgres

NAME = HostLease("laptop", b"the home")

CUT = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE query LIKE 'LISTEN%' AND datname = current_database()
"""


def test_commits_are_reported_and_a_lost_connection_is_restored(postgres: Postgres) -> None:
    """A new connection starts with a call, because a commit may have been missed."""
    url = postgres.database()
    name = url.split("?", maxsplit=1)[0].rsplit("/", 1)[1]

    async def story() -> None:
        committed = asyncio.Event()
        listener = CommitListener(url, NAME, committed.set)

        async def notified() -> None:
            async with asyncio.timeout(60):
                await committed.wait()
            committed.clear()

        listener.start()
        await notified()
        for _ in range(2):
            await asyncio.to_thread(postgres.execute, f"NOTIFY {CHANNEL}", name)
            await notified()
            await asyncio.to_thread(postgres.execute, CUT, name)
            await notified()
            assert listener.failure is None
        assert listener.running
        await listener.stop()
        assert not listener.running

    asyncio.run(story())


def test_a_missing_server_is_reported() -> None:
    """The listener keeps trying."""

    async def story() -> None:
        listener = CommitListener("postgresql://nobody@127.0.0.1:9/none", NAME, lambda: None)
        listener.start()
        async with asyncio.timeout(60):
            while True:
                await asyncio.sleep(0.01)
                if listener.failure is not None:
                    break
        assert listener.running
        assert "127.0.0.1" in listener.failure
        await listener.stop()

    asyncio.run(story())
