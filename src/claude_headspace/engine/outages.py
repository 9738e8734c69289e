"""Outages: when the journal could not be written and why, and when a daemon was killed. `headspace status` shows them.

An outage starts with the first batch that fails or does not finish in time, and ends with the next commit.

Rules
- The newest outages of the last week are stored in a file, so that the next daemon reports them too.
- An outage that lasts when the daemon stops continues in the next daemon, unless the journal is available then.
- The events that waited are counted at the end, in the spool: the daemon or a hook script may have put them there.
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

MAX_STORED = 20
STORED_FOR: Micros = 7 * 24 * 3600 * SECOND


class Outage(msgspec.Struct):
    """A time without the journal, or without a daemon."""

    since: Micros
    reason: str
    until: Micros | None = None
    spooled: int = 0
    """Events that waited in the spool."""
    lost: int = 0
    """Events that could be stored nowhere."""


class Outages:
    """The newest outages, and the current one."""

    def __init__(self, clock: Clock, file: Path | None = None, count_waiting: Callable[[], int] = lambda: 0) -> None:
        self._clock = clock
        self._file = file
        self._count_waiting = count_waiting
        """How many events in the spool have not been counted yet."""
        self._has_begun = False
        self._known: deque[Outage] = deque(_read(file, clock() - STORED_FOR), maxlen=MAX_STORED)

    @property
    def current(self) -> Outage | None:
        """The one that lasts."""
        return self._known[-1] if self._known and self._known[-1].until is None else None

    @property
    def all(self) -> list[Outage]:
        """All of them, oldest first."""
        return list(self._known)

    def begin(self, reason: str) -> None:
        """The journal cannot be written. During an outage only its reason is updated."""
        self._has_begun = True
        if (outage := self.current) is not None:
            outage.reason = reason
            return
        self._known.append(Outage(self._clock(), reason))
        log.warning("journal_unavailable", reason=reason)
        self._store()

    def note(self, reason: str) -> None:
        """Something happened that has already ended. No-op during an outage."""
        if self.current is None:
            at = self._clock()
            self._known.append(Outage(at, reason, at))
            self._store()

    def killed(self, pid: int, last_seen: Micros) -> None:
        """The previous daemon was killed. If an outage lasts since then, waiting events count for that one."""
        lasting = self._known.pop() if self.current is not None else None
        reason = f"the previous daemon (pid {pid}) was killed or crashed"
        outage = Outage(last_seen, reason, self._clock(), 0 if lasting else self._count_waiting())
        self._known.extend(each for each in (outage, lasting) if each is not None)
        log.warning("previous_daemon_killed", pid=pid, last_seen=iso(last_seen), waiting=outage.spooled)
        self._store()

    def spooled(self) -> None:
        """A hook was answered without the journal. Counts for the newest outage, which may have ended."""
        if self._has_begun:
            self._known[-1].spooled += 1

    def lost(self) -> None:
        """An event could be stored nowhere, neither in the journal nor in the spool."""
        if self._has_begun:
            self._known[-1].lost += 1

    def end(self) -> None:
        """The journal was written. No-op without an outage."""
        if (outage := self.current) is not None:
            outage.until = self._clock()
            outage.spooled += self._count_waiting()
            log.info("journal_available", seconds=(outage.until - outage.since) / 1e6, spooled=outage.spooled)
            self._store()

    def _store(self) -> None:
        """Write the file. A full disk is ignored: it must not cause another failure."""
        if self._file is None:
            return
        draft = self._file.with_suffix(".new")
        with suppress(OSError):
            draft.touch(mode=0o600)
            draft.write_bytes(msgspec.json.encode(list(self._known)))
            draft.replace(self._file)


def _read(file: Path | None, after: Micros) -> Iterable[Outage]:
    """The outages that an earlier daemon stored. Waiting events of a lasting one are counted again at its end."""
    try:
        found = msgspec.json.decode(file.read_bytes(), type=list[Outage]) if file is not None else []
    except (OSError, msgspec.DecodeError):
        return []
    if found and found[-1].until is None:
        found[-1].spooled = 0
    return [each for each in found if each.until is None or each.until > after]
