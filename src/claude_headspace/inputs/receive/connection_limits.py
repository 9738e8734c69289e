"""Limits for connections: how many, in total and per peer, how long they may wait, and how much they may buffer.

A connection waits for a request, receives one, or is busy: its request is complete and gets a reply, possibly much
later (a held hook, a stream). Busy connections are never closed here.

Rules
- A connection that waits too long is closed. So is one that receives a request too slowly, or whose client does not
  read the reply.
- Above a limit, the connection that has waited longest is closed in favour of a new one, so that a flood of idle
  connections never keeps hooks out. A new connection is refused only if all others are busy.
- If requests that are not complete use too much memory, the one that has stalled longest is closed.
- Time in which the daemon does not read, because it has enough to do, does not count.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable

import msgspec

from claude_headspace.kernel.text import count

SWEEP_SECONDS = 1.0
BYTES_PER_SECOND = 16 * 1024
"""A request gets a second more for each of these."""

IDLE, SLOW, CONNECTIONS, MEMORY = "idle", "slow", "too many", "too much memory"
"""Why a connection was closed."""


class ConnectionLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits. Times are in seconds."""

    max_connections: int = 1024
    max_per_peer: int = 768
    idle_seconds: float = 10.0
    """Between two requests, and until a client reads more of a reply."""
    request_seconds: float = 5.0
    """Before the first request, and between two parts of one."""
    max_buffered_bytes: int = 64 * 1024 * 1024


class Connection:
    """One connection, as far as limits are concerned."""

    def __init__(self, peer: str, close: Callable[[str], None], is_paused: Callable[[], bool] = lambda: False) -> None:
        self.peer = peer
        self.close = close
        """Closes it, for a reason."""
        self.is_paused = is_paused
        """Whether the daemon does not read from it."""
        self.since = time.monotonic()
        """When it started to wait, or to receive."""
        self.last_data = self.since
        self.receiving = False
        self.unanswered = 0
        """How many complete requests have no reply yet: -1 if a reply was sent before its request was complete."""
        self.blocked_since: float | None = None
        """Since when the client does not read a reply."""
        self.had_request = False
        self.received = 0
        self.buffered = 0
        self.is_closed = False
        """Whether it was closed because of a limit."""

    def begin_request(self) -> None:
        """The first byte of a request arrived."""
        self.receiving, self.received = True, 0
        self.since = self.last_data = time.monotonic()

    def receive(self, size: int) -> None:
        """A part of a request arrived."""
        self.received += size
        self.last_data = time.monotonic()

    def complete_request(self) -> None:
        """The request is complete."""
        self.receiving, self.had_request = False, True
        self.unanswered += 1

    def wait(self) -> None:
        """The reply was sent."""
        self.unanswered -= 1
        self.since = time.monotonic()

    @property
    def is_busy(self) -> bool:
        """Whether a complete request gets a reply, which the client reads."""
        return self.unanswered > 0 and self.blocked_since is None


class ConnectionGuard:
    """Enforces the limits of one server."""

    def __init__(self, limits: ConnectionLimits | None = None) -> None:
        self.limits = limits or ConnectionLimits()
        self.closed: Counter[str] = Counter()
        """How many connections were closed, by reason."""
        self._open: set[Connection] = set()
        self._buffered = 0
        self._sweeping = False

    def __len__(self) -> int:
        return len(self._open)

    def describe(self) -> str:
        """The number of connections, and of those that were closed because of a limit."""
        closed = ", ".join(f"{number:,} {reason}" for reason, number in sorted(self.closed.items()))
        return f"{count(len(self), 'connection')}" + (f"; closed because of a limit: {closed}" if closed else "")

    def health(self) -> tuple[bool, str | None, str]:
        """It always works; the detail reports connections that were closed."""
        return True, None, self.describe()

    def add(self, connection: Connection) -> bool:
        """Add a new connection, in place of others if there are too many. False if all others are busy."""
        same_peer = [each for each in self._open if each.peer == connection.peer]
        is_full = len(self._open) >= self.limits.max_connections
        if (is_full or len(same_peer) >= self.limits.max_per_peer) and not (
            self._close_oldest(same_peer) or (is_full and self._close_oldest(self._open))
        ):
            self.closed[CONNECTIONS] += 1
            return False
        self._open.add(connection)
        if not self._sweeping:
            self._sweeping = True
            asyncio.get_running_loop().call_later(SWEEP_SECONDS, self._sweep)
        return True

    def remove(self, connection: Connection) -> None:
        """Remove a connection that is closed."""
        self.release(connection)
        self._open.discard(connection)

    def buffer(self, connection: Connection, size: int) -> None:
        """Count bytes of a request. If there are too many in total, the request that stalled longest is dropped."""
        connection.buffered += size
        self._buffered += size
        while self._buffered > self.limits.max_buffered_bytes:
            others = [each for each in self._open if each.receiving and each.buffered and each is not connection]
            if not others:
                return
            self._close(min(others, key=lambda each: each.last_data), MEMORY)

    def release(self, connection: Connection) -> None:
        """The bytes of a request are not needed any more."""
        self._buffered -= connection.buffered
        connection.buffered = 0

    def _close_oldest(self, connections: "list[Connection] | set[Connection]") -> bool:
        waiting = [each for each in connections if not each.is_busy]
        if waiting:
            self._close(min(waiting, key=lambda each: (each.receiving, each.since)), CONNECTIONS)
        return bool(waiting)

    def _close(self, connection: Connection, reason: str) -> None:
        self.closed[reason] += 1
        self.remove(connection)
        connection.is_closed = True
        connection.close(reason)

    def _sweep(self) -> None:
        now = time.monotonic()
        for each in list(self._open):
            if each.receiving and each.blocked_since is None and each.is_paused():
                each.since = each.last_data = now
            elif (reason := self._overdue(each, now)) is not None:
                self._close(each, reason)
        self._sweeping = bool(self._open)
        if self._sweeping:
            asyncio.get_running_loop().call_later(SWEEP_SECONDS, self._sweep)

    def _overdue(self, each: Connection, now: float) -> str | None:
        seconds = self.limits.request_seconds
        if each.blocked_since is not None:
            return SLOW if now - each.blocked_since > self.limits.idle_seconds else None
        if each.receiving:
            is_late = now - each.since > seconds + each.received / BYTES_PER_SECOND
            return SLOW if is_late or now - each.last_data > seconds else None
        if each.is_busy:
            return None
        return IDLE if now - each.since > (self.limits.idle_seconds if each.had_request else seconds) else None
