"""Lines of transcripts in a format that Headspace does not know. Pure.

They are stored without facts and counted as not understood, so that a new format of a client is noticed. Only the first
lines of each kind in a file are stored: a client may write thousands of them.
"""

from collections import Counter

MAX_STORED = 20
"""How many unknown lines of one kind are stored of each file."""
MAX_FILES = 1_000
MAX_NAME = 80
"""How much of an unknown name a report contains."""


def unknown(*names: str) -> str:
    """The report of a line whose kind is not known."""
    return f"unknown line {'/'.join(filter(None, names))[:MAX_NAME]}".strip()


class UnknownLines:
    """How many unknown lines were stored, by file and kind."""

    def __init__(self) -> None:
        self._stored: dict[str, Counter[str]] = {}

    def accept(self, path: str, problem: str | None) -> bool:
        """Whether a line with this problem is stored. A line without one always is."""
        if problem is None:
            return True
        if path not in self._stored and len(self._stored) >= MAX_FILES:
            self._stored.clear()
        counts = self._stored.setdefault(path, Counter())
        counts[problem] += 1
        return counts[problem] <= MAX_STORED
