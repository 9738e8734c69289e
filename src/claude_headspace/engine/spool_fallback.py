"""The spool fallback: hooks are answered while the journal is slow or unavailable, and their events go to the spool.

Rules
- A hook waits for its commit, but only for a limited time. Then its event goes to the spool, and the reply says so.
- The policy applies without the journal. A tool call is judged before it goes to the spool, and the verdict goes with
  it, so the verdict that the client received stays in force.
- It applies without a disk, too. A tool call that a rule decides is answered even if its event can be stored nowhere;
  the event is counted as refused. Any other event that can be stored nowhere is refused, so that its sender can retry.
- Events have a delivery id: if the commit succeeds after all, the copy in the spool is a duplicate.
- Events that arrive while the daemon stops wait in the spool for its next start.
- While events wait in the spool, later ones go there too. So they are stored in order, and only the first hooks of an
  outage wait at all.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import NamedTuple, TypeVar

from claude_headspace.engine.outages import Outages
from claude_headspace.errors import STOPPING, JournalUnavailable
from claude_headspace.inputs.receive.spool import Spool
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.policy.verdict import ABSTAIN, Ruling, Verdict

Stored = TypeVar("Stored")


class Spooled(NamedTuple):
    """The event is in the spool. Only the policy decided."""

    verdict: Verdict


class SpoolFallback:
    """Between the hooks and the journal."""

    def __init__(
        self,
        spool: Spool,
        commit_seconds: float,
        outages: Outages,
        refused: Callable[[str], None] = lambda _code: None,
    ) -> None:
        self._spool = spool
        self._commit_seconds = commit_seconds
        self._outages = outages
        self._refused = refused
        self._waiting: set[str] = set()

    async def store(
        self,
        envelope: Envelope,
        commit: Callable[[], Awaitable[Stored]],
        judge: Callable[[], Awaitable[Envelope]] | None = None,
    ) -> Stored | Spooled:
        """Commit an event in time, or put it into the spool. `judge` adds the verdict if the sender waits for one."""
        if not self._waiting:
            try:
                async with asyncio.timeout(self._commit_seconds):
                    return await commit()
            except TimeoutError:
                self._outages.begin(f"no commit within {self._commit_seconds:g} s")
            except JournalUnavailable as error:
                if error.code != STOPPING:
                    self._outages.begin(error.message)
        if judge is not None:
            envelope = await judge()
        try:
            await self._put(envelope)
        except JournalUnavailable as error:
            if not _is_decided(envelope):
                raise
            self._refused(error.code)
        return Spooled(envelope.decisions.verdict or ABSTAIN)

    async def _put(self, envelope: Envelope) -> None:
        delivery_id = envelope.delivery_id or ""
        self._waiting.add(delivery_id)
        try:
            await asyncio.to_thread(self._spool.put, envelope)
        except OSError as error:
            self._waiting.discard(delivery_id)
            self._outages.count_lost()
            raise JournalUnavailable(
                "nowhere_to_store",
                f"Neither the database nor the spool can be written: {error.strerror}.",
                "Free some disk space, and see `headspace logs`.",
            ) from error
        self._outages.count_spooled()

    def left_spool(self, envelope: Envelope) -> None:
        """An event is not in the spool any more. No-op if it was never put there by this daemon."""
        self._waiting.discard(envelope.delivery_id or "")


def _is_decided(envelope: Envelope) -> bool:
    """Whether a rule decided the tool call."""
    verdict = envelope.decisions.verdict
    return verdict is not None and verdict.enforced and verdict.ruling is not Ruling.ABSTAIN
