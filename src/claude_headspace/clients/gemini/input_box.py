"""The input box of Gemini CLI, read from its screen. Pure. Recorded with 0.61.0.

The first line of the box starts with ` >`, with ` !` in shell mode, or with ` *` if all tools are allowed. Further
lines are indented. The client draws its own cursor, as a reversed character. A dialog takes the place of the box.
"""

from claude_headspace.clients.screen import InputBox, Screen, blanks_before_cursor, parse_rows, text_of

_STARTS = (" >", " !", " *")
_INDENT = 3
_PLACEHOLDERS = ("Type your message or @path/to/file", "Type your shell command")


def read_input_box(screen: Screen) -> InputBox | None:
    """The input box at the cursor; None if there is none."""
    rows, cursor = list(parse_rows(screen.text)), screen.cursor_row
    texts = [text_of(row) for row in rows]
    top = next((at for at in range(min(cursor, len(rows) - 1), -1, -1) if texts[at].startswith(_STARTS)), None)
    if top is None:
        return None
    end = next((at for at in range(top + 1, len(rows)) if texts[at][:_INDENT].strip()), len(rows))
    bodies = [row[_INDENT:] for row in rows[top:end]]
    if end <= cursor or not any(cell.is_reverse for row in bodies for cell in row):
        return None
    draft = "\n".join(text_of(row) for row in bodies).strip()
    if draft in _PLACEHOLDERS and bodies[0][0].is_reverse and not bodies[0][0].text.strip():
        draft = ""
    start = "!" if texts[top].startswith(" !") else ""
    return InputBox(start + (draft or blanks_before_cursor(bodies)))
