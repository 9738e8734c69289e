"""When the journal could not be written, and why, and when a daemon was killed: what `status` tells afterwards.

A trouble begins with the first batch that fails, or that does not come to its end in time, and ends with the next one
that is committed.

Rules
- The newest of the last week are remembered, in a file of the home: the next daemon tells them too.
- One that lasted when the daemon ended goes on with the next daemon, unless that finds the journal well.
- What waited is counted at the end, by what then lies in the spool: whether it was put there by the daemon or a shim.
"""

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import msgspec
import structlog

from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.views import iso
from claude_headspace.ports import Clock

log = structlog.get_logger(__name__)

REMEMBERED = 20
REMEMBERED_FOR: Micros = 7 * 24 * 3600 * SECOND


class Trouble(msgspec.Struct):
    """A time without the journal, or without a daemon."""

    since: Micros
    reason: str
    until: Micros | None = None
    spooled: int = 0
    """How many events waited in the spool meanwhile."""
    lost: int = 0
    """How many could be kept nowhere."""


class Troubles:
    """The newest troubles, and whether one lasts."""

    def __init__(self, clock: Clock, file: Path | None = None) -> None:
        self._clock = clock
        self._file = file
        self._has_begun = False
        self.waiting: Callable[[], int] = lambda: 0
        """How many events wait in the spool that were not counted before."""
        self._known: deque[Trouble] = deque(_recalled(file, clock() - REMEMBERED_FOR), maxlen=REMEMBERED)

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
        self._has_begun = True
        if (trouble := self.now) is not None:
            trouble.reason = reason
            return
        self._known.append(Trouble(self._clock(), reason))
        log.warning("journal_unavailable", reason=reason)
        self._keep()

    def note(self, what: str) -> None:
        """Something happened, and is over."""
        if self.now is None:
            at = self._clock()
            self._known.append(Trouble(at, what, at))
            self._keep()

    def killed(self, pid: int, last_seen: Micros) -> None:
        """The daemon before this one did not end by itself; what waited counts to a trouble that lasts since then."""
        lasting = self._known.pop() if self.now is not None else None
        reason = f"the daemon before this one (pid {pid}) was killed, or crashed"
        trouble = Trouble(last_seen, reason, self._clock(), 0 if lasting else self.waiting())
        self._known.extend(each for each in (trouble, lasting) if each is not None)
        log.warning("predecessor_killed", pid=pid, last_seen=iso(last_seen), waiting=trouble.spooled)
        self._keep()

    def spooled(self) -> None:
        """A hook was answered without the journal: in the newest trouble of this daemon, which may be over just now."""
        if self._has_begun:
            self._known[-1].spooled += 1

    def lost(self) -> None:
        """An event could be kept nowhere, neither in the journal nor in the spool."""
        if self._has_begun:
            self._known[-1].lost += 1

    def end(self) -> None:
        """The journal was written."""
        if (trouble := self.now) is not None:
            trouble.until = self._clock()
            trouble.spooled += self.waiting()
            log.warning("journal_available", seconds=(trouble.until - trouble.since) / 1e6, spooled=trouble.spooled)
            self._keep()

    def _keep(self) -> None:
        """Write them down, for the next daemon; a full disk must not make more trouble."""
        if self._file is None:
            return
        draft = self._file.with_suffix(".new")
        with suppress(OSError):
            draft.touch(mode=0o600)
            draft.write_bytes(msgspec.json.encode(list(self._known)))
            draft.replace(self._file)


def _recalled(file: Path | None, after: Micros) -> Iterable[Trouble]:
    """What an earlier daemon wrote down; what waited in one that lasts is counted anew at its end."""
    try:
        found = msgspec.json.decode(file.read_bytes(), type=list[Trouble]) if file is not None else []
    except (OSError, msgspec.DecodeError):
        return []
    if found and found[-1].until is None:
        found[-1].spooled = 0
    return [each for each in found if each.until is None or each.until > after]
