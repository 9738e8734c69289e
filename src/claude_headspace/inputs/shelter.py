"""Hooks that come over HTTP while the journal is slow or away: their events go to the spool, and they are answered.

Rules
- A hook waits for the commit, but not longer than its patience: then its event is put into the spool, and the answer
  says so. Nothing is decided for it, as if nobody had been there.
- The event has a delivery id: should the commit come after all, the copy from the spool counts no second time.
- What comes while the daemon stops waits there for its next start.
- As long as events wait there, those that come after them go there too. So they are taken in their order, and only the
  first hooks of a trouble wait at all.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from claude_headspace.errors import STOPPING, JournalUnavailable
from claude_headspace.inputs.spool import Spool
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.troubles import Troubles

Outcome = TypeVar("Outcome")


class Shelter(Generic[Outcome]):
    """Between the hooks and the journal."""

    def __init__(self, spool: Spool, patience_seconds: float, troubles: Troubles) -> None:
        self._spool = spool
        self._patience = patience_seconds
        self._troubles = troubles
        self._waiting: set[str] = set()

    async def take(self, envelope: Envelope, hear: Callable[[Envelope], Awaitable[Outcome]]) -> Outcome | None:
        """What came of an event that is handed in; None when it waits in the spool."""
        if not self._waiting:
            try:
                async with asyncio.timeout(self._patience):
                    return await hear(envelope)
            except TimeoutError:
                self._troubles.begin(f"no commit within {self._patience:g} s")
            except JournalUnavailable as error:
                if error.code != STOPPING:
                    self._troubles.begin(error.message)
        await self._put(envelope)
        return None

    async def _put(self, envelope: Envelope) -> None:
        delivery_id = envelope.delivery_id or ""
        self._waiting.add(delivery_id)
        try:
            await asyncio.to_thread(self._spool.put, envelope)
        except OSError as error:
            self._waiting.discard(delivery_id)
            raise JournalUnavailable(
                "nowhere_to_store",
                f"The journal cannot be written, and neither can the spool: {error.strerror}.",
                "Make room on the disk, and see `headspace logs`.",
            ) from error
        self._troubles.spooled()

    def taken(self, envelope: Envelope) -> None:
        """An event has left the spool."""
        self._waiting.discard(envelope.delivery_id or "")
