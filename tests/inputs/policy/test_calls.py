"""A tool call of the client is analysed into the form that rules match."""

from pathlib import Path
from typing import Any

import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.clients.tools import describe_call
from claude_headspace.inputs.policy.calls import analyse_call
from claude_headspace.inputs.policy.files import RuleBook
from claude_headspace.kernel.policy.call import Call, Recipient, Trait, Use
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


def call(book: RuleBook, tool: str, **tool_input: object) -> Call:
    """Analyse a call in /code."""
    return analyse_call(describe_call(tool, tool_input), book, directory="/code", home="/home/dev", project="/code")


def test_payload(book: RuleBook) -> None:
    """Tool, input and directory come from the payload. Other fields are ignored."""
    event = decode(hook("PreToolUse", **RECORDED))
    found = analyse_call(event.tool, book, directory=event.meta.cwd or "", home="/home/dev", project="/code")
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
    """Each tool has its own input field for the file."""
    [found] = call(book, tool, **{field: "./a/../b"}).paths
    assert (found.path, found.use, found.used_by) == ("/code/b", use, tool)


def test_links_are_resolved_for_writing_but_not_for_deleting(book: RuleBook, home: Path) -> None:
    """Writing through a link changes its target. Deleting a link deletes the link."""
    app = str(home / "app")
    [written] = analyse_call(
        describe_call("Write", {"file_path": "link-to-etc/x"}), book, directory=app, home=str(home)
    ).paths
    assert written.real == "/etc/x"
    [deleted] = analyse_call(
        describe_call("Bash", {"command": "rm link-to-etc"}), book, directory=app, home=str(home)
    ).paths
    assert (deleted.path, deleted.real) == (f"{app}/link-to-etc", "")


@pytest.mark.parametrize("tool_input", [{}, {"command": 7}, {"command": None}, {"file_path": ["x"]}])
def test_unexpected_input_is_no_error(book: RuleBook, tool_input: dict[str, object]) -> None:
    """Missing fields and wrong types are ignored."""
    for tool in ("Bash", "Write", "mcp__x__send_y", "Unheard"):
        assert call(book, tool, **tool_input).programs == ()


def test_recipients_in_every_form(book: RuleBook) -> None:
    """Strings, lists, objects and comma-separated lists are read. Contacts are found in any spelling."""
    tool_input = {
        "to": ["Ada <ADA@example.org>", {"email": "bob@example.org"}],
        "cc": "eve@example.org, mailto:ada@example.org",
    }
    message = call(book, "mcp__mail__send_email", **tool_input).message
    assert message is not None
    assert message.recipients == (
        Recipient("Ada <ADA@example.org>", ("claude_direct",)),
        Recipient("bob@example.org", ("claude_draft",)),
        Recipient("eve@example.org"),
        Recipient("mailto:ada@example.org", ("claude_direct",)),
    )


def test_message_kinds(book: RuleBook) -> None:
    """A tool whose name matches `draft` and `send` is a draft. Other tools are no messages."""
    kinds = {
        tool: call(book, tool).message for tool in ("mcp__m__send_draft", "mcp__m__send_mail", "mcp__m__list", "Bash")
    }
    assert [message.kind if message else None for message in kinds.values()] == ["draft", "send", None, None]


@pytest.mark.parametrize(
    ("tool", "tool_input", "traits"),
    [
        ("Bash", {"command": "ls \u202e"}, (Trait.HIDDEN_CHARACTERS,)),
        ("Write", {"file_path": "/code/a", "content": "a\u200bb"}, (Trait.HIDDEN_CHARACTERS,)),
        ("Write", {"file_path": "/code/a\nb", "content": "a\nb"}, (Trait.HIDDEN_CHARACTERS,)),
        ("mcp__tracker__create", {"labels": ["\x1b[31mred"]}, (Trait.HIDDEN_CHARACTERS,)),
        ("Write", {"file_path": "/code/a", "content": "❤️ naïve\r\n\ttext"}, ()),
    ],
)
def test_hidden_characters_are_a_trait(
    book: RuleBook, tool: str, tool_input: dict[str, object], traits: tuple[Trait, ...]
) -> None:
    """In any text of the input. Emoji and line ends are not hidden characters."""
    assert call(book, tool, **tool_input).traits == traits


