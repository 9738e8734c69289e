"""What a tool call requests, by client."""

from collections.abc import Callable

import pytest

from claude_headspace.clients import claude_code
from claude_headspace.clients.copilot import tools as copilot_tools
from claude_headspace.clients.gemini import tools as gemini_tools
from claude_headspace.clients.opencode import tools as opencode_tools
from claude_headspace.clients.requests import grant_options, requested_edits
from claude_headspace.clients.tools import describe_call
from claude_headspace.kernel.tools import ToolUse

SUGGESTED = '[{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]'


DESCRIBE: dict[str, Callable[[str, dict[str, str]], ToolUse]] = {
    claude_code.NAME: describe_call,
    "copilot": copilot_tools.tool_use,
    "gemini": gemini_tools.tool_use,
    "opencode": lambda name, given: opencode_tools.tool_use(name, given, "c1"),
}
WRITES = {
    claude_code.NAME: ("Write", {"file_path": "/x", "content": "new"}),
    "copilot": ("create", {"path": "/x", "file_text": "new"}),
    "gemini": ("write_file", {"file_path": "/x", "content": "new"}),
    "opencode": ("write", {"filePath": "/x", "content": "new"}),
}


@pytest.mark.parametrize("client", WRITES)
def test_a_written_file_has_its_whole_new_text(client: str) -> None:
    """So it is compared with the file that is there. A call without a text has no change, and not an empty one."""
    name, given = WRITES[client]
    [edit] = requested_edits(client, DESCRIBE[client](name, given))
    assert (edit.path, edit.content, edit.replacements) == ("/x", "new", ())
    path = next(iter(given))
    [unknown] = requested_edits(client, DESCRIBE[client](name, {path: "/x"}))
    assert (unknown.content, unknown.replacements) == (None, ())


@pytest.mark.parametrize(("client", "found"), [(claude_code.NAME, True), ("another", False)])
def test_the_package_of_the_client_decides(client: str, found: bool) -> None:
    """The call of an unknown client requests no edit, and nothing can be granted with it."""
    use = describe_call("Write", {"file_path": "/x", "content": "new"})
    assert bool(requested_edits(client, use)) is found
    assert bool(grant_options(client, SUGGESTED)) is found
