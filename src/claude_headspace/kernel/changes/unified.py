"""Unified diffs: compute hunks from two texts, apply hunks to a text, and format hunks."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher

from claude_headspace.kernel.changes.model import NO_NEWLINE, Hunk
from claude_headspace.kernel.hidden_characters import mark_controls

CONTEXT_LINES = 3

MAX_COMPARISONS = 4_000_000
"""Texts whose differing parts have more pairs of lines than this are shown as replaced, because comparing is slow."""


def compare(before: str, after: str) -> tuple[Hunk, ...]:
    """The hunks that turn one text into the other."""
    old, new = _lines(before), _lines(after)
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    first = max(0, start - CONTEXT_LINES)
    rest = max(0, end - CONTEXT_LINES)
    return tuple(_hunks(old[first : len(old) - rest], new[first : len(new) - rest], first))


def apply(text: str, hunks: Iterable[Hunk]) -> str | None:
    """The text after the hunks; None if they do not fit."""
    lines, shift = _lines(text), 0
    for hunk in hunks:
        old, new = _sides(hunk)
        start = max(hunk.old_start - 1, 0) + shift
        if [line.rstrip("\n") for line in lines[start : start + len(old)]] != [line.rstrip("\n") for line in old]:
            return None
        lines[start : start + len(old)] = new
        shift += len(new) - len(old)
    return "".join(lines)


def format_diff(path: str, hunks: Sequence[Hunk], *, created: bool = False, deleted: bool = False) -> str:
    """The hunks of one file as a unified diff. A control character in its name is a mark: the name has one line."""
    name = mark_controls(path.lstrip("/"))
    header = ["--- /dev/null" if created else f"--- a/{name}", "+++ /dev/null" if deleted else f"+++ b/{name}"]
    return "\n".join([*header, *(line for hunk in hunks for line in (header_of(hunk), *hunk.lines))]) + "\n"


def header_of(hunk: Hunk) -> str:
    """The line `@@ -1,3 +1,4 @@` of a hunk."""
    old = sum(line[:1] not in ("+", "\\") for line in hunk.lines)
    new = sum(line[:1] not in ("-", "\\") for line in hunk.lines)
    section = f" {mark_controls(hunk.section)}" if hunk.section else ""
    return f"@@ -{_range(hunk.old_start, old)} +{_range(hunk.new_start, new)} @@{section}"


def added_lines(text: str) -> tuple[Hunk, ...]:
    """A new text as a hunk that adds all of its lines."""
    return (Hunk(0, 1, tuple(_prefixed("+", _lines(text)))),) if text else ()


def _lines(text: str) -> list[str]:
    """The lines with their line break. Only a line feed ends a line, as in git."""
    parts = text.split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """The number of equal lines at the start."""
    for index, (one, other) in enumerate(zip(first, second, strict=False)):
        if one != other:
            return index
    return min(len(first), len(second))


def _hunks(old: list[str], new: list[str], offset: int) -> Iterator[Hunk]:
    if len(old) * len(new) > MAX_COMPARISONS:
        yield Hunk(offset + 1, offset + 1, (*_prefixed("-", old), *_prefixed("+", new)))
        return
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(CONTEXT_LINES):
        lines: list[str] = []
        for tag, old_start, old_end, new_start, new_end in group:
            if tag == "equal":
                lines += _prefixed(" ", old[old_start:old_end])
                continue
            lines += _prefixed("-", old[old_start:old_end])
            lines += _prefixed("+", new[new_start:new_end])
        yield Hunk(_start(group[0][1], offset, old), _start(group[0][3], offset, new), tuple(lines))


def _start(index: int, offset: int, lines: Sequence[str]) -> int:
    """The number of the first line of a hunk; 0 in an empty text."""
    return offset + index + 1 if lines else 0


def _prefixed(prefix: str, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        yield prefix + line.removesuffix("\n")
        if not line.endswith("\n"):
            yield NO_NEWLINE


def _sides(hunk: Hunk) -> tuple[list[str], list[str]]:
    """The lines of a hunk before and after, with their line breaks."""
    old, new = list[str](), list[str]()
    for index, line in enumerate(hunk.lines):
        ends = index + 1 < len(hunk.lines) and hunk.lines[index + 1].startswith("\\")
        text = line[1:] + ("" if ends else "\n")
        if line[:1] in (" ", "-"):
            old.append(text)
        if line[:1] in (" ", "+"):
            new.append(text)
    return old, new


def _range(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start},{count}"
