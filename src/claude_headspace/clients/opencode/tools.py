"""The tools of opencode: the table of tools by name, and the decoding of a tool use. Pure and total."""

import re
from collections.abc import Iterator

from claude_headspace.clients.claude_code.tools import digest
from claude_headspace.clients.opencode.wire import WireToolInput
from claude_headspace.kernel import facts
from claude_headspace.kernel.policy.call import Use
from claude_headspace.kernel.text import one_line, short
from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.tools import FileUse, Tool, ToolKind, ToolUse

QUESTION = "question"
PATCH = "apply_patch"
EXTERNAL_DIRECTORY = "external_directory"
"""Not a tool: the permission to use a directory outside of the project, which any call can need first."""

TOOLS: dict[str, Tool] = {
    "bash": Tool(kind=ToolKind.SHELL, wants="run"),
    "read": Tool(kind=ToolKind.READ, doing="reading", wants="read", file="filePath"),
    "list": Tool(kind=ToolKind.READ, doing="listing", wants="list", file="path"),
    "edit": Tool(kind=ToolKind.EDIT, doing="editing", wants="edit", file="filePath", use=Use.WRITE),
    PATCH: Tool(kind=ToolKind.EDIT, doing="editing", wants="edit", use=Use.WRITE),
    "write": Tool(kind=ToolKind.WRITE, doing="writing", wants="write", file="filePath", use=Use.WRITE),
    "grep": Tool(kind=ToolKind.SEARCH, doing="searching for", file="path", names="include"),
    "glob": Tool(kind=ToolKind.SEARCH, doing="looking for"),
    "webfetch": Tool(kind=ToolKind.WEB, doing="fetching", wants="fetch"),
    "websearch": Tool(kind=ToolKind.WEB, doing="searching the web for", wants="search the web for"),
    "codesearch": Tool(kind=ToolKind.WEB, doing="searching the web for", wants="search the web for"),
    "task": Tool(kind=ToolKind.SUBAGENT),
    QUESTION: Tool(kind=ToolKind.QUESTION),
    EXTERNAL_DIRECTORY: Tool(kind=ToolKind.OTHER, wants="use the directory"),
}
"""The tools by name. An unknown tool has the kind `other`: tools of MCP servers have no mark."""

OTHER_TOOL = Tool(kind=ToolKind.OTHER)

SUMMARY_FIELDS = ("command", "file_path", "pattern", "url", "query", "name", "description", "prompt", "path")
"""The input fields that people recognise a call by, the first that is set counts."""

_PATCHED_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+)$|^\*\*\* (Move) to: (.+)$", re.MULTILINE)


def tool_use(name: str, given: object, call_id: str | None, result: object = None) -> ToolUse:
    """Describe a tool use."""
    tool, body = TOOLS.get(name, OTHER_TOOL), fit(given, WireToolInput)[0]
    return ToolUse(
        name=name,
        kind=tool.kind,
        id=call_id,
        input=given,
        result=result,
        command=body.command or "" if tool.kind is ToolKind.SHELL else "",
        path=body.file_path or body.path,
        files=tuple(_files(name, tool, given, body)),
    )


def summary_of(given: object) -> str:
    """What people recognise a call by, in one line."""
    body = fit(given, WireToolInput)[0]
    found = next((value for name in SUMMARY_FIELDS if (value := getattr(body, name))), "")
    return one_line(found or ", ".join(path for path, _ in patched_files(body.patch_text or "")))


def tool_started(use: ToolUse) -> facts.ToolStarted:
    """A call begins; without an id it is identified by its tool and input."""
    name, mark = short(use.name), digest(use.input)
    return facts.ToolStarted(short(use.id or f"{name}:{mark}"), name, mark, summary_of(use.input))


def patched_files(patch: str) -> Iterator[tuple[str, Use]]:
    """The files that a patch in the format of `apply_patch` changes."""
    for found in _PATCHED_FILE.finditer(patch):
        yield (found[2] or found[4]).strip(), Use.DELETE if found[1] == "Delete" else Use.WRITE


def _files(name: str, tool: Tool, given: object, body: WireToolInput) -> Iterator[FileUse]:
    if name == PATCH:
        yield from (FileUse(path, use) for path, use in patched_files(body.patch_text or ""))
    elif tool.names and isinstance(given, dict):
        names = given.get(tool.names)
        yield FileUse(body.path or ".", tool.use, recursive=True, names=names if isinstance(names, str) else "")
    elif tool.file and (path := body.file_path or body.path):
        yield FileUse(path, tool.use)
