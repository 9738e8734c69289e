"""The input box of Codex, read from its screen. Pure. Recorded with 0.166.0.

The box has no border. Its first line starts with `›`, or with `!` in shell mode, and further lines are indented. Below
it are an empty line and one or two lines about the model and the keys. A placeholder is dim. A dialog hides the cursor.
"""

from claude_headspace.clients.screen import InputBox, Screen, parse_rows, text_of

_STARTS = ("›", "!")
_INDENT = 2


def read_input_box(screen: Screen) -> InputBox | None:
    """The input box at the cursor; None if there is none."""
    rows, cursor = list(parse_rows(screen.text)), screen.cursor_row
    texts = [text_of(row) for row in rows]
    if not screen.has_cursor or cursor >= len(rows):
        return None
    top = next((at for at in range(cursor, -1, -1) if texts[at].startswith(_STARTS)), None)
    if top is None or any(text and text[:_INDENT].strip() for text in texts[top + 1 : cursor + 1]):
        return None
    bodies = [row[_INDENT:] for row in rows[top : _end_of_box(texts, cursor)]]
    lines = ("".join(cell.text for cell in row if not cell.is_dim).rstrip() for row in bodies)
    blanks = "\n" * (cursor - top) + " " * (screen.cursor_column - _INDENT)
    return InputBox(("!" if texts[top].startswith("!") else "") + ("\n".join(lines).strip() or blanks))


def _end_of_box(texts: list[str], cursor: int) -> int:
    """The first row below the box: the empty one above the last lines of the screen."""
    last = max((at for at, text in enumerate(texts) if text), default=0)
    return next((at for at in range(last, cursor, -1) if not texts[at]), cursor + 1)
