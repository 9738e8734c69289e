"""The lease on a host name: one daemon at a time, and the same home can take it over."""

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
    """A connection like that of a listener."""
    return await psycopg.AsyncConnection.connect(url, autocommit=True)


def test_a_lease_lasts_as_long_as_its_connection(postgres: Postgres) -> None:
    """Another home is refused; other names and other databases are independent."""

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


def test_the_same_home_takes_over_its_own_lease(postgres: Postgres) -> None:
    """The old connection is ended, and no other."""

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


def test_a_listener_waits_for_its_host_name(postgres: Postgres) -> None:
    """It reports why, refuses writes, and continues when the name is free."""

    async def story() -> None:
        url = postgres.database()
        committed = asyncio.Event()
        listener = CommitListener(url, THEIRS, committed.set)
        async with await connect(url) as first:
            await OURS.acquire(first)
            with pytest.raises(JournalUnavailable, match="laptop"):
                await listener.check_host_name()
            with pytest.raises(JournalUnavailable, match="HEADSPACE_MACHINE"):
                await listener.acquire_host_name()
            with pytest.raises(JournalUnavailable, match="laptop"):
                listener.require_host_name()
            assert not committed.is_set()
        async with asyncio.timeout(60):
            await committed.wait()
        await listener.acquire_host_name()
        listener.require_host_name()
        await listener.stop()

    asyncio.run(story())
