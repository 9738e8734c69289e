"""The tables of hooks: registered and not registered, together complete."""

from claude_headspace.clients.claude_code.hooks.events import (
    ALWAYS_COMMAND,
    NOT_REGISTERED,
    REGISTERED,
    SINCE,
    events_for,
)
from claude_headspace.clients.claude_code.hooks.settings_file import hook_entries
from claude_headspace.clients.claude_code.wire import HOOKS


def test_every_decoded_hook_is_in_one_table() -> None:
    """Both tables together are exactly the hooks that the decoder knows."""
    assert REGISTERED.keys() | NOT_REGISTERED.keys() == HOOKS.keys()
    assert REGISTERED.keys() & NOT_REGISTERED.keys() == set()


def test_every_installed_hook_has_a_decoder() -> None:
    """The installer writes exactly the hooks that can be decoded."""
    assert set(hook_entries(events_for((99,)), "/x")) == HOOKS.keys() - NOT_REGISTERED.keys()


def test_harmful_hooks_are_not_registered() -> None:
    """They would replace work of the client, or fire all the time."""
    assert NOT_REGISTERED.keys() == {"WorktreeCreate", "WorktreeRemove", "MessageDisplay"}


def test_every_entry_has_a_short_reason() -> None:
    """What a hook reports, or why it is not registered."""
    assert all(5 < len(reason) < 100 for reason in (REGISTERED | NOT_REGISTERED).values())


def test_session_start_is_always_a_command() -> None:
    """The client never sends it over HTTP."""
    hooks = hook_entries(REGISTERED, "/x", "http://127.0.0.1:5055")
    assert {event for event, hook in hooks.items() if hook["type"] == "command"} == ALWAYS_COMMAND == {"SessionStart"}
    assert hooks["PreToolUse"]["url"] == "http://127.0.0.1:5055/hook/pre-tool-use"


def test_newer_hooks_are_registered_only_for_clients_that_know_them() -> None:
    """A client stops with a dialog if its settings name an unknown hook."""
    older = [event for event in REGISTERED if event not in SINCE]
    assert SINCE.keys() <= REGISTERED.keys()
    assert events_for(None) == older
    assert events_for((2, 1, 197)) == older
    assert events_for((2, 1, 325)) == list(REGISTERED)
    assert events_for((3, 0)) == list(REGISTERED)
