"""The dialogs of Gemini CLI, from recorded screens."""

from pathlib import Path

import pytest

from claude_headspace.clients.dialog import Choice, Dialog, Key, Role, choose, find_mismatch
from claude_headspace.clients.gemini.dialog import read_dialog
from claude_headspace.clients.gemini.tools import tool_use
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.wait.answers import Answer
from claude_headspace.kernel.wait.request import Option, Question

SCREENS = Path(__file__).parent / "screens"


def read(name: str, *changes: tuple[str, str]) -> Dialog | None:
    """The dialog of a recorded screen, in which some texts are replaced."""
    text = (SCREENS / f"{name}.txt").read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return read_dialog(text.split("\n"))


def shown(name: str, *changes: tuple[str, str]) -> Dialog:
    """The dialog that a recorded screen shows."""
    dialog = read(name, *changes)
    assert dialog is not None
    return dialog


def permission(tool: str = "run_shell_command") -> Wait:
    """A wait for a permission."""
    return Wait(id="w", agent_id="a", kind="permission", opened_at=1, text="", tool=tool)


def asked(text: str, *labels: str) -> Wait:
    """A wait for an answer."""
    question = Question(text, "Colour", tuple(Option(label) for label in labels))
    return Wait(id="w", agent_id="a", kind="question", opened_at=1, text=text, questions=(question,))


def test_a_command() -> None:
    """The dialog shows its command. Only the first option allows nothing but this call."""
    dialog = shown("permission-command")
    assert (dialog.kind, dialog.command, dialog.selected) == ("permission", "touch a1 && echo done > b1", 0)
    assert [option.role for option in dialog.options] == [Role.ALLOW, Role.OTHER, Role.DENY]
    use = tool_use("run_shell_command", {"command": "touch a1 && echo done > b1"})
    assert find_mismatch(dialog, permission(), use) is None
    assert find_mismatch(dialog, permission(), tool_use("run_shell_command", {"command": "touch a1"})) is not None
    assert choose(dialog, permission(), Answer(decision="allow")) == Choice(0)
    assert choose(dialog, permission(), Answer(decision="deny")) == Choice(2)


def test_a_command_with_several_lines() -> None:
    """All of them are compared."""
    use = tool_use("run_shell_command", {"command": "touch a2\necho second\necho third"})
    assert find_mismatch(shown("permission-lines"), permission(), use) is None


def test_a_new_file() -> None:
    """The dialog shows the path and every line."""
    use = tool_use("write_file", {"file_path": "new.txt", "content": "hello\nworld\n"})
    assert find_mismatch(shown("permission-write"), permission("write_file"), use) is None
    other = tool_use("write_file", {"file_path": "new.txt", "content": "hello\nmoon\n"})
    assert find_mismatch(shown("permission-write"), permission("write_file"), other) is not None


def test_an_edit_and_a_fetch() -> None:
    """Both allow one call with their first option."""
    for name, number in (("permission-edit", 4), ("permission-fetch", 3)):
        dialog = shown(name)
        assert len(dialog.options) == number
        assert (dialog.options[0].role, dialog.options[-1].role) == (Role.ALLOW, Role.DENY)


def test_a_question() -> None:
    """An option is chosen, another answer is typed, and Esc declines."""
    dialog, wait = shown("question"), asked("Which colour should the door have?", "Red", "Blue")
    assert find_mismatch(dialog, wait, None) is None
    assert find_mismatch(dialog, asked("Which colour?", "Red", "Green"), None) is not None
    assert choose(dialog, wait, Answer(answers={wait.questions[0].text: "Blue"})) == Choice(1)
    assert choose(dialog, wait, Answer(answers={wait.questions[0].text: "green"})) == Choice(2, "green")
    assert choose(dialog, wait, Answer(decision="deny")) == Key("Escape")


def test_a_typed_answer() -> None:
    """It replaces the label of its option: still the same dialog."""
    dialog = shown("question-typed")
    assert (dialog.selected, dialog.typed) == (2, "green")
    assert dialog.is_same(shown("question"))


def test_a_question_for_a_text() -> None:
    """There is nothing to select."""
    empty, typed = shown("question-text"), shown("question-text-typed")
    assert (empty.typed, typed.typed) == ("", "Bert")
    assert empty.is_same(typed)
    answer = Answer(answers={"What is its name?": "Bert"})
    assert choose(empty, asked("What is its name?"), answer) == Choice(0, "Bert")


def test_yes_or_no() -> None:
    """Such a question has two options of its own."""
    assert [option.label for option in shown("question-yes-no").options[:2]] == ["Yes", "No"]


def test_a_dialog_that_does_not_fit() -> None:
    """Without its upper edge, a part of it may be missing."""
    text = (SCREENS / "permission-command.txt").read_text()
    lines = text.split("\n")
    top = next(at for at, line in enumerate(lines) if line.startswith("╭"))
    dialog = read_dialog(lines[top + 1 :])
    assert dialog is not None
    assert not dialog.is_complete


@pytest.mark.parametrize("name", ["no-dialog", "question-several"])
def test_what_cannot_be_answered(name: str) -> None:
    """No dialog, and one that takes several answers."""
    assert read(name) is None


def test_unknown_options_make_no_dialog() -> None:
    """A later version may mean something else by them."""
    assert read("permission-command", ("No, suggest changes (esc)", "Delete everything        ")) is None
    assert read("question", ("Esc to cancel", "Esc to delete")) is None
