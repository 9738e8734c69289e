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

SLIP: Micros = SECOND // 4
"""Less than this is no jump: clocks are trimmed all the time."""
WORTH_TELLING: Micros = SECOND
FURTHEST: Micros = 24 * 3600 * SECOND
"""A moment that lies further ahead is no memory of a clock that was set back: something else is wrong with it."""


def ticks() -> Micros:
    """What passes, however the clock is set."""
    return time.monotonic_ns() // 1_000


class SteadyClock:
    """Tells the time."""

    def __init__(
        self, wall: Clock, noticed: Callable[[str], None] = lambda _what: None, passing: Clock = ticks
    ) -> None:
        self._wall = wall
        self._noticed = noticed
        self._passing = passing
        self._seen, self._ticks = wall(), passing()
        self._ahead: Micros = 0
        self._last = self._seen

    def __call__(self) -> Micros:
        """What time it is."""
        wall, passed = self._wall(), self._passing()
        moved, real = wall - self._seen, passed - self._ticks
        self._seen, self._ticks = wall, passed
        if moved < real - SLIP:
            self._set_back(real - moved)
        else:
            self._ahead = max(0, self._ahead - max(0, moved) // 2)
        self._last = max(self._last, wall + self._ahead)
        return self._last

    def told(self, at: Micros) -> Micros:
        """A moment that this machine's clock told; one that lies ahead was told before the clock was set back."""
        return at if at > self._seen else at + self._ahead

    def go_on_after(self, moment: Micros) -> None:
        """Time has been here already: it was told before this clock began."""
        behind = moment - self()
        if 0 < behind < FURTHEST:
            self._set_back(behind)

    def _set_back(self, by: Micros) -> None:
        self._ahead += by
        if by >= WORTH_TELLING:
            log.warning("clock_set_back", seconds=by / SECOND)
            self._noticed(f"the machine's clock was set back by {by / SECOND:.0f} s")
