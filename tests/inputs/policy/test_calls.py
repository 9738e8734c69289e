"""A tool call as the client tells it becomes a call as rules see it."""

from pathlib import Path
from typing import Any

import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.clients.tool_uses import describe_call
from claude_headspace.inputs.policy.calls import call_of, understand
from claude_headspace.inputs.policy.files import RuleBook
from claude_headspace.kernel.policy.call import Call, Recipient, Use
from claude_headspace.testing import hook

RECORDED: dict[str, Any] = {
    "session_id": "s",
    "cwd": "/code",
    "permission_mode": "default",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "rm x", "description": "Remove x"},
    "tool_use_id": "toolu_1",
}


def call(book: RuleBook, tool: str, **given: object) -> Call:
    """A call in /code."""
    return call_of(describe_call(tool, given), book, directory="/code", home="/home/dev", project="/code")


def test_a_payload_of_the_client(book: RuleBook) -> None:
    """Tool, input and directory are taken from it; everything else is ignored."""
    found = understand(decode(hook("PreToolUse", **RECORDED)), book, home="/home/dev", project="/code")
    assert [(use.path, use.use) for use in found.paths] == [("/code/x", Use.DELETE)]
    assert (found.tool, found.home, found.project) == ("Bash", "/home/dev", "/code")


@pytest.mark.parametrize(
    ("tool", "field", "use"),
    [
        ("Write", "file_path", Use.WRITE),
        ("Edit", "file_path", Use.WRITE),
        ("MultiEdit", "file_path", Use.WRITE),
        ("NotebookEdit", "notebook_path", Use.WRITE),
        ("Read", "file_path", Use.READ),
        ("mcp__filesystem__write_file", "path", Use.WRITE),
        ("mcp__filesystem__move_file", "source", Use.DELETE),
        ("mcp__filesystem__read_file", "path", Use.READ),
    ],
)
def test_file_tools(book: RuleBook, tool: str, field: str, use: Use) -> None:
    """Each names its file in its own way."""
    [found] = call(book, tool, **{field: "./a/../b"}).paths
    assert (found.path, found.use, found.used_by) == ("/code/b", use, tool)


def test_links_are_followed_for_writing_and_not_for_deleting(book: RuleBook, home: Path) -> None:
    """Who writes through a link writes what it leads to; who deletes a link deletes the link."""
    app = str(home / "app")
    [written] = call_of(
        describe_call("Write", {"file_path": "link-to-etc/x"}), book, directory=app, home=str(home)
    ).paths
    assert written.real == "/etc/x"
    [deleted] = call_of(describe_call("Bash", {"command": "rm link-to-etc"}), book, directory=app, home=str(home)).paths
    assert (deleted.path, deleted.real) == (f"{app}/link-to-etc", "")


@pytest.mark.parametrize("given", [{}, {"command": 7}, {"command": None}, {"file_path": ["x"]}])
def test_inputs_of_another_shape_are_no_error(book: RuleBook, given: dict[str, object]) -> None:
    """What is not there cannot be judged, and does not fail."""
    for tool in ("Bash", "Write", "mcp__x__send_y", "Unheard"):
        assert call(book, tool, **given).programs == ()


def test_recipients_in_every_shape(book: RuleBook) -> None:
    """Texts, lists, objects, several in one text; a contact is found however it is written."""
    given = {
        "to": ["Ada <ADA@example.org>", {"email": "bob@example.org"}],
        "cc": "eve@example.org, mailto:ada@example.org",
    }
    message = call(book, "mcp__mail__send_email", **given).message
    assert message is not None
    assert message.recipients == (
        Recipient("Ada <ADA@example.org>", ("claude_direct",)),
        Recipient("bob@example.org", ("claude_draft",)),
        Recipient("eve@example.org"),
        Recipient("mailto:ada@example.org", ("claude_direct",)),
    )


def test_a_draft_is_no_message(book: RuleBook) -> None:
    """A tool that drafts does not send, whatever else its name says; other tools do neither."""
    kinds = {
        tool: call(book, tool).message for tool in ("mcp__m__send_draft", "mcp__m__send_mail", "mcp__m__list", "Bash")
    }
    assert [message.kind if message else None for message in kinds.values()] == ["draft", "send", None, None]
