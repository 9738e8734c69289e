"""A clock that never goes back, even if the system clock is set back.

The newer of two facts is the one that fired later. If the system clock were set back by an hour, everything in the next
hour would look older than what is stored, and no agent would change. So after a jump back this clock continues from
where it was and runs at half speed until the system clock has caught up. Times that come from the system clock are
corrected by the same offset.
"""

import time
from collections.abc import Callable

import structlog

from claude_headspace.kernel.envelope import SECOND, Micros

log = structlog.get_logger(__name__)

MIN_JUMP: Micros = SECOND // 4
"""Smaller differences are normal adjustments of the system clock."""
MIN_REPORTED_JUMP: Micros = SECOND
MAX_FUTURE: Micros = 24 * 3600 * SECOND
"""A stored time further in the future than this was not caused by a clock that was set back, and is ignored."""


def wall_clock() -> Micros:
    """The time, in microseconds."""
    return time.time_ns() // 1_000


class SteadyClock:
    """The system clock plus an offset, which is zero unless the clock was set back."""

    def __init__(
        self,
        on_jump: Callable[[str], None] = lambda _message: None,
        wall_ns: Callable[[], int] = time.time_ns,
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._on_jump = on_jump
        self._wall_ns = wall_ns
        self._monotonic_ns = monotonic_ns
        self._last_wall, self._last_monotonic = wall_ns() // 1_000, monotonic_ns() // 1_000
        self._offset: Micros = 0
        self._last = self._last_wall

    def __call__(self) -> Micros:
        """The current time."""
        wall, monotonic = self._wall_ns() // 1_000, self._monotonic_ns() // 1_000
        moved, passed = wall - self._last_wall, monotonic - self._last_monotonic
        self._last_wall, self._last_monotonic = wall, monotonic
        if moved < passed - MIN_JUMP:
            self._add_offset(passed - moved)
        else:
            self._offset = max(0, self._offset - max(0, moved) // 2)
        self._last = max(self._last, wall + self._offset)
        return self._last

    def correct(self, at: Micros) -> Micros:
        """Correct a time of the system clock. One in the future was read before the clock was set back."""
        return at if at > self._last_wall else at + self._offset

    def continue_after(self, at: Micros) -> None:
        """Make the clock continue after a stored time, if that is in the future."""
        behind = at - self()
        if 0 < behind < MAX_FUTURE:
            self._add_offset(behind)

    def _add_offset(self, jump: Micros) -> None:
        self._offset += jump
        if jump >= MIN_REPORTED_JUMP:
            log.warning("clock_set_back", seconds=jump / SECOND)
            self._on_jump(f"the system clock was set back by {jump / SECOND:.0f} s")
