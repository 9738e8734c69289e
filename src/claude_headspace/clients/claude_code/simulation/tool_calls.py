"""Builds tool calls with their input and result. Paths are relative to the project. Pure."""

import msgspec

from claude_headspace.clients.claude_code.simulation.payloads import Json


class ToolCall(msgspec.Struct, frozen=True):
    """A tool call. It takes `seconds`, and fails if it has an error."""

    tool: str
    input: Json
    result: Json = {}
    seconds: float = 5.0
    error: str = ""


def bash(command: str, stdout: str = "", seconds: float = 6.0, description: str = "") -> ToolCall:
    """Run a command."""
    fields = {"command": command, **({"description": description} if description else {})}
    return ToolCall("Bash", fields, {"stdout": stdout, "stderr": "", "interrupted": False}, seconds)


def failing_bash(command: str, error: str, seconds: float = 6.0) -> ToolCall:
    """Run a command that fails."""
    return ToolCall("Bash", {"command": command}, seconds=seconds, error=f"Exit code 1\n{error}")


def read(path: str) -> ToolCall:
    """Read a file."""
    return ToolCall("Read", {"file_path": path}, {"type": "text", "file": {"filePath": path}}, 1.0)


def grep(pattern: str, path: str = ".", matches: int = 7) -> ToolCall:
    """Search files for a pattern."""
    result = {"mode": "files_with_matches", "numFiles": matches}
    return ToolCall("Grep", {"pattern": pattern, "path": path}, result, 1.5)


def edit(path: str, old: str, new: str, seconds: float = 9.0) -> ToolCall:
    """Replace text in a file."""
    fields = {"file_path": path, "old_string": old, "new_string": new}
    return ToolCall("Edit", fields, {"filePath": path, "userModified": False}, seconds)


def write(path: str, content: str, seconds: float = 12.0) -> ToolCall:
    """Write a file."""
    return ToolCall("Write", {"file_path": path, "content": content}, {"type": "create"}, seconds)
