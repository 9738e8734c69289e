"""The changes of files that tool calls request."""

from typing import Any

import pytest

from claude_headspace.clients.claude_code.edits import requested_edit
from claude_headspace.clients.tools import describe_call
from claude_headspace.kernel.wait.requested_edit import Replacement, RequestedCell, RequestedEdit

BOTH = (Replacement("a", "b"), Replacement("c", "d", everywhere=True))
EDITS = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d", "replace_all": True}]


@pytest.mark.parametrize(
    ("tool", "given", "expected"),
    [
        (
            "Edit",
            {"file_path": "/f", "old_string": "a", "new_string": "b"},
            RequestedEdit(path="/f", replacements=BOTH[:1]),
        ),
        ("MultiEdit", {"file_path": "/f", "edits": EDITS}, RequestedEdit(path="/f", replacements=BOTH)),
        ("Write", {"file_path": "/f", "content": ""}, RequestedEdit(path="/f", content="")),
        (
            "NotebookEdit",
            {"notebook_path": "/n", "cell_id": "x", "new_source": "1"},
            RequestedEdit(path="/n", cell=RequestedCell(id="x", source="1")),
        ),
        (
            "NotebookEdit",
            {"notebook_path": "/n", "edit_mode": "insert", "new_source": "1"},
            RequestedEdit(path="/n", cell=RequestedCell(id="", source="1", is_new=True)),
        ),
        (
            "NotebookEdit",
            {"notebook_path": "/n", "cell_id": "x", "edit_mode": "delete"},
            RequestedEdit(path="/n", cell=RequestedCell(id="x", source=None)),
        ),
        ("Read", {"file_path": "/f"}, None),
        ("Bash", {"command": "ls"}, None),
        ("Edit", {"old_string": "a"}, None),
        ("MultiEdit", {"file_path": "/f", "edits": [EDITS[0], 3]}, None),
        ("Write", {"file_path": "/f", "content": 3}, None),
    ],
)
def test_an_edit_is_read_from_its_call(tool: str, given: dict[str, Any], expected: RequestedEdit | None) -> None:
    """A call with a part of an unexpected type is no edit: its arguments are shown as they are."""
    assert requested_edit(describe_call(tool, given)) == expected
