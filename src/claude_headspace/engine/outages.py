"""Outages: when and why the journal could not be written, a daemon was killed, or the system clock jumped.

`headspace status` shows them. An outage of the journal starts with the first batch that fails or does not
finish in time, and ends with the next commit.

Rules
- The newest outages of the last week are stored in a file, so that the next daemon reports them too.
- An outage that is ongoing when the daemon stops continues in the next daemon, unless the journal is available then.
- When an outage ends, the events still in the spool are counted, also those that hook scripts wrote.
"""

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import msgspec
import structlog

from claude_headspace.config import write_private_file
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.text import iso
from claude_headspace.ports import Clock

log = structlog.get_logger(__name__)

MAX_STORED = 20
STORED_FOR: Micros = 7 * 24 * 3600 * SECOND


class Outage(msgspec.Struct):
    """A time without the journal or without a daemon, or a jump of the system clock."""

    since: Micros
    reason: str
    until: Micros | None = None
    spooled: int = 0
    """Events that waited in the spool."""
    lost: int = 0
    """Events that could be stored neither in the journal nor in the spool."""


class Outages:
    """The newest outages, and the current one."""

    def __init__(self, clock: Clock, file: Path | None = None, count_waiting: Callable[[], int] = lambda: 0) -> None:
        self._clock = clock
        self._file = file
        self._count_waiting = count_waiting
        """Counts the events in the spool that no outage has counted yet."""
        self._began_in_this_process = False
        self._outages: deque[Outage] = deque(_read(file, clock() - STORED_FOR), maxlen=MAX_STORED)
        self.current = self._outages[-1] if self._outages and self._outages[-1].until is None else None
        """The ongoing outage, if there is one."""

    @property
    def all(self) -> list[Outage]:
        """All outages, oldest first."""
        return list(self._outages)

    def begin(self, reason: str) -> None:
        """Begin an outage: the journal cannot be written. During an outage only its reason is updated."""
        self._began_in_this_process = True
        if self.current is not None:
            self.current.reason = reason
            return
        self.current = Outage(self._clock(), reason)
        self._outages.append(self.current)
        log.warning("journal_unavailable", reason=reason)
        self._store()

    def add_past_outage(self, reason: str, since: Micros | None = None) -> None:
        """Add an outage that has already ended. No-op during an outage."""
        if self.current is None:
            at = self._clock()
            self._outages.append(Outage(since or at, reason, at))
            self._store()

    def record_killed_daemon(self, pid: int, last_seen: Micros) -> None:
        """Record that the previous daemon was killed. Events in the spool count for the ongoing outage, if any."""
        ongoing = self._outages.pop() if self.current is not None else None
        reason = f"the previous daemon (pid {pid}) was killed or crashed"
        outage = Outage(last_seen, reason, self._clock(), 0 if ongoing else self._count_waiting())
        self._outages.extend(each for each in (outage, ongoing) if each is not None)
        log.warning("previous_daemon_killed", pid=pid, last_seen=iso(last_seen), waiting=outage.spooled)
        self._store()

    def count_spooled(self) -> None:
        """Count a hook that was answered without the journal, for the newest outage, which may have ended."""
        if self._began_in_this_process:
            self._outages[-1].spooled += 1

    def count_lost(self) -> None:
        """Count an event that could be stored neither in the journal nor in the spool."""
        if self._began_in_this_process:
            self._outages[-1].lost += 1

    def end(self) -> None:
        """End the ongoing outage: the journal was written. No-op without an outage."""
        outage, self.current = self.current, None
        if outage is not None:
            outage.until = self._clock()
            outage.spooled += self._count_waiting()
            log.info("journal_available", seconds=(outage.until - outage.since) / 1e6, spooled=outage.spooled)
            self._store()

    def _store(self) -> None:
        """Write the file. A full disk is ignored: it must not cause another failure."""
        if self._file is not None:
            with suppress(OSError):
                write_private_file(self._file, msgspec.json.encode(list(self._outages)))


def _read(file: Path | None, after: Micros) -> Iterable[Outage]:
    """The outages that an earlier daemon stored. Events of an ongoing one are counted again at its end."""
    try:
        found = msgspec.json.decode(file.read_bytes(), type=list[Outage]) if file is not None else []
    except (OSError, msgspec.DecodeError):
        return []
    if found and found[-1].until is None:
        found[-1].spooled = 0
    return [each for each in found if each.until is None or each.until > after]
