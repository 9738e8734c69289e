"""What a tool call requests, by client."""

import pytest

from claude_headspace.clients import claude_code
from claude_headspace.clients.requests import grant_options, requested_edits
from claude_headspace.clients.tools import describe_call

SUGGESTED = '[{"type": "setMode", "mode": "acceptEdits", "destination": "session"}]'


@pytest.mark.parametrize(("client", "found"), [(claude_code.NAME, True), ("another", False)])
def test_the_package_of_the_client_decides(client: str, found: bool) -> None:
    """The call of an unknown client requests no edit, and nothing can be granted with it."""
    use = describe_call("Write", {"file_path": "/x", "content": "new"})
    assert bool(requested_edits(client, use)) is found
    assert bool(grant_options(client, SUGGESTED)) is found
