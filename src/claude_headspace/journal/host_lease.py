"""The lease on a host name: on a shared database only one daemon at a time uses a name.

Rules
- The lease is an advisory lock of the connection on which a daemon listens, so it ends with that connection.
- The same connection shares a lock on the owner. A lease that belongs to the same owner is taken over: it is left from
  an earlier connection that the server has not yet noticed to be dead.
- TCP keepalives let the server notice a dead connection within half a minute.
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

ATTEMPTS = 50
RETRY_SECONDS = 0.1
"""For a name whose lease belongs to the same owner."""

SET_KEEPALIVES = "SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3"

LEASE_OWNER = """
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
    """A host name, and the key of its owner: unique to one home directory on one machine."""

    name: str
    owner: bytes

    async def acquire(self, connection: "AsyncConnection") -> None:
        """Take the lease for the life of the connection; raises `JournalUnavailable` if another daemon has it."""
        await connection.execute(SET_KEEPALIVES)
        await connection.execute("SELECT pg_advisory_lock_shared(%(owned)s, %(owner)s)", self._keys())
        for _ in range(ATTEMPTS):
            locked = await connection.execute("SELECT pg_try_advisory_lock(%(named)s, %(name)s)", self._keys())
            if (await locked.fetchone() or (False,))[0]:
                return
            await self._end_earlier_connection(connection)
            await asyncio.sleep(RETRY_SECONDS)
        raise self._in_use()

    async def _end_earlier_connection(self, connection: "AsyncConnection") -> None:
        """End the connection that has the lease; raises `JournalUnavailable` if it belongs to another owner."""
        found = await (await connection.execute(LEASE_OWNER, self._keys())).fetchone()
        if found is None:
            return  # released in the meantime
        pid, is_same_owner = found
        if not is_same_owner:
            raise self._in_use()
        await connection.execute("SELECT pg_terminate_backend(%s)", (pid,))

    def _keys(self) -> dict[str, int]:
        return {"named": HOST_LOCK, "name": _key(self.name.encode()), "owned": OWNER_LOCK, "owner": _key(self.owner)}

    def _in_use(self) -> JournalUnavailable:
        return JournalUnavailable(
            HOST_NAME_IN_USE,
            f"Another daemon on this database uses the host name {self.name}; agents of both would be mixed up.",
            "Give each machine its own name: set `machine` in config.toml, or HEADSPACE_MACHINE.",
        )


def _key(value: bytes) -> int:
    """A lock key: a hash that fits both signed and unsigned 32-bit integers."""
    return int.from_bytes(hashlib.sha256(value).digest()[:4]) & 0x7FFF_FFFF
