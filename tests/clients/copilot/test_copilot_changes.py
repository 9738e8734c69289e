"""The edits of files by Copilot CLI: what a call requests, and what a finished call reports."""

import msgspec

from claude_headspace.clients.changes import file_edits
from claude_headspace.clients.copilot.tools import tool_use
from claude_headspace.clients.requests import requested_edits
from claude_headspace.kernel.changes.model import FileEdit
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.wait.requested_edit import Replacement, RequestedEdit

CREATE = {"path": "/app/a.txt", "file_text": "one\ntwo\n"}
EDIT = {"path": "/app/a.txt", "old_str": "one", "new_str": "three"}


def finished(tool: str, given: object, result: str = "success") -> tuple[FileEdit, ...]:
    """The edits of a finished call."""
    body = {"tool_name": tool, "tool_input": given, "tool_result": {"result_type": result}}
    payload = msgspec.json.encode(body)
    return file_edits(
        Envelope(
            id="e",
            name="PostToolUse",
            origin=Origin.HOOK,
            client="copilot",
            host="h",
            fired_at=1,
            received_at=1,
            payload=payload,
        )
    )


def test_requests() -> None:
    """A new file has its content, an edit its replacement; other calls request none."""
    assert requested_edits("copilot", tool_use("create", CREATE)) == (
        RequestedEdit(path="/app/a.txt", content="one\ntwo\n"),
    )
    assert requested_edits("copilot", tool_use("edit", EDIT)) == (
        RequestedEdit(path="/app/a.txt", replacements=(Replacement("one", "three"),)),
    )
    assert requested_edits("copilot", tool_use("bash", {"command": "ls", "path": "/a"})) == ()
    assert requested_edits("copilot", tool_use("create", {"path": 1})) == ()


def test_finished_calls() -> None:
    """Successful ones, with the names of both kinds."""
    [created] = finished("Write", CREATE)
    assert (created.path, created.created, created.after) == ("/app/a.txt", True, "one\ntwo\n")
    [edited] = finished("Edit", EDIT)
    assert (edited.path, edited.created, len(edited.hunks)) == ("/app/a.txt", False, 1)
    assert finished("create", CREATE) == (created,)
    assert finished("Write", CREATE, "failure") == finished("Bash", {"command": "ls"}) == finished("Write", 7) == ()
