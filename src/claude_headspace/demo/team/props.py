"""What the team works with: commands, files, and the chapters of a day."""

from typing import Any

from claude_headspace.demo.client import HOME
from claude_headspace.demo.steps import Call, Prompt, Rests, Step

OPUS, SONNET, HAIKU = "claude-opus-4-7", "claude-sonnet-5", "claude-haiku-4-5"
MINUTES, HOURS = 60.0, 3600.0


def bash(command: str, printed: str = "", takes: float = 6.0, about: str = "") -> Call:
    """A command, and what it prints."""
    told = {"command": command, **({"description": about} if about else {})}
    return Call("Bash", told, {"stdout": printed, "stderr": "", "interrupted": False}, takes)


def fails(command: str, error: str, takes: float = 6.0) -> Call:
    """A command that fails."""
    return Call("Bash", {"command": command}, takes=takes, error=f"Exit code 1\n{error}")


def read(path: str) -> Call:
    """A file is read."""
    return Call("Read", {"file_path": f"{HOME}/{path}"}, {"type": "text", "file": {"filePath": path}}, 1.0)


def grep(pattern: str, path: str = ".", found: int = 7) -> Call:
    """A pattern is looked for."""
    return Call("Grep", {"pattern": pattern, "path": path}, {"mode": "files_with_matches", "numFiles": found}, 1.5)


def edit(path: str, old: str, new: str, takes: float = 9.0) -> Call:
    """A file is changed."""
    told: dict[str, Any] = {"file_path": f"{HOME}/{path}", "old_string": old, "new_string": new}
    return Call("Edit", told, {"filePath": path, "userModified": False}, takes)


def write(path: str, content: str, takes: float = 12.0) -> Call:
    """A file is written."""
    return Call("Write", {"file_path": f"{HOME}/{path}", "content": content}, {"type": "create"}, takes)


def chapter(asked: str, *steps: Step, then: float = 20 * MINUTES) -> tuple[Step, ...]:
    """A prompt, what came of it, and the pause after it."""
    return Prompt(asked), *steps, Rests(then)


def passed(tests: int, seconds: float) -> str:
    """What a test runner says when all is well."""
    return f"============== {tests} passed in {seconds:.2f}s =============="
