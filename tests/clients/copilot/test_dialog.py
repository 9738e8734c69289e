"""The dialogs of Copilot CLI, from recorded screens."""

from pathlib import Path

import pytest

from claude_headspace.clients.copilot.dialog import read_dialog, shows_call
from claude_headspace.clients.copilot.tools import tool_use
from claude_headspace.clients.dialog import Dialog, Role
from claude_headspace.clients.dialog_answer import NO_REASON, Choice, choose
from claude_headspace.clients.dialog_match import find_mismatch
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.wait.answers import Answer

REFUSAL = "No, and tell Copilot what to do differently (Esc to stop)"
SCREENS = Path(__file__).parent / "screens"


def read(name: str, *changes: tuple[str, str]) -> Dialog | None:
    """The dialog of a recorded screen, in which some texts are replaced."""
    text = (SCREENS / f"{name}.txt").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return read_dialog(text.split("\n"))


def test_a_command() -> None:
    """The dialog shows its command, and three options; only the first allows nothing but this call."""
    dialog = read("permission-command")
    assert dialog is not None
    assert (dialog.kind, dialog.command) == ("permission", "touch a1 && echo done > b1")
    assert [(each.role, each.takes_text) for each in dialog.options] == [
        (Role.ALLOW, False),
        (Role.OTHER, False),
        (Role.DENY, True),
    ]
    assert (dialog.selected, dialog.typed, dialog.is_complete) == (0, "", True)


def test_a_typed_refusal() -> None:
    """The text of a refusal replaces the label of its option."""
    dialog = read(
        "permission-command",
        ("❯ 1. Yes", "  1. Yes"),
        (f"  3. {REFUSAL}", f"❯ 3. {'use another name (Esc to stop)':{len(REFUSAL)}}"),
    )
    untouched = read("permission-command")
    assert dialog is not None
    assert (dialog.selected, dialog.typed) == (2, "use another name")
    assert dialog.is_same(untouched)


def test_a_new_file() -> None:
    """The dialog shows the path and every line."""
    dialog = read("permission-create")
    assert dialog is not None
    assert dialog.command == ""
    assert {"hello", "world", "/home/sam/app/new.txt?"} <= set(dialog.text.split())


def test_a_path_outside_the_project() -> None:
    """Its refusal takes no text."""
    dialog = read("permission-path")
    assert dialog is not None
    assert "/etc/hostname" in dialog.text
    assert [(each.role, each.takes_text) for each in dialog.options if each.role is not Role.OTHER] == [
        (Role.ALLOW, False),
        (Role.DENY, False),
    ]


def test_a_dialog_of_a_hook() -> None:
    """It shows the tool and all arguments. A refusal needs a text, although its label does not ask for one."""
    dialog = read("permission-hook")
    assert dialog is not None
    call = tool_use("bash", {"command": "echo hi", "description": "d"})
    wait = Wait(id="w", agent_id="a", kind="permission", text="", opened_at=1, tool="bash")
    assert find_mismatch(dialog, wait, call) is None
    for other in (tool_use("bash", {"command": "echo hi"}), tool_use("view", call.input)):
        assert find_mismatch(dialog, wait, other) is not None
    assert choose(dialog, wait, Answer(decision="deny")) == Choice(1, NO_REASON)
    assert choose(dialog, wait, Answer(decision="deny", message="use make")) == Choice(1, "use make")


def test_a_dialog_that_does_not_fit() -> None:
    """Its beginning is not visible."""
    dialog = read("permission-too-long")
    assert dialog is not None
    assert not dialog.is_complete


