"""Hears of every commit on a shared database: PostgreSQL's LISTEN, on a connection of its own.

A notification says that there is something new, not what: whoever hears it reads on from where he is. So one that is
lost costs only time, and after every lost connection the new one begins with such a call.

The same connection holds the machine's name (`naming`): a daemon that cannot have it hears nothing, and tries again.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

import structlog

from claude_headspace.background import Loop
from claude_headspace.errors import JournalUnavailable
from claude_headspace.journal.dialects import CHANNEL, DAEMON_LOCK, Postgres, dialect_for
from claude_headspace.journal.host_lease import HostLease

if TYPE_CHECKING:
    from psycopg import AsyncConnection

log = structlog.get_logger(__name__)

RETRY_SECONDS = 1.0
CHECK_SECONDS = 10.0
"""How long a start may wait to learn whether its name is free."""


class CommitListener(Loop):
    """Listens, and begins anew when the connection is lost."""

    def __init__(self, url: str, lease: HostLease, on_commit: Callable[[], None]) -> None:
        super().__init__()
        address = dialect_for(url)[1].set(drivername="postgresql")
        self._address = address.render_as_string(hide_password=False)
        self._told = {name: value for name, value in Postgres.connection_options.items() if name not in address.query}
        self._lease = lease
        self._on_commit = on_commit
        self._tried = asyncio.Event()
        self._refusal: JournalUnavailable | None = None
        """Why this machine cannot have its name."""

    async def acquire_host_name(self) -> None:
        """Have the machine's name before anything is done under it; refused while that cannot be."""
        if not self.running:
            self.start()
        await self._tried.wait()
        if self.failure is not None:
            raise JournalUnavailable("unheard", self.failure, "It is tried again every second.")

    def require_host_name(self) -> None:
        """Refuse to do anything under a name that is another daemon's."""
        if self._refusal is not None:
            raise self._refusal

    async def check_host_name(self) -> None:
        """Refuse a name that another daemon has; a database that is away has nothing to say."""
        import psycopg

        try:
            async with asyncio.timeout(CHECK_SECONDS), await self._connect() as connection:
                await self._lease.acquire(connection)
        except (psycopg.Error, OSError, TimeoutError) as error:
            log.info("name_not_checked", reason=str(error).strip())

    async def _run(self) -> None:
        import psycopg  # only a shared database needs it

        while True:
            try:
                await self._listen()
            except JournalUnavailable as refusal:
                self._refusal = refusal
                self._fail(f"{refusal.message} {refusal.hint}")
            except (psycopg.Error, OSError) as error:
                self._fail((str(error).strip().splitlines() or [type(error).__name__])[0])
            await asyncio.sleep(RETRY_SECONDS)

    def _fail(self, reason: str) -> None:
        if self.failure is None:
            log.warning("listener_lost", reason=reason)
        self.failure = reason
        self._tried.set()

    async def _listen(self) -> None:
        async with await self._connect() as connection:
            await connection.execute("SELECT pg_try_advisory_lock_shared(%s, %s)", DAEMON_LOCK)
            await self._lease.acquire(connection)
            await connection.execute(f"LISTEN {CHANNEL}")
            self.failure = self._refusal = None
            self._tried.set()
            self._on_commit()
            async for _notification in connection.notifies():
                self._on_commit()

    async def _connect(self) -> "AsyncConnection":
        import psycopg

        return await psycopg.AsyncConnection.connect(self._address, autocommit=True, **self._told)