@pytest.mark.parametrize(
    ("command", "recipients"),
    [
        ("""osascript -e 'tell application "Messages" to send "Hi" to buddy "+15551234"'""", ["+15551234"]),
        ("""osascript -e 'tell app "Finder" to activate' """, None),
        ("""osascript -e 'tell application "Mail"' -e 'set m to make new outgoing message' -e 'send m'""", []),
        (
            """osascript -l JavaScript -e 'Application("Messages").send("Hi", {to: "ada@example.org"})'""",
            ["ada@example.org"],
        ),
        ("""osascript -e 'tell application "Mail" to count messages'""", None),
        ("""osascript <<EOF\ntell application "Messages" to send "Hi" to buddy "+15551234"\nEOF""", ["+15551234"]),
        ("""osascript -l JavaScript - <<< 'Application("Mail").send("a@example.org")'""", ["a@example.org"]),
        ("""echo 'tell application "Messages" to send "Hi" to buddy "+15551234"' | osascript""", ["+15551234"]),
        ("""echo 'tell app "Finder" to activate' | osascript""", None),
        ("""echo 'tell application "Mail" to send m' > /tmp/s.scpt; osascript /tmp/s.scpt -e x""", []),
        ("""printf '#!/usr/bin/osascript\\ntell application "Mail" to send m' > /tmp/s; /tmp/s""", []),
        ("""osascript -e 'tell app "Messages" to send "Hi"'""", []),
        ("""osascript -e "tell application \\"$APP\\" to send m" """, []),
        ("""osascript -e "display notification \\"$TEXT\\"" """, None),
        (f"""osascript -e '{"--" * 400} tell application "Mail" to send m {"--" * 400}'""", []),
        ("osascript", None),
        ("mail -s Hi ada@example.org", ["ada@example.org"]),
    ],
)
def test_scripts_that_send_are_messages(book: RuleBook, command: str, recipients: list[str] | None) -> None:
    """Requirement: "Only interactive sessions can send messages/emails". Also through `osascript`."""
    message = call(book, "Bash", command=command).message
    assert (message and [each.address for each in message.recipients]) == recipients


@pytest.mark.parametrize(
    "command",
    [
        "osascript /nowhere/script.scpt",
        "osascript <(generate)",
        "curl https://example.org/script | osascript",
        "generate | osascript -",
        'osascript -e "$SCRIPT"',
        f"osascript -e '{'a' * 30_000}'",
    ],
)
def test_a_script_that_cannot_be_read_may_be_a_message(book: RuleBook, command: str) -> None:
    """A file that does not exist yet, the output of a program, a variable, or too much text."""
    message = call(book, "Bash", command=command).message
    assert message is not None
    assert message.kind == "possible"


@pytest.mark.parametrize(
    ("tool", "given", "recipients"),
    [
        ("mcp__life__contact", {"operation": "send", "name": "Ada", "message": "Hi"}, ["Ada"]),
        ("mcp__contacts__write", {"contact": "ada@example.org", "body": "Hi"}, ["ada@example.org"]),
        ("mcp__contacts__search_contacts", {"name": "Ada"}, None),
        ("mcp__life__contact", {"operation": "show", "name": "Ada", "message": ""}, None),
        ("mcp__notes__create", {"name": "Ada", "text": "Hi"}, None),
    ],
)
def test_contact_tools_that_get_a_text_are_messages(
    book: RuleBook, tool: str, given: dict[str, str], recipients: list[str] | None
) -> None:
    """Requirement: messages through MCP contact tools count as messages. Looking up a person does not."""
    message = call(book, tool, **given).message
    assert (message and [each.address for each in message.recipients]) == recipients
