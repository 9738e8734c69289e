"""The help: all keys, and the meaning of the shapes."""

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, hanging, line
from claude_headspace.surfaces.text.labels import SHAPES
from claude_headspace.surfaces.tui.keys import KEYS

MEANINGS = {
    "waiting": "needs you: a question, a plan or a permission request",
    "error": "the last turn ended with an error",
    "working": "a turn or a sub-agent is running",
    "idle": "ready for a prompt",
    "starting": "registered, has not reported yet",
    "ended": "the client has ended",
}


def help_lines(width: int) -> list[Line]:
    """All lines of the help."""
    lines: list[Line] = []
    for key in KEYS:
        lines += hanging(line(Span(f" {key.label:<9}", "key")), key.description, width, "said")
    lines += [EMPTY_LINE]
    for state, shape in SHAPES.items():
        lines += hanging(line(Span(f" {shape} {state}", state), " " * (9 - len(state))), MEANINGS[state], width, "said")
    return [
        *lines,
        line(Span(" •", "unseen"), " " * 10, Span("has changes that you have not seen", "said")),
    ]
