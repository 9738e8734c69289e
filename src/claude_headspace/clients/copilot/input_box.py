"""The input box of Copilot CLI, read from its screen. Pure. Recorded with 1.0.102.

The box is drawn between two horizontal lines. Its first line starts with `❯`, or with `!` in shell mode. A dialog hides
the cursor.
"""

from claude_headspace.clients.screen import InputBox, Screen, lines_around, parse_rows, text_of

_STARTS = ("❯", "!")
_INDENT = 2
_SHELL_PLACEHOLDER = "Execute shell command"


def read_input_box(screen: Screen) -> InputBox | None:
    """The input box at the cursor; None if there is none."""
    texts = [text_of(row) for row in parse_rows(screen.text)]
    lines = lines_around(texts, screen.cursor_row)
    if not screen.has_cursor or lines is None or not texts[lines[0] + 1].startswith(_STARTS):
        return None
    top, bottom = lines
    draft = "\n".join(text[_INDENT:] for text in texts[top + 1 : bottom]).strip()
    blanks = "\n" * (screen.cursor_row - top - 1) + " " * (screen.cursor_column - _INDENT)
    if not texts[top + 1].startswith("!"):
        return InputBox(draft or blanks)
    return InputBox("!" + (draft if draft != _SHELL_PLACEHOLDER else ""))
