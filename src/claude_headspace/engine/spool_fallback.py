"""Hooks that come over HTTP while the journal is slow or away: their events go to the spool, and they are answered.

Rules
- A hook waits for the commit, but not longer than its patience: then its event is put into the spool, and the answer
  says so.
- Rules hold without the journal. A call is judged before it goes to the spool, and its verdict goes with it: what the
  client was answered is never decided a second time.
- They hold without a disk, too: a call on which they decide is answered even if its event can be kept nowhere, and the
  event is counted as refused. Whatever else can be kept nowhere is refused, so that its sender can try by itself.
- The event has a delivery id: should the commit come after all, the copy from the spool counts no second time.
- What comes while the daemon stops waits there for its next start.
- As long as events wait there, those that come after them go there too. So they are taken in their order, and only the
  first hooks of a trouble wait at all.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from claude_headspace.engine.outages import Outages
from claude_headspace.errors import STOPPING, JournalUnavailable
from claude_headspace.inputs.receive.spool import Spool
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.policy.verdict import Ruling

Outcome = TypeVar("Outcome")

Judge = Callable[[Envelope], Awaitable[Envelope]]
"""Puts the verdict on a call into its envelope, with what is known without the journal."""


class Shelter(Generic[Outcome]):
    """Between the hooks and the journal."""

    def __init__(
        self,
        spool: Spool,
        patience_seconds: float,
        outages: Outages,
        judge: Judge,
        refused: Callable[[str], None] = lambda _code: None,
    ) -> None:
        self._spool = spool
        self._patience = patience_seconds
        self._outages = outages
        self._judge = judge
        self._refused = refused
        self._waiting: set[str] = set()

    async def take(
        self, envelope: Envelope, hear: Callable[[Envelope], Awaitable[Outcome]], *, asked: bool = False
    ) -> Outcome | Envelope:
        """What came of an event that is handed in; when it waits in the spool, the event itself, with the verdict that
        was asked for.
        """
        if not self._waiting:
            try:
                async with asyncio.timeout(self._patience):
                    return await hear(envelope)
            except TimeoutError:
                self._outages.begin(f"no commit within {self._patience:g} s")
            except JournalUnavailable as error:
                if error.code != STOPPING:
                    self._outages.begin(error.message)
        if asked:
            envelope = await self._judge(envelope)
        try:
            await self._put(envelope)
        except JournalUnavailable as error:
            if not _is_decided(envelope):
                raise
            self._refused(error.code)
        return envelope

    async def _put(self, envelope: Envelope) -> None:
        delivery_id = envelope.delivery_id or ""
        self._waiting.add(delivery_id)
        try:
            await asyncio.to_thread(self._spool.put, envelope)
        except OSError as error:
            self._waiting.discard(delivery_id)
            self._outages.lost()
            raise JournalUnavailable(
                "nowhere_to_store",
                f"The journal cannot be written, and neither can the spool: {error.strerror}.",
                "Make room on the disk, and see `headspace logs`.",
            ) from error
        self._outages.spooled()

    def taken(self, envelope: Envelope) -> None:
        """An event has left the spool."""
        self._waiting.discard(envelope.delivery_id or "")


def _is_decided(envelope: Envelope) -> bool:
    """Whether a rule has something to say to the client."""
    verdict = envelope.decisions.verdict
    return verdict is not None and verdict.enforced and verdict.ruling is not Ruling.ABSTAIN
