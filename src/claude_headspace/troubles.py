"""When the journal could not be written, and why: what `status` tells afterwards.

A trouble begins with the first batch that fails, or that does not come to its end in time, and ends with the next one
that is committed. The newest few are remembered while the daemon runs.
"""

from collections import deque

import msgspec
import structlog

from claude_headspace.kernel.envelope import Micros
from claude_headspace.ports import Clock

log = structlog.get_logger(__name__)

REMEMBERED = 10


class Trouble(msgspec.Struct):
    """A time without the journal."""

    since: Micros
    reason: str
    until: Micros | None = None
    spooled: int = 0
    """How many hooks were answered meanwhile, with their events in the spool."""


class Troubles:
    """The newest troubles, and whether one lasts."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: deque[Trouble] = deque(maxlen=REMEMBERED)

    @property
    def now(self) -> Trouble | None:
        """The one that lasts."""
        return self._known[-1] if self._known and self._known[-1].until is None else None

    @property
    def all(self) -> list[Trouble]:
        """What happened, oldest first."""
        return list(self._known)

    def begin(self, reason: str) -> None:
        """The journal cannot be written; of a trouble that lasts the newest reason is told."""
        if (trouble := self.now) is not None:
            trouble.reason = reason
            return
        self._known.append(Trouble(self._clock(), reason))
        log.warning("journal_unavailable", reason=reason)

    def note(self, what: str) -> None:
        """Something happened, and is over."""
        if self.now is None:
            at = self._clock()
            self._known.append(Trouble(at, what, at))

    def spooled(self) -> None:
        """A hook was answered without the journal."""
        if self._known:
            self._known[-1].spooled += 1

    def end(self) -> None:
        """The journal was written."""
        if (trouble := self.now) is not None:
            trouble.until = self._clock()
            log.warning("journal_available", seconds=(trouble.until - trouble.since) / 1e6, spooled=trouble.spooled)
