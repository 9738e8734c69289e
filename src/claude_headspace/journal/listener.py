"""Hears of every commit on a shared database: PostgreSQL's LISTEN, on a connection of its own.

A notification says that there is something new, not what: whoever hears it reads on from where he is. So one that is
lost costs only time, and after every lost connection the new one begins with such a call.
"""

import asyncio
from collections.abc import Callable

import structlog

from claude_headspace.journal.dialects import CHANNEL, USED, Postgres, dialect_of
from claude_headspace.loop import Loop

log = structlog.get_logger(__name__)

RETRY_SECONDS = 1.0


class Listener(Loop):
    """Listens, and begins anew when the connection is lost."""

    def __init__(self, url: str, heard: Callable[[], None]) -> None:
        super().__init__()
        address = dialect_of(url)[1].set(drivername="postgresql")
        self._address = address.render_as_string(hide_password=False)
        self._told = {name: value for name, value in Postgres.connection.items() if name not in address.query}
        self._heard = heard

    async def _run(self) -> None:
        import psycopg  # only a shared database needs it

        while True:
            try:
                await self._listen()
            except (psycopg.Error, OSError) as error:
                if self.failure is None:
                    log.warning("listener_lost", reason=str(error).strip())
                self.failure = (str(error).strip().splitlines() or [type(error).__name__])[0]
            await asyncio.sleep(RETRY_SECONDS)

    async def _listen(self) -> None:
        import psycopg

        connecting = psycopg.AsyncConnection.connect(self._address, autocommit=True, **self._told)
        async with await connecting as connection:
            await connection.execute("SELECT pg_try_advisory_lock_shared(%s, %s)", USED)
            await connection.execute(f"LISTEN {CHANNEL}")
            self.failure = None
            self._heard()
            async for _notification in connection.notifies():
                self._heard()
