"""The one door to the terminal. Lines are texts with roles; only here a role becomes a colour.

Colour is spent where it is wanted: on a terminal, without `NO_COLOR`. `FORCE_COLOR` wants it elsewhere too. Roles use
the 16 colours that the user's own theme defines.
"""

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

from rich.cells import cell_len

from claude_headspace.surfaces.text.labels import cut, wrap


class Span(NamedTuple):
    """A text with its role."""

    text: str
    role: str = ""


Line = tuple[Span, ...]

ROLES = {
    "waiting": "30;43",
    "error": "31",
    "working": "94",
    "idle": "2",
    "starting": "2",
    "ended": "2",
    "quiet": "2",
    "strong": "1",
    "found": "1;4",
}
"""Attention is the only filled colour."""

UNLIMITED = 10_000
EMPTY_LINE: Line = ()


class Screen(NamedTuple):
    """Where lines go."""

    width: int
    colour: bool
    is_interactive: bool
    """Whether a person reads along, who may want to know what to type next."""

    def show(self, lines: Iterable[Line], then: Iterable[Line] = ()) -> None:
        """Print lines, each at once; for people also `then`, what to do next."""
        for each in (*lines, *then) if self.is_interactive else lines:
            parts = [_paint(span) if self.colour else span.text for span in each]
            sys.stdout.write("".join(parts).rstrip() + "\n")
        sys.stdout.flush()


def screen() -> Screen:
    """What standard output is."""
    interactive = sys.stdout.isatty()
    told = os.environ.get("COLUMNS", "")
    width = shutil.get_terminal_size().columns if interactive or (told.isdigit() and int(told)) else UNLIMITED
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    wanted = interactive or bool(os.environ.get("FORCE_COLOR"))
    return Screen(max(width, 20), wanted and not plain, interactive)


def line(*parts: Span | str) -> Line:
    """A line of parts."""
    return tuple(Span(part) if isinstance(part, str) else part for part in parts)


def dim(text: str) -> Line:
    """A line that steps back."""
    return (Span(text, "quiet"),)


def row(cells: Iterable[Span], widths: Iterable[int], right: Iterable[bool]) -> Line:
    """Cells side by side, each cut and padded to its width."""
    parts: list[Span] = []
    for cell, width, to_right in zip(cells, widths, right, strict=True):
        text = cut(cell.text, width)
        space = " " * (width - cell_len(text))
        parts += [Span(space), Span(text, cell.role)] if to_right else [Span(text, cell.role), Span(space)]
        parts.append(Span("  "))
    return tuple(parts)


def _paint(span: Span) -> str:
    code = ROLES.get(span.role)
    return f"\x1b[{code}m{span.text}\x1b[0m" if code and span.text else span.text


def hanging(start: Line, text: str, width: int, role: str = "", indent: int | None = None) -> list[Line]:
    """A text behind its start; its further lines stand under the first one, or at the indent."""
    used = sum(cell_len(span.text) for span in start)
    margin = used if indent is None else indent
    first, *others = wrap(text, max(width - margin, 20), used - margin)
    return [(*start, Span(first, role)), *((Span(" " * margin), Span(each, role)) for each in others)]


_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def write_json(value: Any, *, indent: int | None = 2) -> None:
    """Print a value as JSON."""
    write_json_text(json.dumps(value, indent=indent, ensure_ascii="utf" not in (sys.stdout.encoding or "").lower()))


def write_json_text(text: str) -> None:
    """Print what is JSON already; what a terminal would act on is escaped, as JSON allows."""
    sys.stdout.write(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
    sys.stdout.flush()
