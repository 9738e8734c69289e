"""Unified diffs of two texts. Pure.

Rules
- Equal lines at the beginning and the end are skipped first, so a small change in a large file is fast.
- If the rest is too large to compare line by line, all its old lines are removed and all its new lines added.
- A last line without a line end is marked as `diff` does.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

import msgspec

CONTEXT_LINES = 3
MAX_COMPARED = 4_000_000
"""The largest product of old and new lines that are compared line by line."""
NO_LINE_END = "\\ No newline at end of file"

Edit = tuple[int, int, int, int]
"""Old lines from, to; new lines from, to."""


class FileTexts(msgspec.Struct, frozen=True):
    """A file before and after a change. None: it does not exist."""

    path: str
    old: str | None
    new: str | None


def unified_diff(texts: FileTexts) -> str:
    """The unified diff of a file; empty if nothing changes."""
    hunks = list(_hunks(_lines(texts.old or ""), _lines(texts.new or "")))
    if not hunks:
        return ""
    return "\n".join((*header(texts), *hunks)) + "\n"


def header(texts: FileTexts) -> tuple[str, str]:
    """The two lines that name the file."""
    path = texts.path.lstrip("/")
    return (
        f"--- a/{path}" if texts.old is not None else "--- /dev/null",
        f"+++ b/{path}" if texts.new is not None else "+++ /dev/null",
    )


def _lines(text: str) -> list[str]:
    """The lines with their line ends. Only a line feed ends a line."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    for group in _grouped(_edits(old, new)):
        yield from _hunk(old, new, group)


def _edits(old: Sequence[str], new: Sequence[str]) -> list[Edit]:
    """The changed ranges, in order."""
    first = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    rest = min(len(old), len(new)) - first
    last = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    old_end, new_end = len(old) - last, len(new) - last
    if (old_end - first) * (new_end - first) > MAX_COMPARED:
        return [(first, old_end, first, new_end)]
    codes = SequenceMatcher(None, old[first:old_end], new[first:new_end], autojunk=False).get_opcodes()
    return [(first + a, first + b, first + c, first + d) for tag, a, b, c, d in codes if tag != "equal"]


def _grouped(edits: Sequence[Edit]) -> Iterator[list[Edit]]:
    """Edits whose context overlaps, together."""
    group: list[Edit] = []
    for edit in edits:
        if group and edit[0] - group[-1][1] > 2 * CONTEXT_LINES:
            yield group
            group = []
        group.append(edit)
    if group:
        yield group


def _hunk(old: Sequence[str], new: Sequence[str], group: Sequence[Edit]) -> Iterator[str]:
    before = min(CONTEXT_LINES, group[0][0])
    after = min(CONTEXT_LINES, len(old) - group[-1][1])
    old_range = group[0][0] - before, group[-1][1] + after
    new_range = group[0][2] - before, group[-1][3] + after
    yield f"@@ -{_range(*old_range)} +{_range(*new_range)} @@"
    at = old_range[0]
    for old_from, old_to, new_from, new_to in group:
        yield from _marked(" ", old[at:old_from])
        yield from _marked("-", old[old_from:old_to])
        yield from _marked("+", new[new_from:new_to])
        at = old_to
    yield from _marked(" ", old[at : old_range[1]])


def _range(start: int, end: int) -> str:
    """A range of a hunk: the first line and the number of lines."""
    return f"{start + 1 if end > start else start},{end - start}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield NO_LINE_END
