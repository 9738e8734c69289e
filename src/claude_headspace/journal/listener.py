"""Calls `on_commit` after every commit on a shared database, using PostgreSQL's LISTEN on a separate connection.

A notification has no content; the callback reads the stream from its own position. So a lost notification only costs
time, and every new connection starts with a call.

The same connection owns the lease on the host name (`host_lease`). A daemon that cannot get it receives no
notifications and retries.
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
"""How long a starting daemon waits for the check of its host name."""


class CommitListener(Loop):
    """Listens for commits; reconnects when the connection is lost."""

    def __init__(self, url: str, lease: HostLease, on_commit: Callable[[], None]) -> None:
        super().__init__()
        address = dialect_for(url)[1].set(drivername="postgresql")
        self._address = address.render_as_string(hide_password=False)
        self._options = {
            name: value for name, value in Postgres.connection_options.items() if name not in address.query
        }
        self._lease = lease
        self._on_commit = on_commit
        self._attempted = asyncio.Event()
        self._refusal: JournalUnavailable | None = None
        """Why this daemon cannot use its host name."""

    async def acquire_host_name(self) -> None:
        """Wait for the first attempt to get the host name; raises `JournalUnavailable` if it failed."""
        if not self.running:
            self.start()
        await self._attempted.wait()
        if self.failure is not None:
            raise JournalUnavailable("unheard", self.failure, "Headspace retries every second.")

    def require_host_name(self) -> None:
        """Raise `JournalUnavailable` if another daemon uses this host name."""
        if self._refusal is not None:
            raise self._refusal

    async def check_host_name(self) -> None:
        """Like `require_host_name`, with a connection of its own; no-op if the database cannot be reached."""
        import psycopg

        try:
            async with asyncio.timeout(CHECK_SECONDS), await self._connect() as connection:
                await self._lease.acquire(connection)
        except (psycopg.Error, OSError, TimeoutError) as error:
            log.info("host_name_not_checked", reason=str(error).strip())

    async def _run(self) -> None:
        import psycopg  # loaded only for a shared database

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
            log.warning("commit_listener_disconnected", reason=reason)
        self.failure = reason
        self._attempted.set()

    async def _listen(self) -> None:
        async with await self._connect() as connection:
            await connection.execute("SELECT pg_try_advisory_lock_shared(%s, %s)", DAEMON_LOCK)
            await self._lease.acquire(connection)
            await connection.execute(f"LISTEN {CHANNEL}")
            self.failure = self._refusal = None
            self._attempted.set()
            self._on_commit()
            async for _notification in connection.notifies():
                self._on_commit()

    async def _connect(self) -> "AsyncConnection":
        import psycopg

        return await psycopg.AsyncConnection.connect(self._address, autocommit=True, **self._options)
