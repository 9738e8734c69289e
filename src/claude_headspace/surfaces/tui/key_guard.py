"""Guards answers against keys that were meant for something else. Pure.

A key that answers counts only if nothing has changed for half a second: focus, selection, layout, or the step that is
shown. A key that comes too early starts the half second again, so a held key answers nothing.
"""

from collections.abc import Callable

QUIET_SECONDS = 0.5


class KeyGuard:
    """Knows when something last changed."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._changed_at = float("-inf")

    def note_change(self) -> None:
        """Something on the screen changed, or the terminal got the focus."""
        self._changed_at = self._monotonic()

    @property
    def is_quiet(self) -> bool:
        """Whether nothing has changed for long enough."""
        return self._monotonic() - self._changed_at >= QUIET_SECONDS

    def accepts(self) -> bool:
        """Whether a key that answers counts now. If not, it is a change itself."""
        if self.is_quiet:
            return True
        self.note_change()
        return False
