"""The tools of Copilot CLI, and the decoding of a tool use. Pure and total.

Lines name the tools as Copilot does, hooks as Claude Code does. Everything here uses Copilot's names, so that both mean
the same call. A call is identified by its tool and input: hooks have no ids of calls.
"""

import hashlib
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from claude_headspace.kernel import facts
from claude_headspace.kernel.policy.call import Use
from claude_headspace.kernel.text import one_line, short, strings_in
from claude_headspace.kernel.tools import FileUse, Tool, ToolKind, ToolUse
from claude_headspace.kernel.wait.forms import parse_form
from claude_headspace.kernel.wait.request import Ask, Option, Question

TOOLS: dict[str, Tool] = {
    "bash": Tool(kind=ToolKind.SHELL, wants="run"),
    "powershell": Tool(kind=ToolKind.SHELL, wants="run"),
    "view": Tool(kind=ToolKind.READ, doing="reading", wants="read", file="path"),
    "create": Tool(kind=ToolKind.WRITE, doing="writing", wants="write", file="path", use=Use.WRITE),
    "edit": Tool(kind=ToolKind.EDIT, doing="editing", wants="edit", file="path", use=Use.WRITE),
    "apply_patch": Tool(kind=ToolKind.EDIT, doing="editing", wants="edit", use=Use.WRITE),
    "grep": Tool(kind=ToolKind.SEARCH, doing="searching for", file="paths", names="glob"),
    "rg": Tool(kind=ToolKind.SEARCH, doing="searching for", file="paths", names="glob"),
    "glob": Tool(kind=ToolKind.SEARCH, doing="looking for"),
    "web_fetch": Tool(kind=ToolKind.WEB, doing="fetching", wants="fetch"),
    "web_search": Tool(kind=ToolKind.WEB, doing="searching the web for", wants="search the web for"),
    "ask_user": Tool(kind=ToolKind.QUESTION, asks="question"),
    "task": Tool(kind=ToolKind.SUBAGENT),
    "write_agent": Tool(kind=ToolKind.MESSAGE),
}
"""The tools by name. An unknown tool has the kind `other`."""

OTHER_TOOL = Tool(kind=ToolKind.OTHER)

CLAUDE_NAMES = {
    "Bash": "bash",
    "Read": "view",
    "Write": "create",
    "Edit": "edit",
    "MultiEdit": "edit",
    "Grep": "grep",
    "Glob": "glob",
    "WebFetch": "web_fetch",
    "WebSearch": "web_search",
    "AskUserQuestion": "ask_user",
    "Agent": "task",
    "Task": "task",
}
"""The names in hooks whose events have the names of Claude Code."""
SAME_TOOL = {"rg": "grep"}
"""Tools that have one name in hooks and another one in lines."""

SUMMARY_FIELDS = ("command", "path", "pattern", "url", "query", "skill", "message", "description", "prompt")
"""The input fields that people recognise a call by, the first that is set counts."""

YES_OR_NO = (Option("Yes"), Option("No"))
"""The options of a field that is true or false."""
_PATCHED = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$", re.MULTILINE)
_MOVED = re.compile(r"^\*\*\* Move to: (.+)$", re.MULTILINE)


def own_name(name: str) -> str:
    """Copilot's name of a tool."""
    known = CLAUDE_NAMES.get(name, name)
    return short(SAME_TOOL.get(known, known))


def tool_use(name: str, tool_input: object, result: object = None) -> ToolUse:
    """Describe a call of a tool, given by Copilot's name."""
    tool = TOOLS.get(name, OTHER_TOOL)
    fields = tool_input if isinstance(tool_input, dict) else {}
    return ToolUse(
        name=name,
        kind=tool.kind,
        id=call_id(name, tool_input),
        input=tool_input,
        result=result,
        command=_text(fields, "command") if tool.kind is ToolKind.SHELL else "",
        path=_text(fields, "path") or None,
        files=tuple(_files(name, tool, tool_input)),
        ask=_ask(fields) if tool.asks else None,
    )


def digest(tool_input: object) -> str:
    """Identify an input. The order of its fields does not matter."""
    try:
        text = msgspec.json.encode(tool_input, order="deterministic")
    except (TypeError, ValueError, RecursionError, OverflowError):
        text = repr(tool_input).encode("utf-8", "replace")
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def call_id(name: str, tool_input: object) -> str:
    """Identify a call."""
    return short(f"{name}:{digest(tool_input)}")


def summary_of(tool_input: object) -> str:
    """What people recognise a call by, in one line; of a patch, its files."""
    if not isinstance(tool_input, dict):
        files = dict.fromkeys(file.path for file in _patched_files(tool_input))
        return one_line(", ".join(files) or next(iter(strings_in(tool_input)), ""))
    return one_line(next((text for name in SUMMARY_FIELDS if (text := _text(tool_input, name))), ""))


def tool_started(use: ToolUse) -> facts.ToolStarted:
    """A call begins."""
    return facts.ToolStarted(use.id or "", use.name, digest(use.input), summary_of(use.input), use.ask)


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


# --- questions --------------------------------------------------------------------------------------------------------


def _ask(fields: dict[str, Any]) -> Ask:
    """What the agent asks: one question for each field of its form."""
    message, form = _text(fields, "message"), parse_form(fields.get("requestedSchema"))
    questions = tuple(
        Question(
            message if len(form) == 1 and message else field.title or field.description or field.name,
            field.title if len(form) == 1 else field.name,
            YES_OR_NO if field.kind == "boolean" else tuple(Option(option.label) for option in field.options),
            field.kind == "choices",
        )
        for field in form
    )
    return Ask("question", message, questions or (Question(message),))


_RESPONSE = "User responded:"


def answer_of(result: str) -> str:
    """What the user answered, from the result of a question; empty if the user did not."""
    return result.removeprefix(_RESPONSE).strip() if result.startswith(_RESPONSE) else ""


# --- files ------------------------------------------------------------------------------------------------------------


def _files(name: str, tool: Tool, given: object) -> Iterator[FileUse]:
    if name == "apply_patch":
        yield from _patched_files(given)
        return
    fields = given if isinstance(given, dict) else {}
    if tool.names:
        found = fields.get(tool.file)
        paths = [path for path in (found if isinstance(found, list) else [found]) if isinstance(path, str) and path]
        yield from (FileUse(path, tool.use, recursive=True, names=_text(fields, tool.names)) for path in paths or ["."])
    elif tool.file and (path := _text(fields, tool.file)):
        yield FileUse(path, tool.use)


def _patched_files(given: object) -> Iterator[FileUse]:
    """The files that a patch names."""
    for text in strings_in(given):
        for verb, path in _PATCHED.findall(text):
            yield FileUse(path.strip(), Use.DELETE if verb == "Delete" else Use.WRITE)
        yield from (FileUse(path.strip(), Use.WRITE) for path in _MOVED.findall(text))
