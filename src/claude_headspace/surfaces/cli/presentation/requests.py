"""The complete request of a wait, and what it grants, for the command line and `top`. Pure.

Rules
- A request is shown verbatim: line breaks and indentation stay, and long lines continue on the next line. It is
  indented more than the lines of Headspace, so that no line of it looks like one of them.
- What is left out is named with its size, and so are hidden characters.
- All texts were cleaned before (`clean_json`), so hidden characters are visible marks.
"""

from collections.abc import Sequence
from datetime import datetime

from claude_headspace.kernel.text import count
from claude_headspace.kernel.wait.request_text import arguments_text, other_arguments
from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, hanging, line
from claude_headspace.surfaces.cli.presentation.diffs import CONTINUATION, diff_lines, parse_diff
from claude_headspace.surfaces.text.formatting import Json, ago, chop

INDENT = "  "
MAX_NAMED = 5
"""How many kinds of hidden characters are named."""


def request_lines(details: Json, width: int) -> list[Line]:
    """The request of a wait: text, other arguments, diff, warnings. Questions are shown with their options instead."""
    request, body = details["request"], list[Line]()
    if not details["questions"]:
        body += verbatim(request["text"], width - len(INDENT), "said")
        if others := arguments_text(other_arguments(request["text"], request["arguments"])):
            body += [EMPTY_LINE, *verbatim(others, width - len(INDENT))]
    if request["diff"]:
        body += [EMPTY_LINE, *diff_lines(list(parse_diff(request["diff"])), width - len(INDENT))]
    return [*warning_lines(details, width), *(line(INDENT, *each) for each in body)]


def warning_lines(details: Json, width: int) -> list[Line]:
    """What is hidden or left out, before the request itself."""
    request, lines = details["request"], list[Line]()
    if details["hidden_characters"]:
        lines += hanging(line(), hidden_text(details["hidden_characters"]), width, "error")
    if not request["complete"]:
        size = f": {count(request['left_out'], 'character')}" if request["left_out"] else ""
        lines += hanging(line(), f"A part of the request is left out{size}.", width, "error")
    return lines


def hidden_text(found: Sequence[Json]) -> str:
    """Which hidden characters a request contains."""
    names = list(dict.fromkeys(f"{each['code']} {each['name']}" for each in found))
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return f"Contains {count(len(found), 'hidden character')}: {', '.join(names[:MAX_NAMED])}{more}."


def verbatim(text: str, width: int, role: str = "") -> list[Line]:
    """A text with its line breaks and indentation."""
    return [each for part in text.rstrip("\n").split("\n") for each in _chopped(part, width, role)]


def _chopped(text: str, width: int, role: str) -> list[Line]:
    first, *others = chop(text, max(width - len(CONTINUATION), 10))
    return [line(Span(first, role)), *(line(Span(CONTINUATION, "dim"), Span(each, role)) for each in others)]


# --- grants -----------------------------------------------------------------------------------------------------------


def suggestion_text(suggestion: Json) -> str:
    """What a suggestion grants, and where it is stored."""
    return f"{suggestion['words']}, for {suggestion['destination']}"


def suggestion_lines(suggestions: Sequence[Json], width: int) -> list[Line]:
    """What can be granted together with an approval, by id."""
    if not suggestions:
        return []
    lines = [line(Span("Can be granted with --grant ID:", "dim"))]
    for each in suggestions:
        lines += hanging(line("  ", Span(each["id"], "strong"), "  "), suggestion_text(each), width)
    return lines


def grant_text(grant: Json, now: datetime) -> str:
    """A grant: what, for how long, by whom and when."""
    return f"{suggestion_text(grant)} (by {grant['by']} through {grant['via']}, {ago(grant['at'], now)})"
