"""Patches of Codex: what a call requests, and what it changed."""

import json

import pytest

from claude_headspace.clients.changes import EDIT_EVENTS, file_edits
from claude_headspace.clients.codex.tools import tool_use
from claude_headspace.clients.requests import requested_edits
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


def requested(patch: str) -> tuple[RequestedEdit, ...]:
    """The edits that a patch requests."""
    return requested_edits("codex", tool_use("apply_patch", {"command": patch}, "c1"))


def test_a_patch_requests_the_edit_of_its_file() -> None:
    """Each part replaces its old lines."""
    parts = (Replacement("one\ntwo\n", "one\n2\n"), Replacement("five\n", "5\n"))
    [edit] = requested(UPDATE)
    assert edit == RequestedEdit(path="app.py", replacements=parts)
    assert "+2" in edit_diff(edit, "app.py", "zero\none\ntwo\nthree\nfive\n")
    assert requested(ADD) == (RequestedEdit(path="notes.txt", content="first\n\nthird\n"),)
    assert requested_edits("codex", tool_use("Bash", {"command": "ls"}, "c1")) == ()


def test_a_patch_requests_the_edits_of_all_its_files() -> None:
    """Also of those that it deletes or moves."""
    added, deleted, updated = requested(SEVERAL)
    assert (added.path, deleted, updated.path) == ("notes.txt", RequestedEdit(path="old.py", deleted=True), "app.py")
    [moved] = requested("*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-1\n+2\n*** End Patch")
    assert moved == RequestedEdit(path="a", replacements=(Replacement("1\n", "2\n"),), moved_to="b")


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "*** Begin Patch\n*** End Patch",
        "*** Begin Patch\n*** Add File: a\n+1\n*** Copy File: b\n*** End Patch",
        "*** Begin Patch\n*** Add File: a\n+1\nanother line\n*** End Patch",
        "*** Begin Patch\n*** Delete File: a\n-1\n*** End Patch",
        "another line\n*** Begin Patch\n*** Add File: a\n+1\n*** End Patch",
    ],
)
def test_a_patch_with_unknown_lines_is_shown_as_it_is(patch: str) -> None:
    """Its edits would leave something out."""
    assert requested(patch) == ()


def test_only_a_line_feed_ends_a_line_of_a_patch() -> None:
    """Another separator would hide the rest of a line."""
    [edit] = requested("*** Begin Patch\r\n*** Add File: a\r\n+one\x0ctwo\u2028three\r\n*** End Patch\r\n")
    assert edit.content == "one\x0ctwo\u2028three\n"


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
