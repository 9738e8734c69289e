"""Writes to the terminal, alone with `redraw.py`. A line consists of texts with roles; roles become colours here.

Colours are used on a terminal unless `NO_COLOR` is set, and elsewhere if `FORCE_COLOR` is set. They are the 16 colours
that the user's terminal theme defines.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from rich.cells import cell_len, set_cell_size

from claude_headspace.surfaces.text.formatting import clean_json, cut, wrap


class Span(NamedTuple):
    """A text with its role: a key of `ROLES`, or the codes of text from another terminal (`ansi_role`)."""

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
    "dim": "2",
    "strong": "1",
    "found": "1;4",
    "added": "32",
    "removed": "31",
    "hunk": "36",
}
"""ANSI codes by role. A waiting agent is the only one with a background colour."""

ANSI_PREFIX = "ansi:"

UNLIMITED_WIDTH = 10_000
EMPTY_LINE: Line = ()
CANNOT_START = (126, 127)
"""What a shell returns if a program does not exist or cannot be executed."""


class Screen(NamedTuple):
    """Standard output: its width, and how to write to it."""

    width: int
    colour: bool
    is_interactive: bool
    """Whether standard output is a terminal. Then the next commands worth typing are printed, too."""

    def show(self, lines: Iterable[Line], then: Iterable[Line] = ()) -> None:
        """Print lines; on a terminal also `then`, the next commands worth typing."""
        for each in (*lines, *then) if self.is_interactive else lines:
            sys.stdout.write(self.text(each))
        sys.stdout.flush()

    def show_in_pager(self, lines: Sequence[Line]) -> None:
        """Print lines; on a terminal that is too low for them through `$PAGER`."""
        pager = os.environ.get("PAGER", "less")
        fits = not (self.is_interactive and pager) or len(lines) < shutil.get_terminal_size().lines
        if fits or not _page(pager, "".join(map(self.text, lines))):
            self.show(lines)

    def text(self, line: Line) -> str:
        """A line as text, with its colours."""
        return "".join(_paint(span) if self.colour else span.text for span in line).rstrip() + "\n"


def screen() -> Screen:
    """The properties of standard output."""
    interactive = sys.stdout.isatty()
    columns = os.environ.get("COLUMNS", "")
    width = (
        shutil.get_terminal_size().columns if interactive or (columns.isdigit() and int(columns)) else UNLIMITED_WIDTH
    )
    plain = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    wanted = interactive or bool(os.environ.get("FORCE_COLOR"))
    return Screen(max(width, 20), wanted and not plain, interactive)


def line(*parts: Span | str) -> Line:
    """A line made of parts."""
    return tuple(Span(part) if isinstance(part, str) else part for part in parts)


def dim(text: str) -> Line:
    """A dim line."""
    return (Span(text, "dim"),)


def ansi_role(codes: str) -> str:
    """The role of a text that has these ANSI codes already (`surfaces/text/ansi.py`)."""
    return f"{ANSI_PREFIX}{codes}" if codes else ""


def cut_line(line: Line, width: int) -> Line:
    """A line without what is beyond a width."""
    spans: list[Span] = []
    for span in line:
        wide = cell_len(span.text)
        if wide > width:
            return (*spans, Span(set_cell_size(span.text, width), span.role))
        spans.append(span)
        width -= wide
    return tuple(spans)


def row(cells: Iterable[Span], widths: Iterable[int], right: Iterable[bool]) -> Line:
    """Cells side by side, each cut and padded to its width."""
    parts: list[Span] = []
    for cell, width, to_right in zip(cells, widths, right, strict=True):
        text = cut(cell.text, width)
        space = " " * (width - cell_len(text))
        parts += [Span(space), Span(text, cell.role)] if to_right else [Span(text, cell.role), Span(space)]
        parts.append(Span("  "))
    return tuple(parts)


def _page(pager: str, text: str) -> bool:
    """Run a pager until the user leaves it; whether it could be started."""
    options = {"LESS": "FRX", **os.environ}  # show colours, and leave what was read on the screen
    process = subprocess.Popen(["/bin/sh", "-c", pager], stdin=subprocess.PIPE, env=options)
    with suppress(BrokenPipeError, KeyboardInterrupt):  # the user left before the end
        process.communicate(text.encode("utf-8", "replace"))
    return process.wait() not in CANNOT_START


def _paint(span: Span) -> str:
    is_ansi = span.role.startswith(ANSI_PREFIX)
    code = span.role.removeprefix(ANSI_PREFIX) if is_ansi else ROLES.get(span.role)
    return f"\x1b[{code}m{span.text}\x1b[0m" if code and span.text else span.text


def hanging(start: Line, text: str, width: int, role: str = "", indent: int | None = None) -> list[Line]:
    """A text that is wrapped with a hanging indent: below its first word, or at `indent`."""
    used = sum(cell_len(span.text) for span in start)
    margin = used if indent is None else indent
    first, *others = wrap(text, max(width - margin, 20), used - margin)
    return [(*start, Span(first, role)), *((Span(" " * margin), Span(each, role)) for each in others)]


_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


READING_SECONDS = 0.5
"""How long a question must be on the screen before it can be confirmed."""


def confirm(question: str) -> bool:
    """Ask a question on the terminal. Keys before it, and a yes within half a second after it, do not count."""
    while True:
        with suppress(termios.error, ValueError):
            termios.tcflush(sys.stdin, termios.TCIFLUSH)
        sys.stdout.write(f"{question} [y/N] ")
        sys.stdout.flush()
        asked_at = time.monotonic()
        is_yes = sys.stdin.readline().strip().lower() in ("y", "yes")
        if not is_yes or time.monotonic() - asked_at >= READING_SECONDS:
            return is_yes
        sys.stdout.write("Too early: nothing was confirmed. Read the text above, then answer.\n")


def ask(question: str, *, default: bool) -> bool:
    """Ask a question on the terminal. Enter takes the default; an end of the input ends the program."""
    while True:
        sys.stdout.write(f"{question} [{'Y/n' if default else 'y/N'}]: ")
        sys.stdout.flush()
        if not (line := sys.stdin.readline()):
            raise EOFError
        match line.strip().lower():
            case "":
                return default
            case "y" | "yes":
                return True
            case "n" | "no":
                return False
        sys.stdout.write("Answer y or n.\n")


def ask_line(question: str) -> str:
    """Ask for a text on the terminal. An end of the input ends the program."""
    sys.stdout.write(f"{question}: ")
    sys.stdout.flush()
    if not (line := sys.stdin.readline()):
        raise EOFError
    return line.strip()


def can_ask() -> bool:
    """Whether a person is at the terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def write_json(value: Any, *, indent: int | None = 2) -> None:
    """Print a value as JSON."""
    write_json_text(json.dumps(value, indent=indent, ensure_ascii="utf" not in (sys.stdout.encoding or "").lower()))


def write_text(text: str) -> None:
    """Print a text that is safe already."""
    sys.stdout.write(text)
    sys.stdout.flush()


def write_json_text(text: str) -> None:
    """Print a text that is JSON already. Control characters are escaped, as JSON allows."""
    sys.stdout.write(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
    sys.stdout.flush()


def write_result(result: Any, as_json: bool, lines: Callable[[Any, Screen], Iterable[Line]]) -> None:
    """Print a result: as JSON for programs, as lines for people. Hidden characters are marks before `lines` runs."""
    if as_json:
        write_json(result)
        return
    terminal = screen()
    terminal.show(lines(clean_json(result), terminal))
