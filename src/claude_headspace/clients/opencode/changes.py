"""The edits of files that a finished tool call of opencode reports. Pure and total.

Rules
- The client's own diff counts: it has the real line numbers. Without one, the edit is shown from the call's input.
- A stored text may have been cut. What is missing is counted, and a cut text never counts as complete.
"""

import re

import msgspec

from claude_headspace.clients.opencode.edits import WireFileEdit
from claude_headspace.kernel.changes.model import FileEdit, Hunk
from claude_headspace.kernel.changes.unified import added_lines, compare
from claude_headspace.kernel.sanitize import left_out
from claude_headspace.kernel.tolerant_json import UNREADABLE, fit

EDIT_EVENTS = frozenset({"tool.execute.after"})
"""The names of the events that report edits."""

_HUNK = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


class _Metadata(msgspec.Struct, frozen=True):
    diff: str = ""
    exists: bool | None = None


class _Response(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()


class _Input(WireFileEdit, frozen=True):
    file_path: str = msgspec.field(default="", name="filePath")


class _Call(msgspec.Struct, frozen=True):
    tool_name: str = ""
    tool_input: object = None
    tool_response: object = None


def file_edits(payload: bytes) -> tuple[FileEdit, ...]:
    """The edits that a stored payload reports; empty for other tools and what cannot be read."""
    try:
        call = msgspec.json.decode(payload, type=_Call)
    except UNREADABLE:
        return ()
    given, result = fit(call.tool_input, _Input)[0], fit(call.tool_response, _Response)[0].metadata
    if not given.file_path:
        return ()
    if call.tool_name == "edit":
        return (_edit(given, result),)
    return (_write(given, result),) if call.tool_name == "write" else ()


def _edit(given: _Input, result: _Metadata) -> FileEdit:
    missing = left_out(result.diff)
    hunks = () if missing else tuple(_hunks(result.diff))
    if not hunks:
        hunks = compare(given.old_string, given.new_string)
        missing = left_out(given.old_string) + left_out(given.new_string)
    return FileEdit(path=given.file_path, hunks=hunks, created=not given.old_string, left_out=missing)


def _write(given: _Input, result: _Metadata) -> FileEdit:
    content, created = given.content or "", result.exists is False
    missing = left_out(content)
    return FileEdit(
        path=given.file_path,
        hunks=added_lines(content),
        before="" if created else None,
        after=None if missing else content,
        created=created,
        left_out=missing,
    )


def _hunks(diff: str) -> list[Hunk]:
    """The hunks of a unified diff of one file."""
    found: list[tuple[int, int, list[str]]] = []
    for line in diff.splitlines():
        if head := _HUNK.match(line):
            found.append((int(head[1]), int(head[2]), []))
        elif found and line[:1] in (" ", "-", "+", "\\"):
            found[-1][2].append(line)
    return [Hunk(old, new, tuple(lines)) for old, new, lines in found]
