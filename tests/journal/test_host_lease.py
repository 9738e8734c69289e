"""A machine's name on a shared database: one at a time, and the same home may always come back."""

import asyncio

import psycopg
import pytest

from claude_headspace.errors import JournalUnavailable
from claude_headspace.journal.host_lease import HOST_NAME_IN_USE, HostLease
from claude_headspace.journal.listener import CommitListener
from tests.postgres import Postgres

OURS = HostLease("laptop", b"one home")
THEIRS = HostLease("laptop", b"another home")


async def connect(url: str) -> "psycopg.AsyncConnection":
    """A connection as a listener has it."""
    return await psycopg.AsyncConnection.connect(url, autocommit=True)


def test_a_name_is_held_as_long_as_the_connection(postgres: Postgres) -> None:
    """Another home is refused with what to set; names of others and other databases do not matter."""

    async def story() -> None:
        url = postgres.database()
        async with await connect(url) as first, await connect(url) as second:
            await OURS.acquire(first)
            with pytest.raises(JournalUnavailable, match="laptop") as refused:
                await THEIRS.acquire(second)
            assert (refused.value.code, "HEADSPACE_MACHINE" in refused.value.hint) == (HOST_NAME_IN_USE, True)
            await HostLease("desktop", THEIRS.owner).acquire(second)
            async with await connect(postgres.database()) as elsewhere:
                await THEIRS.acquire(elsewhere)
            await first.close()
            await _eventually(second)

    async def _eventually(connection: "psycopg.AsyncConnection") -> None:
        async with asyncio.timeout(60):
            while True:
                try:
                    return await THEIRS.acquire(connection)
                except JournalUnavailable:
                    await asyncio.sleep(0.01)

    asyncio.run(story())


def test_the_same_home_takes_over_what_it_left_behind(postgres: Postgres) -> None:
    """A session that the server takes for alive is ended, and only that one."""

    async def story() -> None:
        url = postgres.database()
        async with await connect(url) as left, await connect(url) as again, await connect(url) as bystander:
            await OURS.acquire(left)
            await OURS.acquire(again)
            with pytest.raises(psycopg.OperationalError):
                await left.execute("SELECT 1")
            await bystander.execute("SELECT 1")
            with pytest.raises(JournalUnavailable):
                await THEIRS.acquire(bystander)

    asyncio.run(story())


def test_a_listener_does_nothing_under_a_name_that_is_taken(postgres: Postgres) -> None:
    """It says so, refuses what is to be written, and goes on by itself when the name is free."""

    async def story() -> None:
        url = postgres.database()
        heard = asyncio.Event()
        listener = CommitListener(url, THEIRS, heard.set)
        async with await connect(url) as first:
            await OURS.acquire(first)
            with pytest.raises(JournalUnavailable, match="laptop"):
                await listener.check_host_name()
            with pytest.raises(JournalUnavailable, match="HEADSPACE_MACHINE"):
                await listener.acquire_host_name()
            with pytest.raises(JournalUnavailable, match="laptop"):
                listener.require_host_name()
            assert not heard.is_set()
        async with asyncio.timeout(60):
            await heard.wait()
        await listener.acquire_host_name()
        listener.require_host_name()
        await listener.stop()

    asyncio.run(story())
