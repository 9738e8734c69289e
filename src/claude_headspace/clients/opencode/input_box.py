"""The input box of opencode, read from its screen. Pure. Recorded with 1.18.33.

A thick line is on the left of the box, and a line of half blocks below it, which is as wide as the box. A sidebar may
be on its right. The last row of the box names the mode: the agent and the model, or `Shell`. A dialog has no line
below.
"""

import re

from claude_headspace.clients.screen import InputBox, Screen, parse_rows, text_of

_SIDE, _CORNER, _BOTTOM = "┃", "╹", "▀"
_INDENT = 3
"""The side and two spaces."""
_PLACEHOLDER = re.compile(r'(Ask anything|Run a command)… ".*"')
_SHELL_MODE = "Shell"


def read_input_box(screen: Screen) -> InputBox | None:
    """The input box at the cursor; None if there is none."""
    texts, cursor = [text_of(row) for row in parse_rows(screen.text)], screen.cursor_row
    left = texts[cursor].find(_SIDE) if screen.has_cursor and cursor < len(texts) else -1
    bottom = next((at for at in range(cursor, len(texts)) if texts[at][left : left + 1] != _SIDE), None)
    if left < 0 or bottom is None or texts[bottom][left : left + 1] != _CORNER or bottom < cursor + 2:
        return None
    right = left + 1 + len(texts[bottom][left + 1 :]) - len(texts[bottom][left + 1 :].lstrip(_BOTTOM))
    top = next((at for at in range(cursor, -1, -1) if not _is_in_box(texts[at], left)), -1)
    inside = [text[left + _INDENT : right].strip() for text in texts[top + 1 : bottom]]
    *body, mode = inside
    draft = "\n".join(body).strip()
    is_at_start = screen.cursor_column == left + _INDENT
    if is_at_start and _PLACEHOLDER.fullmatch(draft):
        draft = ""
    blanks = "\n" * (cursor - top - 2) + " " * (screen.cursor_column - left - _INDENT)
    return InputBox(("!" if mode == _SHELL_MODE else "") + (draft or blanks))


def _is_in_box(text: str, left: int) -> bool:
    """Whether a row belongs to the box. A row of a menu has a line on its right, too."""
    return text[left : left + 1] == _SIDE and not text[left + 1 :].endswith(_SIDE)
