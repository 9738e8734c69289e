"""The complete request of a wait as text, and its size limits. Pure.

Rules
- The text is verbatim: a command and a plan keep their line breaks, and nothing is shortened without a mark.
- Of other tools, the text has one argument per line. Further lines of a value start with a bar, so that no value looks
  like another argument. In names and paths, line breaks are marks.
- Long text is cut in the middle, because the end of a command matters as much as its beginning. A long diff is cut at
  its end.
- `left_out` counts what was cut here and what was cut when the event was stored. Text and diff show the arguments in
  another form, so what is missing in both counts once.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.hidden_characters import mark_controls
from claude_headspace.kernel.sanitize import is_cut, left_out
from claude_headspace.kernel.text import strings_in
from claude_headspace.kernel.tools import ToolKind, ToolUse
from claude_headspace.kernel.wait.views import RequestView

MAX_TEXT, MAX_DIFF, MAX_ARGUMENT = 30_000, 60_000, 30_000
"""Characters of the text, of the diff, and of one text in the arguments."""

CONTINUED = "  │ "
"""The beginning of the second and each further line of an argument."""

FILE_KINDS = (ToolKind.EDIT, ToolKind.WRITE, ToolKind.NOTEBOOK)


def describe_message(wait: Wait, message: str | None) -> RequestView:
    """The request of a wait without a tool call. `message` is the reply that ended with a question, if it is known."""
    text = message if message is not None else wait.text
    is_complete = wait.tool is None and (message is not None or not wait.asked_in_text) and not is_cut(text)
    return RequestView(text=text, complete=is_complete, left_out=left_out(text))


def describe_call(wait: Wait, use: ToolUse, cwd: str | None, diff: str | None = None) -> RequestView:
    """The request of a wait about a tool call, without limits. Without a diff, its text has all arguments."""
    arguments = use.input if isinstance(use.input, dict) else {}
    missing = sum(left_out(text) for text in strings_in(use.input))
    is_complete = not any(is_cut(text) for text in strings_in(use.input))
    paths = _paths(use)
    return RequestView(
        text=_text(wait, use, arguments, () if diff is None else [short_path(path, cwd) for path in paths]),
        diff=diff or "",
        arguments=arguments,
        path=", ".join(paths),
        paths=paths,
        complete=is_complete,
        left_out=missing,
    )


def _paths(use: ToolUse) -> tuple[str, ...]:
    """The files that a call edits."""
    named = (use.path, *(file.path for file in use.files)) if use.kind in FILE_KINDS else ()
    return tuple(dict.fromkeys(path for path in named if path))


def _text(wait: Wait, use: ToolUse, arguments: dict[str, Any], edited: Sequence[str]) -> str:
    if use.kind is ToolKind.SHELL and use.command:
        return use.command
    if wait.kind in ("question", "plan") and use.ask is not None:
        return use.ask.text or wait.text or use.name
    if edited:
        return mark_controls(f"{use.name} {', '.join(edited)}")
    return arguments_text(arguments) or wait.text or use.name


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Named arguments, one per line. The further lines of a value start with a bar."""
    return "\n".join(f"{mark_controls(name)}: {_value(value)}" for name, value in arguments.items())


def other_arguments(text: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments besides the one that the text shows, such as the command. Empty if the text is no argument."""
    others = {name: value for name, value in arguments.items() if value != text}
    return others if len(others) < len(arguments) else {}


def short_path(path: str, cwd: str | None) -> str:
    """A path relative to the working directory, if it is inside."""
    return path.removeprefix(f"{cwd.rstrip('/')}/") if cwd else path


def _value(value: object) -> str:
    text = value if isinstance(value, str) else msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    return text.replace("\n", f"\n{CONTINUED}")


# --- limits -----------------------------------------------------------------------------------------------------------


def limited(request: RequestView) -> RequestView:
    """The request with long parts cut."""
    text, diff = _cut_middle(request.text, MAX_TEXT), _cut_end(request.diff, MAX_DIFF)
    arguments, missing = _cut_arguments(request.arguments)
    missing = max(missing, _excess(request.text, MAX_TEXT) + len(request.diff) - len(diff))
    if not missing:
        return request
    mark = "" if diff is request.diff else f"# {len(request.diff) - len(diff):,} characters left out\n"
    return msgspec.structs.replace(
        request,
        text=text,
        diff=diff + mark,
        arguments=arguments,
        complete=False,
        left_out=request.left_out + missing,
    )


def _excess(text: str, limit: int) -> int:
    return max(0, len(text) - limit)


def _cut_middle(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}\n… [{_excess(text, head + tail):,} characters left out] …\n{text[len(text) - tail :]}"


def _cut_end(diff: str, limit: int) -> str:
    """The lines of a diff that fit."""
    return diff if len(diff) <= limit else diff[: diff.rfind("\n", 0, limit) + 1]


def _cut_arguments(arguments: dict[str, Any]) -> tuple[dict[str, Any], int]:
    missing = sum(_excess(text, MAX_ARGUMENT) for text in strings_in(arguments))
    return (_cut_value(arguments), missing) if missing else (arguments, 0)


def _cut_value(value: Any) -> Any:
    match value:
        case str():
            return _cut_middle(value, MAX_ARGUMENT)
        case dict():
            return {name: _cut_value(each) for name, each in value.items()}
        case list():
            return [_cut_value(each) for each in value]
        case _:
            return value
