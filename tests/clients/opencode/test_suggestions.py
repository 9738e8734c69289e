"""What "always" grants with a permission dialog of opencode."""

from claude_headspace.clients.opencode.suggestions import as_suggestions, grant_options
from claude_headspace.clients.opencode.wire import WirePermission
from claude_headspace.kernel.wait.grants import LIFETIMES


def test_a_grant_lasts_until_the_client_is_restarted() -> None:
    """It names all patterns. Other sessions of the same client are not asked about them either."""
    [option] = grant_options(as_suggestions(WirePermission(permission="bash", always=["touch *", "rm *"])))
    assert option.words == "Allow bash of touch *, rm *"
    assert LIFETIMES[option.destination] == "in all sessions of this client, until it is restarted"
