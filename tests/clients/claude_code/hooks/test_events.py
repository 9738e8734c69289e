"""The table of hooks: what is registered, what is left out, and that nothing is forgotten."""

from claude_headspace.clients.claude_code.hooks.events import ALWAYS_COMMAND, LEFT_OUT, REGISTERED, SINCE, known_to
from claude_headspace.clients.claude_code.hooks.settings_file import wanted
from claude_headspace.clients.claude_code.wire import HOOKS


def test_every_event_of_the_decoder_has_its_place() -> None:
    """What is registered and what is left out are together exactly what the decoder knows."""
    assert REGISTERED.keys() | LEFT_OUT.keys() == HOOKS.keys()
    assert REGISTERED.keys() & LEFT_OUT.keys() == set()


def test_every_installed_event_has_a_decoder() -> None:
    """The installer writes no hook that nobody understands, and forgets none."""
    assert set(wanted(known_to((99,)), "/x")) == HOOKS.keys() - LEFT_OUT.keys()


def test_hooks_that_would_do_harm_are_left_out() -> None:
    """Hooks that replace the client's own work, or fire all the time, are not registered."""
    assert LEFT_OUT.keys() == {"WorktreeCreate", "WorktreeRemove", "MessageDisplay"}


def test_every_row_has_its_reason() -> None:
    """Each event says what it is for, in a few words."""
    assert all(5 < len(reason) < 100 for reason in (REGISTERED | LEFT_OUT).values())


def test_what_http_never_carries_stays_a_command() -> None:
    """SessionStart is registered as a command, whatever the transport."""
    hooks = wanted(REGISTERED, "/x", "http://127.0.0.1:5055")
    assert {event for event, hook in hooks.items() if hook["type"] == "command"} == ALWAYS_COMMAND == {"SessionStart"}
    assert hooks["PreToolUse"]["url"] == "http://127.0.0.1:5055/hook/pre-tool-use"


def test_newer_events_are_only_for_clients_that_have_them() -> None:
    """A client stops with a dialog where its settings name an event that it does not know."""
    older = [event for event in REGISTERED if event not in SINCE]
    assert SINCE.keys() <= REGISTERED.keys()
    assert known_to(None) == older
    assert known_to((2, 1, 197)) == older
    assert known_to((2, 1, 325)) == list(REGISTERED)
    assert known_to((3, 0)) == list(REGISTERED)
