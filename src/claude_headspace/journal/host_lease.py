"""A machine's name on a shared database: one daemon at a time goes by it.

Rules
- The name is an advisory lock of the connection on which a daemon listens, so it is free when that connection is gone.
- The same connection holds its owner's lock, which any number of connections may share. A name that is held by its own
  owner is taken over: the session is what was left of an earlier one, and the server has not noticed yet.
- The server looks after the line, so that one which is dead is noticed within half a minute.
"""

import asyncio
import hashlib
from typing import TYPE_CHECKING

import msgspec

from claude_headspace.errors import JournalUnavailable
from claude_headspace.journal.dialects import HOST_LOCK, OWNER_LOCK

if TYPE_CHECKING:
    from psycopg import AsyncConnection

HOST_NAME_IN_USE = "machine_taken"

TRIES = 50
TRY_SECONDS = 0.1
"""How often, and how soon again, a name is tried that its own owner holds."""

LOOK_AFTER = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"

HOLDER = """
    SELECT held.pid, EXISTS (
        SELECT FROM pg_locks AS own
        WHERE (own.locktype, own.database, own.classid, own.objid) = ('advisory', held.database, %(owned)s, %(owner)s)
          AND own.pid = held.pid AND own.granted
    )
    FROM pg_locks AS held
    WHERE (held.locktype, held.classid, held.objid) = ('advisory', %(named)s, %(name)s) AND held.granted
      AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


class HostLease(msgspec.Struct, frozen=True):
    """A name, and whose it is: something that no other home on no other machine has."""

    name: str
    owner: bytes

    async def acquire(self, connection: "AsyncConnection") -> None:
        """Go by the name as long as this connection lasts; refused while another daemon does."""
        await connection.execute(LOOK_AFTER)
        await connection.execute("SELECT pg_advisory_lock_shared(%(owned)s, %(owner)s)", self._keys())
        for _ in range(TRIES):
            tried = await connection.execute("SELECT pg_try_advisory_lock(%(named)s, %(name)s)", self._keys())
            if (await tried.fetchone() or (False,))[0]:
                return
            await self._free(connection)
            await asyncio.sleep(TRY_SECONDS)
        raise self._taken()

    async def _free(self, connection: "AsyncConnection") -> None:
        """End what is left of an earlier session of ours; refused if it is somebody else's."""
        found = await (await connection.execute(HOLDER, self._keys())).fetchone()
        if found is None:
            return  # it is free by now
        pid, is_ours = found
        if not is_ours:
            raise self._taken()
        await connection.execute("SELECT pg_terminate_backend(%s)", (pid,))

    def _keys(self) -> dict[str, int]:
        return {"named": HOST_LOCK, "name": _key(self.name.encode()), "owned": OWNER_LOCK, "owner": _key(self.owner)}

    def _taken(self) -> JournalUnavailable:
        return JournalUnavailable(
            HOST_NAME_IN_USE,
            f"Another daemon on this database is called {self.name}: their agents would be confused.",
            "Every machine has a name of its own: set `machine` in config.toml, or HEADSPACE_MACHINE.",
        )


def _key(what: bytes) -> int:
    """A number that both of PostgreSQL's kinds of integers can hold."""
    return int.from_bytes(hashlib.sha256(what).digest()[:4]) & 0x7FFF_FFFF