@pytest.mark.parametrize(
    ("name", "selected", "typed"),
    [("question-choice", 0, ""), ("question-second", 1, ""), ("question-other", 2, "greenish")],
)
def test_a_question(name: str, selected: int, typed: str) -> None:
    """Its options, the selected one, and the typed text."""
    dialog = read(name)
    assert dialog is not None
    assert dialog.kind == "question"
    assert "Which colour do you want" in dialog.text
    assert [(each.label, each.role) for each in dialog.options] == [
        ("red", Role.ANSWER),
        ("blue", Role.ANSWER),
        ("Other", Role.TEXT),
    ]
    assert (dialog.selected, dialog.typed, dialog.decline_key) == (selected, typed, "C-d")


def test_a_question_for_a_text() -> None:
    """It has one field to type into."""
    dialog = read("question-text")
    assert dialog is not None
    assert [each.role for each in dialog.options] == [Role.TEXT]
    assert dialog.typed == ""


def test_a_form_is_not_read() -> None:
    """A form with several fields has other keys."""
    assert read("question-two-fields") is None


@pytest.mark.parametrize(
    "change",
    [
        ("enter to select", "enter to continue"),
        ("❯ 1. Yes ", "❯ 1. Sure"),
        ("❯ 1. Yes", "  1. Yes"),
        ("(Esc to stop)", "(Esc to wait)"),
    ],
)
def test_an_unknown_dialog_is_not_read(change: tuple[str, str]) -> None:
    """Other keys, another first option, no selection, another last option."""
    assert read("permission-command", change) is None


def test_a_dialog_above_other_text_is_not_read() -> None:
    """Only the last thing on the screen is a dialog."""
    text = (SCREENS / "permission-command.txt").read_text().rstrip("\n")
    assert read_dialog([*text.split("\n"), "❯ "]) is None
    assert read_dialog([]) is None


@pytest.mark.parametrize(
    ("command", "fits"),
    [
        ("cd /home/dev/app && touch a1 && echo done > b1", True),
        ("cd /home/dev/app/ && touch a1 && echo done > b1", True),
        ("touch a1 && echo done > b1", True),
        ("cd /home/dev && touch a1 && echo done > b1", False),
        ("cd /home/dev/app/../x && touch a1 && echo done > b1", False),
        ("cd /home/dev/app; touch a1 && echo done > b1", False),
        ("cd /home/dev/app && touch a1", False),
        ("cd $(pwd) && touch a1 && echo done > b1", False),
    ],
)
def test_the_own_directory_is_left_out(command: str, fits: bool) -> None:
    """Copilot does not show a change to the directory in which it runs. Any other one is a part of the command."""
    dialog = read("permission-command")
    assert dialog is not None
    assert shows_call(dialog, tool_use("bash", {"command": command}), "/home/dev/app") is fits


SHARED = (
    "please do not use the flag --force with /srv/data/one (it is slow, really); use the other directory because "
    "this one is shared with the tests"
)


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("permission-typed-100", ("word " * 32)[:158]),
        ("permission-typed-100-more", ("word " * 32)[:158] + " and then"),
        ("permission-typed-180", SHARED * 2),
        ("permission-typed-80", SHARED * 2),
    ],
)
def test_a_refusal_of_several_rows(name: str, typed: str) -> None:
    """The end of its label stands beside the text. The right side of the box and the ends of rows may be missing."""
    dialog = read(name)
    assert dialog is not None
    assert dialog.options[-1].takes_text
    assert dialog.selected == 2
    assert dialog.shows_typed(typed)
    assert not dialog.shows_typed(f"{typed} or not")


def test_labels_of_several_rows() -> None:
    """Their further rows are indented less."""
    dialog = read("question-labels")
    assert dialog is not None
    labels = [option.label for option in dialog.options]
    assert labels == ["Red", "[x] box", f"A very long label {'word ' * 12}end", "Five", "Other"]
    assert dialog.selected == 2


def test_several_options() -> None:
    """Each has a dot or a tick."""
    dialog = read("question-several")
    assert dialog is not None
    ticks = [(option.label, option.is_ticked) for option in dialog.options]
    assert ticks == [("S", True), ("M", False), ("L", False), ("Other", None)]
    assert dialog.tick_key == "Space"
