"""The input box of Claude Code, read from its screen: the draft in it, and whether another draft is stashed. Pure.

The box is drawn between two horizontal lines, and the cursor is in it. Its first line starts with `❯`, or with `!` in
shell mode. A placeholder is dim, except for its first character, which is under the cursor. Recorded with 2.1.197 and
2.1.325, both of which stash the draft with Ctrl+S and restore it after the next prompt.

Rules
- A screen without a box with the cursor is not an empty box: a dialog or another view is open.
- Spaces and empty lines before the cursor are a draft, too. The cursor is the first reversed character.
- Only the box at the cursor counts. The conversation above it may contain text that looks like a box.
"""

from claude_headspace.clients.screen import (
    InputBox,
    Row,
    Screen,
    blanks_before_cursor,
    lines_around,
    parse_rows,
    text_of,
)

STASH_KEY = "C-s"
"""The key that stashes the draft, as tmux names it. In an empty box it restores the draft."""

_STARTS = ("❯\xa0", "❯ ", "!\xa0", "! ", "❯", "!")
_INDENT = 2
_STASHED = "› stashed"


def read_input_box(screen: Screen) -> InputBox | None:
    """The input box on a screen, which was captured with its colours; None if there is none at the cursor."""
    rows = list(parse_rows(screen.text))
    texts = [text_of(row) for row in rows]
    lines = lines_around(texts, screen.cursor_row)
    if lines is None or not texts[lines[0] + 1].startswith(_STARTS):
        return None
    top, bottom = lines
    start = "!" if texts[top + 1].startswith("!") else ""
    return InputBox(start + _draft(rows[top + 1 : bottom]), _STASHED in "\n".join(texts[max(top - 2, 0) : top]).lower())


def _draft(rows: list[Row]) -> str:
    bodies = [row[_INDENT:] for row in rows]
    cells = [cell for row in bodies for cell in row if cell.text.strip()]
    written = [cell for cell in cells if not cell.is_dim]
    if len(written) < len(cells) and all(cell.is_reverse for cell in written):
        return ""  # a placeholder
    lines = ("".join(cell.text for cell in row if not cell.is_dim).rstrip() for row in bodies)
    return "\n".join(lines).strip() or blanks_before_cursor(bodies)
