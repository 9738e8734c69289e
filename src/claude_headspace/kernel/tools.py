"""A tool use as the kernel sees it: what kind of tool, with which input, on which files. Decoded once by the client.

Rules
- Tool names are data of the client. Everything that depends on what a tool does uses its `ToolKind`.
- `ToolUse.input` and `ToolText.value` are JSON values as builtins. Nothing parses them again.
"""

from enum import StrEnum
from typing import Any

import msgspec

from claude_headspace.kernel.policy.call import Use
from claude_headspace.kernel.wait.request import Ask


class ToolKind(StrEnum):
    """What a tool does."""

    SHELL = "shell"
    READ = "read"
    EDIT = "edit"
    WRITE = "write"
    NOTEBOOK = "notebook"
    SEARCH = "search"
    WEB = "web"
    QUESTION = "question"
    PLAN = "plan"
    SUBAGENT = "subagent"
    MESSAGE = "message"
    MCP = "mcp"
    OTHER = "other"


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a tool."""

    kind: ToolKind
    doing: str = ""
    """The verb for a running call: "editing" (auth.py)."""
    wants: str = ""
    """The verb for a permission: wants to "edit"."""
    file: str = ""
    """The input field that names the one file it touches."""
    use: Use = Use.READ
    """What it does to that file."""
    names: str = ""
    """The input field with a glob of file names, for a tool that reads all files of a directory."""
    asks: str = ""
    """The kind of wait, for a tool that asks the user."""


class FileUse(msgspec.Struct, frozen=True):
    """A path as the input names it, and what the tool does to it."""

    path: str
    use: Use
    recursive: bool = False
    """Whether the use includes everything below, if the path is a directory."""
    names: str = ""
    """A glob: of a directory, only files with such names are used."""


class ToolUse(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One tool call as its event describes it."""

    name: str
    kind: ToolKind = ToolKind.OTHER
    id: str | None = None
    input: Any = None
    """The input as builtins; an object unless the payload is malformed."""
    result: Any = None
    """The result as builtins, the error text, or why the call was refused; None while it runs."""
    command: str = ""
    """What a shell would run."""
    path: str | None = None
    """The file or directory that the input names."""
    files: tuple[FileUse, ...] = ()
    """The files that a policy looks at; a shell's are in its command."""
    ask: Ask | None = None
    """What a tool that asks the user asks."""

    @property
    def loaded_file(self) -> str | None:
        """The file that comes into the context."""
        return self.path if self.kind is ToolKind.READ else None


class ToolText(msgspec.Struct, frozen=True, gc=False):
    """A part of an event that search finds: an input or a result of a tool, as a JSON value."""

    kind: str
    """`tool_input` or `tool_result`."""
    tool: str | None
    value: Any
