"""The input box on recorded screens of Claude Code 2.1.197 and 2.1.325, shortened."""

import pytest

from claude_headspace.clients.claude_code.input_box import read_input_box
from claude_headspace.clients.input_box import is_client_command
from claude_headspace.clients.screen import InputBox, Screen

LINE = "\x1b[38;5;244m" + "─" * 40
ABOVE = ["\x1b[48;5;237m❯ \x1b[38;5;231mSay ok\x1b[39m", "\x1b[38;5;231m\x1b[49m●\x1b[39m Hi.", ""]
BELOW = ["\x1b[39m  \x1b[38;5;220m⏵⏵ auto mode on\x1b[38;5;246m (shift+tab to cycle)\x1b[39m"]


def screen(*rows: str, above: tuple[str, ...] = ()) -> Screen:
    """A screen with these rows in its input box, and the row of the cursor: the last of them."""
    lines = [*ABOVE, *above, LINE, *rows, f"\x1b[0m{LINE}", *BELOW]
    return Screen("\n".join(lines), len(ABOVE) + len(above) + len(rows))


@pytest.mark.parametrize(
    ("rows", "draft"),
    [
        (["\x1b[39m❯\xa0\x1b[7m"], ""),
        (["\x1b[39m❯\xa0\x1b[7m \x1b[0m\x1b[39m\x1b[49m"], ""),
        (["\x1b[39m❯\xa0hello draft\x1b[7m \x1b[0m"], "hello draft"),
        (["\x1b[39m❯\xa0\x1b[7mh\x1b[0m\x1b[39m\x1b[49mello"], "hello"),
        (["\x1b[39m❯\xa0\x1b[7mh\x1b[0m"], "h"),
        (["\x1b[39m❯\xa0first line", "  second line", "  \x1b[7mt\x1b[0mhird"], "first line\nsecond line\nthird"),
        (["\x1b[39m❯\xa0[Pasted text #1 +3 lines]\x1b[7m "], "[Pasted text #1 +3 lines]"),
        (["\x1b[38;5;246m❯\xa0\x1b[7m\x1b[39mP\x1b[0;2m\x1b[39m\x1b[49mress up to edit queued messages\x1b[0m"], ""),
        (["\x1b[39m❯\xa0run the te\x1b[7ms\x1b[0;2mts\x1b[0m"], "run the tes"),
        (["\x1b[39m❯\xa0\x1b[38;5;2mgreen\x1b[39m"], "green"),
        (["\x1b[38;5;211m!\xa0\x1b[7m\x1b[39m \x1b[0m"], "!"),
        (["\x1b[39m❯\xa0   \x1b[7m"], "   "),
        (["\x1b[39m❯\xa0 \x1b[7m \x1b[0m\x1b[39m"], " "),
        (["\x1b[39m❯", "  \x1b[7m \x1b[0m"], "\n"),
        (["\x1b[39m❯\xa0\x1b[7m \x1b[0m     \x1b[39m"], ""),
        (["\x1b[38;5;211m!\xa0\x1b[39mls x\x1b[7m \x1b[0m"], "!ls x"),
    ],
)
def test_the_draft_is_read(rows: list[str], draft: str) -> None:
    """Placeholders and the cursor are not part of the draft. Shell mode is, and so are spaces before the cursor."""
    assert read_input_box(screen(*rows)) == InputBox(draft)


def test_a_stashed_draft_is_noticed() -> None:
    """The client shows above the box that it keeps a draft."""
    box = read_input_box(screen("❯\xa0", above=(" " * 20 + "\x1b[38;5;246m◐ medium · /effort · › stashed\x1b[39m",)))
    assert box == InputBox("", has_stash=True)


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("", 0),
        (f"{LINE}\n❯\xa0\n{LINE}\n   Select model\n   ❯ 1. Default\nEsc to cancel", 4),
        (f"{LINE}\n   Select model\n   ❯ 1. Default", 2),
        (f"{LINE}\n  another view\n{LINE}", 1),
        (f"{LINE}\n❯\xa0a draft", 1),
        ("❯\xa0", 12),
    ],
)
def test_a_screen_without_a_box_at_the_cursor_has_none(text: str, row: int) -> None:
    """A dialog is not an empty input box, even if text above it looks like one."""
    assert read_input_box(Screen(text, row)) is None


def test_commands_of_the_client_are_recognised() -> None:
    """The client runs slash commands and shell commands itself."""
    assert [is_client_command(text) for text in ("/model", "!ls", "Say /model", "hi!")] == [True, True, False, False]
