"""Hearing of commits, also after the connection was lost."""

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


def test_every_commit_is_heard_and_a_lost_connection_is_made_again(postgres: Postgres) -> None:
    """A new connection begins with a call, since something may have been missed; then it hears again."""
    url = postgres.database()
    name = url.split("?", maxsplit=1)[0].rsplit("/", 1)[1]

    async def story() -> None:
        heard = asyncio.Event()
        listener = CommitListener(url, NAME, heard.set)

        async def hears() -> None:
            async with asyncio.timeout(60):
                await heard.wait()
            heard.clear()

        listener.start()
        await hears()
        for _ in range(2):
            await asyncio.to_thread(postgres.execute, f"NOTIFY {CHANNEL}", name)
            await hears()
            await asyncio.to_thread(postgres.execute, CUT, name)
            await hears()
            assert listener.failure is None
        assert listener.running
        await listener.stop()
        assert not listener.running

    asyncio.run(story())


def test_a_server_that_is_not_there_is_told() -> None:
    """It goes on trying, and says why it hears nothing."""

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
