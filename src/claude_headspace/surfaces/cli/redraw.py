"""Draws lines on a terminal again and again, over the lines before, without flicker."""

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from claude_headspace.surfaces.cli.output import Line, cut_line, screen

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
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


def _joined(lines: Sequence[Line]) -> str:
    shown = screen()
    return "\r\n".join(shown.text(cut_line(line, shown.width)).rstrip("\n") + _CLEAR_LINE for line in lines)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
