"""Patches of Codex: what a call requests, and what it changed."""

import json

import pytest

from claude_headspace.clients.changes import EDIT_EVENTS, file_edits
from claude_headspace.clients.codex.tools import tool_use
from claude_headspace.clients.requests import requested_edit
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.wait.requested_edit import Replacement, RequestedEdit, edit_diff

UPDATE = """*** Begin Patch
*** Update File: app.py
@@ def main():
 one
-two
+2
@@
-five
+5
*** End Patch
"""
ADD = "*** Begin Patch\n*** Add File: notes.txt\n+first\n+\n+third\n*** End Patch\n"
SEVERAL = ADD.replace("*** End Patch\n", "") + UPDATE.replace("*** Begin Patch\n", "*** Delete File: old.py\n")


def finished(patch: str, response: str = "Exit code: 0\nOutput:\nSuccess.", client: str = "codex") -> Envelope:
    """A finished call of `apply_patch`."""
    payload = {
        "session_id": "s1",
        "cwd": "/code/app",
        "tool_name": "apply_patch",
        "tool_input": {"command": patch},
        "tool_response": response,
    }
    return Envelope(
        id="e1",
        name="PostToolUse",
        origin=Origin.HOOK,
        client=client,
        host="laptop",
        fired_at=1,
        received_at=1,
        payload=json.dumps(payload).encode(),
    )


def test_a_patch_requests_the_edit_of_its_file() -> None:
    """Each part replaces its old lines. A patch of several files is shown as it is."""

    def requested(patch: str) -> RequestedEdit | None:
        return requested_edit("codex", tool_use("apply_patch", {"command": patch}, "c1"))

    edit = requested(UPDATE)
    assert edit == RequestedEdit(
        path="app.py", replacements=(Replacement("one\ntwo\n", "one\n2\n"), Replacement("five\n", "5\n"))
    )
    assert "+2" in edit_diff(edit, "app.py", "zero\none\ntwo\nthree\nfive\n")
    assert requested(ADD) == RequestedEdit(path="notes.txt", content="first\n\nthird\n")
    assert requested(SEVERAL) is None
    assert requested("*** Update File: a\n*** Move to: b\n") is None
    assert requested_edit("codex", tool_use("Bash", {"command": "ls"}, "c1")) is None


def test_a_patch_is_shown_in_the_changes() -> None:
    """All its files, below the directory of the thread. What was deleted is not in the patch."""
    created, updated = file_edits(finished(SEVERAL))
    assert (created.path, created.created, created.after) == ("/code/app/notes.txt", True, "first\n\nthird\n")
    assert (updated.path, updated.created) == ("/code/app/app.py", False)
    assert [line for hunk in updated.hunks for line in hunk.lines if line[0] in "+-"] == ["-two", "+2", "-five", "+5"]
    assert "PostToolUse" in EDIT_EVENTS


@pytest.mark.parametrize(
    "event",
    [
        finished(ADD, "Exit code: 1\nOutput:\nfailed"),
        finished("not a patch"),
        finished(ADD, client="gemini"),
        finished(ADD, client="claude-code"),
    ],
)
def test_other_events_change_nothing(event: Envelope) -> None:
    """A patch that failed, a text that is none, and tools of other clients."""
    assert file_edits(event) == ()


def test_a_moved_file_has_its_new_name() -> None:
    """With the changes of the patch."""
    [edit] = file_edits(finished("*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n"))
    assert edit.path == "/code/app/b.py"
