"""The screen of a terminal as characters with their styles, for code that reads the screens of clients. Pure."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_SEQUENCE = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-B]|[\x0e\x0f]")
_SKIPPED_PARAMETERS = {"5": 2, "2": 4}
"""After 38, 48 or 58: how many parameters name a colour."""
_MIN_BORDER = 8

SHELL_MODE = "!"
"""The draft in an empty input box in shell mode."""


class Screen(NamedTuple):
    """The visible text of a pane, with its colours as escape sequences, and the place of the cursor."""

    text: str
    cursor_row: int
    cursor_column: int = 0
    has_cursor: bool = True
    """Whether the cursor is visible. Some clients hide it and draw their own."""


class Cell(NamedTuple):
    """One character."""

    text: str
    is_dim: bool
    is_reverse: bool


Row = list[Cell]


class InputBox(NamedTuple):
    """The input box of a client. In shell mode the draft starts with `!`."""

    draft: str
    has_stash: bool = False
    """Whether the client keeps another draft."""


def parse_rows(screen: str) -> Iterator[Row]:
    """The characters of a screen with their styles, which continue from line to line.

    tmux leaves out spaces at the end of a line. If it is reversed there, the cursor is on such a space.
    """
    is_dim = is_reverse = False
    for line in screen.split("\n"):
        row: Row = []
        at = 0
        for found in _SEQUENCE.finditer(line):
            row += [Cell(each, is_dim, is_reverse) for each in line[at : found.start()]]
            at = found.end()
            if found.group(1) is not None:
                is_dim, is_reverse = _style(found.group(1), is_dim, is_reverse)
        row += [Cell(each, is_dim, is_reverse) for each in line[at:]]
        yield [*row, Cell(" ", is_dim, True)] if is_reverse else row


def text_of(row: Row) -> str:
    """The text of a row without spaces at its end."""
    return "".join(cell.text for cell in row).rstrip()


def lines_around(texts: list[str], cursor_row: int) -> tuple[int, int] | None:
    """The horizontal lines above and below the cursor; None if there are none."""
    top = next((at for at in range(min(cursor_row, len(texts)) - 1, -1, -1) if _is_border(texts[at])), None)
    bottom = next((at for at in range(cursor_row, len(texts)) if _is_border(texts[at])), None)
    return None if top is None or bottom is None or bottom <= top + 1 else (top, bottom)


def blanks_before_cursor(rows: list[Row]) -> str:
    """The blanks before the first reversed character, which is the cursor; empty if there is none."""
    before: list[str] = []
    for row in rows:
        for cell in row:
            if cell.is_reverse:
                return "".join(before)
            before.append(cell.text)
        before.append("\n")
    return ""


def _is_border(text: str) -> bool:
    """Whether a row is a horizontal line. The upper one may contain a name."""
    return text.startswith("─" * _MIN_BORDER) and text.endswith("─")


def _style(parameters: str, is_dim: bool, is_reverse: bool) -> tuple[bool, bool]:
    """Whether text is dim and reversed after a sequence with these parameters."""
    numbers = iter(parameters.split(";"))
    for number in numbers:
        if number in ("38", "48", "58"):
            for _ in range(_SKIPPED_PARAMETERS.get(next(numbers, ""), 0) - 1):
                next(numbers, "")
        is_dim = number == "2" or (is_dim and number not in ("", "0", "22"))
        is_reverse = number == "7" or (is_reverse and number not in ("", "0", "27"))
    return is_dim, is_reverse
