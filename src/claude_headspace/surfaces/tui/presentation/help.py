"""The help: every key from the table, and what the shapes mean."""

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, hanging, line
from claude_headspace.surfaces.text.labels import SHAPES
from claude_headspace.surfaces.tui.keys import KEYS

MEANINGS = {
    "waiting": "it needs you: a question, a plan, a permission",
    "error": "its turn ended in an error",
    "working": "a turn runs, or a sub-agent does",
    "idle": "ready for a prompt",
    "starting": "announced, not heard of yet",
    "ended": "its client is gone",
}


def help_lines(width: int) -> list[Line]:
    """The whole help."""
    lines: list[Line] = []
    for key in KEYS:
        lines += hanging(line(Span(f" {key.label:<9}", "key")), key.meaning, width, "said")
    lines += [EMPTY_LINE]
    for state, shape in SHAPES.items():
        lines += hanging(line(Span(f" {shape} {state}", state), " " * (9 - len(state))), MEANINGS[state], width, "said")
    return [
        *lines,
        line(Span(" •", "unseen"), " " * 10, Span("something came of it that you have not looked at", "said")),
    ]
