"""The tools of Claude Code: the table of tools by name, and the decoding of a tool use. Pure and total.

A tool that is not in the table is of kind `mcp` if its name says so, else `other`.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import msgspec

from claude_headspace.clients.claude_code import SHELL_TOOL, wire
from claude_headspace.kernel import facts
from claude_headspace.kernel.policy.call import Use
from claude_headspace.kernel.text import one_line, short, strings_under
from claude_headspace.kernel.tools import FileUse, Tool, ToolKind, ToolUse
from claude_headspace.kernel.wait.request import Ask, Option, Question

TOOLS: dict[str, Tool] = {
    SHELL_TOOL: Tool(kind=ToolKind.SHELL, wants="run"),
    "Monitor": Tool(kind=ToolKind.SHELL),
    "Read": Tool(kind=ToolKind.READ, doing="reading", wants="read", file="file_path"),
    "NotebookRead": Tool(kind=ToolKind.READ, file="notebook_path"),
    "Edit": Tool(kind=ToolKind.EDIT, doing="editing", wants="edit", file="file_path", use=Use.WRITE),
    "MultiEdit": Tool(kind=ToolKind.EDIT, doing="editing", wants="edit", file="file_path", use=Use.WRITE),
    "NotebookEdit": Tool(kind=ToolKind.NOTEBOOK, doing="editing", wants="edit", file="notebook_path", use=Use.WRITE),
    "Write": Tool(kind=ToolKind.WRITE, doing="writing", wants="write", file="file_path", use=Use.WRITE),
    "Grep": Tool(kind=ToolKind.SEARCH, doing="searching for", file="path", names="glob"),
    "Glob": Tool(kind=ToolKind.SEARCH, doing="looking for"),
    "WebFetch": Tool(kind=ToolKind.WEB, doing="fetching", wants="fetch"),
    "WebSearch": Tool(kind=ToolKind.WEB, doing="searching the web for", wants="search the web for"),
    "AskUserQuestion": Tool(kind=ToolKind.QUESTION, asks="question"),
    "EnterPlanMode": Tool(kind=ToolKind.PLAN, wants="plan first", asks="plan"),
    "ExitPlanMode": Tool(kind=ToolKind.PLAN, asks="plan"),
    "Task": Tool(kind=ToolKind.SUBAGENT),
    "Agent": Tool(kind=ToolKind.SUBAGENT),
    "SendMessage": Tool(kind=ToolKind.MESSAGE),
}

MCP_PREFIX = "mcp__"
"""Tools of MCP servers are called `mcp__<server>__<tool>`."""

MCP_TOOL = Tool(kind=ToolKind.MCP)
OTHER_TOOL = Tool(kind=ToolKind.OTHER)


def find_tool(name: str) -> Tool:
    """Look a tool up by its name."""
    return TOOLS.get(name) or (MCP_TOOL if name.startswith(MCP_PREFIX) else OTHER_TOOL)


MCP_USES: tuple[tuple[Use, tuple[str, ...]], ...] = (
    (Use.DELETE, ("delete", "remove", "unlink", "move", "rename")),
    (Use.WRITE, ("write", "edit", "create", "append", "save", "patch", "update", "copy")),
)
"""What a file tool of an MCP server does, by the words in its name. Others read."""

MCP_SEARCHES = ("grep", "search")
"""Words in the names of MCP tools that read all files of a directory."""

MCP_PATHS = ("path", "file_path", "filepath", "file", "source", "destination", "target", "paths", "directory")

SUMMARY_FIELDS = (
    "command",
    "file_path",
    "notebook_path",
    "pattern",
    "url",
    "query",
    "skill",
    "subject",
    "description",
    "prompt",
    "path",
)
"""The input fields that people recognise a call by, the first that is set counts."""


def tool_use(
    name: str, tool_input: object, call_id: str | None, body: wire.WireToolInput, result: object = None
) -> ToolUse:
    """Describe a tool use; `body` has the fields of its input that every tool may have."""
    tool = find_tool(name)
    names_files = isinstance(tool_input, dict) and (tool.file or tool.kind is ToolKind.MCP)
    return ToolUse(
        name=name,
        kind=tool.kind,
        id=call_id,
        input=tool_input,
        result=result,
        command=body.command or "",
        path=body.file_path or body.notebook_path or body.path,
        files=tuple(_files(name, tool, tool_input)) if names_files else (),
        ask=_ask(tool.asks, body) if tool.asks else None,
    )


def tool_of(payload: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name of the tool and its input, from the payload of a hook. Empty if there are none."""
    given = payload.get("tool_input")
    return str(payload.get("tool_name", "")), given if isinstance(given, dict) else {}


def digest(tool_input: object) -> str:
    """Identify an input: the dialog of a call repeats its input but not its id.

    The digest is of the compact JSON that the client writes, so that hooks and transcript lines agree.
    """
    try:
        text = msgspec.json.encode(tool_input)
    except (ValueError, RecursionError, OverflowError):
        text = repr(tool_input).encode("utf-8", "replace")
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def summary_of(body: wire.WireToolInput) -> str:
    """What people recognise a call by, in one line."""
    return one_line(next((value for name in SUMMARY_FIELDS if (value := getattr(body, name))), ""))


def _ask(kind: str, body: wire.WireToolInput) -> Ask:
    """What a tool asks the user, with the ways to answer."""
    questions = tuple(
        Question(
            question.question,
            question.header,
            tuple(Option(option.label, option.description) for option in question.options),
            question.multi_select,
        )
        for question in body.questions
    )
    text = "\n".join(question.text for question in questions) or body.plan or ""
    return Ask(kind, text, questions)


def answer_of(answers: dict[str, object]) -> str:
    """What the user answered, in one text."""
    return "\n".join(f"{question} {answer}" for question, answer in answers.items() if isinstance(answer, str))


def tool_started(use: ToolUse, body: wire.WireToolInput, _hook: wire.WireTool | None = None) -> facts.ToolStarted:
    """A call begins; without an id it is identified by its tool and input."""
    name, mark = short(use.name), digest(use.input)
    return facts.ToolStarted(short(use.id or f"{name}:{mark}"), name, mark, summary_of(body), use.ask)


# --- files ------------------------------------------------------------------------------------------------------------


def _files(name: str, tool: Tool, given: Any) -> Iterator[FileUse]:
    if tool.names:
        path, names = (value if isinstance(value := given.get(field), str) else "" for field in (tool.file, tool.names))
        yield FileUse(path or ".", tool.use, recursive=True, names=names)
    elif tool.file and isinstance(path := given.get(tool.file), str):
        yield FileUse(path, tool.use)
    elif tool.kind is ToolKind.MCP:
        verb = name.rpartition("__")[2].lower()
        use = next((use for use, words in MCP_USES if any(word in verb for word in words)), Use.READ)
        paths = strings_under(given, MCP_PATHS)
        searches = use is Use.READ and any(word in verb for word in MCP_SEARCHES)
        named = (path for path in paths if path.startswith(("/", "~", ".")) or "/" in path)
        yield from (FileUse(path, use, recursive=searches) for path in named)
