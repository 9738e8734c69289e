"""The input box of Claude Code, read from its screen: the draft in it, and whether another draft is stashed. Pure.

The box is drawn between two horizontal lines, and the cursor is in it. Its first line starts with `❯`, or with `!` in
shell mode. A placeholder is dim, except for its first character, which is under the cursor. Recorded with 2.1.197 and
2.1.325, both of which stash the draft with Ctrl+S and restore it after the next prompt.

Rules
- A screen without a box with the cursor is not an empty box: a dialog or another view is open.
- Spaces and empty lines before the cursor are a draft, too. The cursor is the first reversed character.
- Only the box at the cursor counts. The conversation above it may contain text that looks like a box.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

STASH_KEY = "C-s"
"""The key that stashes the draft, as tmux names it. In an empty box it restores the draft."""

_SEQUENCE = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-B]|[\x0e\x0f]")
_STARTS = ("❯\xa0", "❯ ", "!\xa0", "! ", "❯", "!")
_INDENT = 2
_MIN_BORDER = 8
_STASHED = "› stashed"
_SKIPPED_PARAMETERS = {"5": 2, "2": 4}
"""After 38, 48 or 58: how many parameters name a colour."""


class InputBox(NamedTuple):
    """The input box. In shell mode the draft starts with `!`."""

    draft: str
    has_stash: bool = False


class _Cell(NamedTuple):
    text: str
    is_dim: bool
    is_reverse: bool


_Row = list[_Cell]


def read_input_box(screen: str, cursor_row: int) -> InputBox | None:
    """The input box on a screen, which was captured with its colours; None if there is none at the cursor."""
    rows = list(_rows(screen))
    texts = ["".join(cell.text for cell in row).rstrip() for row in rows]
    top = next((at for at in range(min(cursor_row, len(rows)) - 1, -1, -1) if _is_border(texts[at])), None)
    bottom = next((at for at in range(cursor_row, len(rows)) if _is_border(texts[at])), None)
    if top is None or bottom is None or bottom <= top + 1 or not texts[top + 1].startswith(_STARTS):
        return None
    start = "!" if texts[top + 1].startswith("!") else ""
    return InputBox(start + _draft(rows[top + 1 : bottom]), _STASHED in "\n".join(texts[max(top - 2, 0) : top]).lower())


def is_client_command(text: str) -> bool:
    """Whether the client runs a text itself, without reporting it as a prompt: `/model`, `!ls`."""
    return text.startswith(("/", "!"))


def _is_border(text: str) -> bool:
    """Whether a row is a horizontal line. The upper one may contain a name."""
    return text.startswith("─" * _MIN_BORDER) and text.endswith("─")


def _draft(rows: list[_Row]) -> str:
    bodies = [row[_INDENT:] for row in rows]
    cells = [cell for row in bodies for cell in row if cell.text.strip()]
    written = [cell for cell in cells if not cell.is_dim]
    if len(written) < len(cells) and all(cell.is_reverse for cell in written):
        return ""  # a placeholder
    lines = ("".join(cell.text for cell in row if not cell.is_dim).rstrip() for row in bodies)
    return "\n".join(lines).strip() or _blanks_before_cursor(bodies)


def _blanks_before_cursor(rows: list[_Row]) -> str:
    before: list[str] = []
    for row in rows:
        for cell in row:
            if cell.is_reverse:
                return "".join(before)
            before.append(cell.text)
        before.append("\n")
    return ""


def _rows(screen: str) -> Iterator[_Row]:
    """The characters of a screen with their styles, which continue from line to line.

    tmux leaves out spaces at the end of a line. If it is reversed there, the cursor is on such a space.
    """
    is_dim = is_reverse = False
    for line in screen.split("\n"):
        row: _Row = []
        at = 0
        for found in _SEQUENCE.finditer(line):
            row += [_Cell(each, is_dim, is_reverse) for each in line[at : found.start()]]
            at = found.end()
            if found.group(1) is not None:
                is_dim, is_reverse = _style(found.group(1), is_dim, is_reverse)
        row += [_Cell(each, is_dim, is_reverse) for each in line[at:]]
        yield [*row, _Cell(" ", is_dim, True)] if is_reverse else row


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
