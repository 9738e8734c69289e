"""The HTML of a complete request: warnings, text, diff, arguments. Pure.

Rules
- Text of an agent is escaped, isolated from the text around it (`<bdi>`), and has marks in place of hidden characters.
- Everything is shown in full and nothing scrolls on its own, so the buttons come after the end of the request.
- What is left out is named with its size, and a link shows it.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import msgspec

from claude_headspace.kernel.hidden_characters import HiddenCharacter, make_visible
from claude_headspace.kernel.text import count
from claude_headspace.kernel.wait.request_text import other_arguments
from claude_headspace.kernel.wait.views import RequestView, WaitDetailsView

SHOW_ALL = "all"
"""The query parameter that shows everything."""
SHOW_ALL_LINK = f'<a href="?{SHOW_ALL}=true">Show all</a>'
_MARK = re.compile(r"⟦U\+[0-9A-F]{4,6}⟧")
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_KINDS = {"+": "added", "-": "removed", " ": "context", "": "context"}


def agent_text(text: str) -> str:
    """Text of an agent, isolated, with hidden characters as marks."""
    marked = _MARK.sub(r"<mark>\g<0></mark>", escape(make_visible(text)))
    return f"<bdi>{marked}</bdi>"


def request_html(details: WaitDetailsView, *, is_all: bool) -> str:
    """The complete request of a wait. Questions are shown with their options instead."""
    parts = [
        _hidden_warning(details.hidden_characters),
        *([] if details.questions else _content(details)),
        _left_out(details.request, is_all=is_all),
    ]
    return "\n".join(part for part in parts if part)


def _content(details: WaitDetailsView) -> list[str]:
    request = details.request
    if request.diff:
        return [f"<p>{agent_text(request.text)}</p>", diff_html(request.diff, request.text)]
    if details.kind == "permission" and not request.arguments and request.text == details.tool:
        return ["<p>(no arguments)</p>"]
    if details.kind == "permission" and request.arguments and request.text not in request.arguments.values():
        return [_arguments(request.arguments)]
    others = other_arguments(request.text, request.arguments)
    text = f"<pre>{agent_text(request.text)}</pre>"
    return [text, _arguments(others)] if details.kind == "permission" and others else [text]


def _hidden_warning(found: Sequence[HiddenCharacter]) -> str:
    if not found:
        return ""
    names = Counter(f"{each.code} {each.name}" for each in found)
    listed = ", ".join(name if times == 1 else f"{name} ({times} times)" for name, times in names.items())
    explanation = "They can make a text look like another one. Each is shown as a mark."
    return f'<p class="problem" role="alert"><b>Hidden characters</b> {escape(listed)}. {explanation}</p>'


def _left_out(request: RequestView, *, is_all: bool) -> str:
    if request.complete:
        return ""
    size = f"{count(request.left_out, 'character')} left out" if request.left_out else "a part is left out"
    more = "See the agent's terminal." if is_all else SHOW_ALL_LINK
    return f'<p class="problem">Truncated: {size}. {more}</p>'


def _arguments(arguments: dict[str, Any]) -> str:
    rows = "".join(
        f"<dt>{agent_text(name)}</dt><dd>{agent_text(_value(each))}</dd>" for name, each in arguments.items()
    )
    return f"<dl>{rows}</dl>"


def _value(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


# --- diffs ------------------------------------------------------------------------------------------------------------


def diff_html(diff: str, title: str = "") -> str:
    """A unified diff as a table with line numbers. Headers that only repeat the file of the title are left out."""
    _, _, path = title.partition(" ")
    repeated = (f"--- a/{path}", f"+++ b/{path}")
    rows = [
        each for each in diff_rows(diff.removesuffix("\n").split("\n")) if each[0] != "note" or each[3] not in repeated
    ]
    columns = '<colgroup><col class="number"><col class="number"><col></colgroup>'
    return f'<table class="diff">{columns}{"".join(_row(*each) for each in rows)}</table>'


def diff_rows(lines: Sequence[str]) -> Iterator[tuple[str, int | None, int | None, str]]:
    """Kind, old and new line number, and text of each line. A hunk has as many lines as its header says."""
    old = new = old_end = new_end = 0
    for line in lines:
        if (old, new) == (old_end, new_end) or line[:1] not in _KINDS:
            if (hunk := _HUNK.match(line)) is not None:
                old, new = int(hunk[1]), int(hunk[3])
                old_end, new_end = old + int(hunk[2] or 1), new + int(hunk[4] or 1)
            yield "note", None, None, line
            continue
        kind = _KINDS[line[:1]]
        yield kind, None if kind == "added" else old, None if kind == "removed" else new, line
        old, new = old + (kind != "added"), new + (kind != "removed")


def _row(kind: str, old: int | None, new: int | None, text: str) -> str:
    if kind == "note":
        return f'<tr class="note"><td colspan="3">{agent_text(text)}</td></tr>'
    return f'<tr class="{kind}"><td>{old or ""}</td><td>{new or ""}</td><td>{agent_text(text)}</td></tr>'
