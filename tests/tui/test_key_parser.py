"""Keys after Esc are never taken for the keys themselves."""

import pytest
from textual.events import Key

from claude_headspace.surfaces.tui.key_parser import KeyParser, has_escape_prefix


def keys(text: str) -> list[Key]:
    """The keys that a terminal sends as this text."""
    return [event for event in KeyParser().feed(text) if isinstance(event, Key)]


@pytest.mark.parametrize("key", ["y", "a", "1", "\r", "Y"])
def test_a_key_after_escape_has_the_prefix(key: str) -> None:
    """Alt+y and Esc followed quickly by y are the same bytes; neither is `y`."""
    [event] = keys(f"\x1b{key}")
    assert event.key.startswith("alt+")
    assert has_escape_prefix(event)


@pytest.mark.parametrize(("text", "name"), [("y", "y"), ("\r", "enter"), ("\x1b[A", "up"), ("\x1b[6~", "pagedown")])
def test_other_keys_are_unchanged(text: str, name: str) -> None:
    """Letters, Enter, and keys that are a sequence themselves."""
    [event] = keys(text)
    assert event.key == name
    assert not has_escape_prefix(event)


def test_a_terminal_that_reports_modifiers() -> None:
    """In the keyboard protocol of kitty, Alt is a number: 3 is one more than Alt alone."""
    [event] = keys("\x1b[121;3;121u")
    assert event.key == "alt+y"
