"""The machine's clock, made steady: it never goes back.

Newer facts win by the time they were fired. Should the machine's clock be set back by an hour, everything that happens
in the next hour would be older than what is known, and no agent would move. So this clock goes on from where it was,
and runs at half the speed until the machine's has caught up; what the machine's clock tells meanwhile is put right by
as much.
"""

import time
from collections.abc import Callable

import structlog

from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.ports import Clock

log = structlog.get_logger(__name__)

MIN_JUMP: Micros = SECOND // 4
"""Less than this is no jump: clocks are trimmed all the time."""
MIN_REPORTED_JUMP: Micros = SECOND
MAX_FUTURE: Micros = 24 * 3600 * SECOND
"""A moment that lies further ahead is no memory of a clock that was set back: something else is wrong with it."""


def monotonic_clock() -> Micros:
    """What passes, however the clock is set."""
    return time.monotonic_ns() // 1_000


class SteadyClock:
    """Tells the time."""

    def __init__(
        self, wall: Clock, on_jump: Callable[[str], None] = lambda _what: None, monotonic: Clock = monotonic_clock
    ) -> None:
        self._wall = wall
        self._on_jump = on_jump
        self._monotonic = monotonic
        self._last_wall, self._last_monotonic = wall(), monotonic()
        self._offset: Micros = 0
        self._last = self._last_wall

    def __call__(self) -> Micros:
        """What time it is."""
        wall, passed = self._wall(), self._monotonic()
        moved, real = wall - self._last_wall, passed - self._last_monotonic
        self._last_wall, self._last_monotonic = wall, passed
        if moved < real - MIN_JUMP:
            self._add_offset(real - moved)
        else:
            self._offset = max(0, self._offset - max(0, moved) // 2)
        self._last = max(self._last, wall + self._offset)
        return self._last

    def correct(self, at: Micros) -> Micros:
        """A moment that this machine's clock told; one that lies ahead was told before the clock was set back."""
        return at if at > self._last_wall else at + self._offset

    def continue_after(self, moment: Micros) -> None:
        """Time has been here already: it was told before this clock began."""
        behind = moment - self()
        if 0 < behind < MAX_FUTURE:
            self._add_offset(behind)

    def _add_offset(self, by: Micros) -> None:
        self._offset += by
        if by >= MIN_REPORTED_JUMP:
            log.warning("clock_set_back", seconds=by / SECOND)
            self._on_jump(f"the machine's clock was set back by {by / SECOND:.0f} s")
