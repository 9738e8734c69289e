"""Draws lines on a terminal again and again, over the lines before, without flicker."""

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from claude_headspace.surfaces.cli.output import Line, cut_line, screen

_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
_ENTER, _LEAVE = f"\x1b[?1049h{_HIDE_CURSOR}", f"{_SHOW_CURSOR}\x1b[?1049l"
"""The alternate screen without a cursor, and back."""
_HOME, _CLEAR_LINE, _CLEAR_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"

Draw = Callable[[Sequence[Line]], None]


@contextmanager
def full_screen() -> Iterator[Draw]:
    """A function that draws lines from the top of the terminal. At the end the terminal is as it was before."""
    sys.stdout.write(_ENTER)
    try:
        yield lambda lines: _write(f"{_HOME}{_joined(lines[: shutil.get_terminal_size().lines])}{_CLEAR_BELOW}")
    finally:
        _write(_LEAVE)


@contextmanager
def below_cursor() -> Iterator[Draw]:
    """A function that draws lines from the line of the cursor on. At the end they are removed."""

    def draw(lines: Sequence[Line]) -> None:
        up = f"\x1b[{len(lines) - 1}A" if len(lines) > 1 else ""
        _write(f"\r{_joined(lines)}{_CLEAR_BELOW}{up}\r")

    sys.stdout.write(_HIDE_CURSOR)
    try:
        yield draw
    finally:
        _write(f"\r{_CLEAR_BELOW}{_SHOW_CURSOR}")


def _joined(lines: Sequence[Line]) -> str:
    shown = screen()
    return "\r\n".join(shown.text(cut_line(line, shown.width)).rstrip("\n") + _CLEAR_LINE for line in lines)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
