"""A unified diff as lines for the terminal, with line numbers where there is room. Pure.

Rules
- The header of a hunk says how many lines follow, so no line of a file is taken for a header.
- Numbers are those of the file before (removed lines) and after the change. Other lines have none.
- Texts were cleaned before: hidden characters are visible marks.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from claude_headspace.surfaces.cli.output import UNLIMITED_WIDTH, Line, Span, line
from claude_headspace.surfaces.text.formatting import chop

CONTINUATION = "⤷ "
MIN_NUMBERED_WIDTH = 60
"""Narrower terminals show no line numbers."""
LINE_ROLES = {"+": "added", "-": "removed", "\\": "dim"}
"""The role of a line of a hunk by its first character."""
OTHER_ROLES = (("+++ ", "strong"), ("--- ", "strong"), ("@@ ", "hunk"), ("#", "dim"))
"""The role of a line outside of hunks by its beginning; the first one counts."""
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class DiffLine(NamedTuple):
    """A line of a diff: its numbers before and after the change, its text and its role."""

    old: int | None
    new: int | None
    text: str
    role: str

    @property
    def is_file_name(self) -> bool:
        """Whether it names the file before or after the change."""
        return self.role == "strong"


def parse_diff(diff: str) -> Iterator[DiffLine]:
    """The lines of a diff with their numbers."""
    old = new = old_left = new_left = 0
    for text in diff.rstrip("\n").split("\n"):
        if found := _HUNK.match(text):
            old, new = int(found[1]), int(found[3])
            old_left, new_left = int(found[2] or 1), int(found[4] or 1)
        if found or not (old_left or new_left) or text[:1] not in ("", " ", *LINE_ROLES):
            yield DiffLine(None, None, text, _other_role(text))
            continue
        is_old, is_new = text[:1] in ("", " ", "-"), text[:1] in ("", " ", "+")
        yield DiffLine(old if is_old else None, new if is_new else None, text, LINE_ROLES.get(text[:1], "said"))
        old, old_left = old + is_old, old_left - is_old
        new, new_left = new + is_new, new_left - is_new


def _other_role(text: str) -> str:
    if text[:1] in LINE_ROLES and not text.startswith(("+++ ", "--- ")):
        return LINE_ROLES[text[:1]]
    return next((role for start, role in OTHER_ROLES if text.startswith(start)), "said")


def diff_lines(lines: list[DiffLine], width: int) -> list[Line]:
    """The lines in colours, with their numbers if the terminal is wide enough. Output into a pipe has none."""
    highest = max((number for each in lines for number in (each.old, each.new) if number), default=0)
    digits = len(str(highest)) if highest and MIN_NUMBERED_WIDTH <= width < UNLIMITED_WIDTH - 100 else 0
    return [shown for each in lines for shown in _numbered(each, digits, width)]


def _numbered(each: DiffLine, digits: int, width: int) -> list[Line]:
    margin = f"{_number(each.old, digits)} {_number(each.new, digits)} " if digits else ""
    start = (Span(margin, "dim"),) if margin else ()
    first, *others = chop(each.text, max(width - len(margin) - len(CONTINUATION), 10))
    blank = " " * len(margin)
    return [
        (*start, Span(first, each.role)),
        *(line(Span(f"{blank}{CONTINUATION}", "dim"), Span(part, each.role)) for part in others),
    ]


def _number(number: int | None, digits: int) -> str:
    return f"{number if number is not None else '':>{digits}}"
