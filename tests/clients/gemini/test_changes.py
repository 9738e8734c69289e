"""What tool calls of Gemini CLI change, before and after they run."""

from typing import Any

import msgspec

from claude_headspace.clients.gemini.changes import file_edits
from claude_headspace.clients.gemini.tools import tool_use
from claude_headspace.clients.requests import requested_edits
from claude_headspace.kernel.wait.requested_edit import Replacement, RequestedEdit


def edits(tool: str, given: dict[str, Any], response: dict[str, Any]) -> Any:
    """The edits of a finished call."""
    return file_edits(msgspec.json.encode({"tool_name": tool, "tool_input": given, "tool_response": response}))


def test_the_result_has_the_file_before_and_after() -> None:
    """The diff has the real line numbers."""
    display = {"filePath": "/app/a.py", "originalContent": "a\nb\n", "newContent": "a\nc\n", "isNewFile": False}
    (edit,) = edits("replace", {"file_path": "a.py"}, {"returnDisplay": display})
    assert (edit.path, edit.before, edit.after, edit.created) == ("/app/a.py", "a\nb\n", "a\nc\n", False)
    assert [line for hunk in edit.hunks for line in hunk.lines] == [" a", "-b", "+c"]


def test_a_new_file() -> None:
    """All of its lines are added."""
    display = {"filePath": "/app/n.py", "originalContent": "", "newContent": "x\n", "isNewFile": True}
    (edit,) = edits("write_file", {"file_path": "n.py", "content": "x\n"}, {"returnDisplay": display})
    assert (edit.created, edit.hunks[0].added) == (True, 1)


def test_without_a_result_the_input_counts() -> None:
    """A cut result is not read."""
    (edit,) = edits("replace", {"file_path": "a.py", "old_string": "b", "new_string": "c"}, {"returnDisplay": "ok"})
    assert (edit.path, edit.before) == ("a.py", None)
    assert edit.hunks[0].removed == edit.hunks[0].added == 1


def test_what_changed_nothing() -> None:
    """Failed calls, other tools, and what cannot be read."""
    assert edits("replace", {"file_path": "a.py"}, {"error": {"message": "not found"}}) == ()
    assert edits("read_file", {"file_path": "a.py"}, {}) == ()
    assert file_edits(b"\xff") == ()


def test_the_requested_edit() -> None:
    """A write has the whole text, a replacement its two texts, a dialog the whole new text."""
    write = tool_use("write_file", {"file_path": "w.txt", "content": "x"})
    assert requested_edits("gemini", write) == (RequestedEdit(path="w.txt", content="x"),)
    replace = tool_use("replace", {"file_path": "w.txt", "old_string": "a", "new_string": "b", "allow_multiple": True})
    parts = (Replacement("a", "b", True),)
    assert requested_edits("gemini", replace) == (RequestedEdit(path="w.txt", replacements=parts),)
    assert requested_edits("gemini", tool_use("run_shell_command", {"command": "ls"})) == ()
