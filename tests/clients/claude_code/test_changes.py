"""The edits that finished tool calls of Claude Code report."""

import json
from typing import Any

import pytest

from claude_headspace.clients.claude_code.changes import file_edits
from claude_headspace.kernel.changes.model import FileEdit, Hunk
from claude_headspace.kernel.sanitize import Bounds, truncate

PATH = "/home/dev/app/a.py"


def edits(tool: str, given: object, result: object) -> tuple[FileEdit, ...]:
    """The edits of a call, as stored."""
    payload = json.dumps({"tool_name": tool, "tool_input": given, "tool_response": result}).encode()
    return file_edits(truncate(payload, Bounds()))


def patch(*lines: str, start: int = 1) -> dict[str, Any]:
    """A hunk as the client writes it."""
    old, new = (sum(line[0] in (" ", sign) for line in lines) for sign in "-+")
    return {"oldStart": start, "oldLines": old, "newStart": start, "newLines": new, "lines": list(lines)}


def test_edit() -> None:
    """The client's hunk, and the text before and after."""
    [edit] = edits(
        "Edit",
        {"file_path": PATH, "old_string": "b", "new_string": "c"},
        {"filePath": PATH, "originalFile": "a\nb\n", "structuredPatch": [patch(" a", "-b", "+c")]},
    )
    assert edit == FileEdit(
        path=PATH, hunks=(Hunk(1, 1, (" a", "-b", "+c")),), before="a\nb\n", after="a\nc\n", created=False
    )


def test_multi_edit() -> None:
    """Several hunks of one call."""
    [edit] = edits(
        "MultiEdit",
        {"file_path": PATH, "edits": [{"old_string": "a", "new_string": "A"}, {"old_string": "b", "new_string": "B"}]},
        {"originalFileContents": "a\nb\n", "structuredPatch": [patch("-a", "-b", "+A", "+B")]},
    )
    assert (edit.hunks[0].added, edit.hunks[0].removed, edit.after) == (2, 2, "A\nB\n")


def test_multi_edit_without_a_patch() -> None:
    """The replacements of the input are shown."""
    replacements = [{"old_string": "a", "new_string": "A"}, {"old_string": "b", "new_string": "B"}]
    [edit] = edits("MultiEdit", {"file_path": PATH, "edits": replacements}, "done")
    assert [line for hunk in edit.hunks for line in hunk.lines if line[0] in "+-"] == ["-a", "+A", "-b", "+B"]


def test_write_of_a_new_file() -> None:
    """All lines are added."""
    [edit] = edits(
        "Write",
        {"file_path": PATH, "content": "hi\n"},
        {"type": "create", "content": "hi\n", "structuredPatch": [], "originalFile": None},
    )
    assert edit == FileEdit(path=PATH, hunks=(Hunk(0, 1, ("+hi",)),), before="", after="hi\n", created=True)


def test_write_over_a_file() -> None:
    """The client's hunk against the former content."""
    [edit] = edits(
        "Write",
        {"file_path": PATH, "content": "new\n"},
        {"type": "update", "content": "new\n", "structuredPatch": [patch("-old", "+new")], "originalFile": "old\n"},
    )
    assert (edit.before, edit.after, edit.created) == ("old\n", "new\n", False)


def test_write_without_a_result() -> None:
    """The content is shown as added, but the file is not said to be new."""
    [edit] = edits("Write", {"file_path": PATH, "content": "hi\n"}, "done")
    assert (edit.hunks, edit.before, edit.created) == ((Hunk(0, 1, ("+hi",)),), None, False)


NOTEBOOK = json.dumps({"cells": [{"id": "one", "source": ["a\n", "b"]}, {"source": "x"}]})


@pytest.mark.parametrize(
    ("cell", "mode", "expected"),
    [
        ("one", "replace", ["-b", "+c"]),
        ("cell-1", "replace", ["-x", "+a", "+c"]),
        ("one", "insert", ["+a", "+c"]),
        ("one", "delete", ["-a", "-b"]),
    ],
)
def test_notebook(cell: str, mode: str, expected: list[str]) -> None:
    """A cell is replaced, inserted or deleted; the hunk names it."""
    [edit] = edits(
        "NotebookEdit",
        {"notebook_path": "/n.ipynb", "new_source": "a\nc"},
        {"cell_id": cell, "edit_mode": mode, "new_source": "a\nc", "original_file": NOTEBOOK},
    )
    [hunk] = edit.hunks
    assert [line for line in hunk.lines if line[0] in "+-"] == expected
    assert (edit.path, hunk.section) == ("/n.ipynb", f"cell {cell}")


def test_a_large_original_is_cut_but_the_patch_is_complete() -> None:
    """The hunk keeps its line numbers; the text before is unknown."""
    [edit] = edits(
        "Edit",
        {"file_path": PATH, "old_string": "b", "new_string": "c"},
        {"originalFile": "line\n" * 20_000, "structuredPatch": [patch(" a", "-b", "+c", start=900)]},
    )
    assert (edit.hunks[0].old_start, edit.before, edit.after, edit.left_out) == (900, None, None, 0)


def test_a_large_new_file_says_what_is_missing() -> None:
    """The stored beginning and end are shown, and the rest is counted."""
    content = "".join(f"line {number}\n" for number in range(20_000))
    [edit] = edits("Write", {"file_path": PATH, "content": content}, {"type": "create", "content": content})
    assert edit.left_out > 100_000
    assert (edit.hunks[0].lines[0], edit.hunks[0].lines[-1]) == ("+line 0", "+line 19999")
    assert any("bytes left out" in line for line in edit.hunks[0].lines)


def test_a_large_patch_has_a_gap() -> None:
    """Both stored parts have their real line numbers."""
    lines = [f"+{'x' * 80} {number}" for number in range(1_000)]
    [edit] = edits(
        "Edit", {"file_path": PATH, "old_string": "a", "new_string": "b"}, {"structuredPatch": [patch(*lines, start=5)]}
    )
    first, second = edit.hunks
    assert (first.new_start, second.new_start + second.added) == (5, 1_005)
    assert edit.left_out > 0


@pytest.mark.parametrize(
    ("tool", "given", "result"),
    [
        ("Bash", {"command": "rm a"}, {"stdout": ""}),
        ("Edit", None, None),
        ("Write", {"file_path": 3}, []),
        ("NotebookEdit", {}, {"original_file": "{"}),
    ],
)
def test_other_calls_report_no_edit(tool: str, given: object, result: object) -> None:
    """Other tools and unreadable calls have none."""
    assert edits(tool, given, result) == ()


def test_unreadable_payload() -> None:
    """What is not JSON reports nothing."""
    assert file_edits(b"{") == ()
