"""The dialogs of Gemini CLI, from recorded screens."""

from pathlib import Path

import pytest

from claude_headspace.clients.dialog import Dialog, Role
from claude_headspace.clients.dialog_answer import Choice, Key, choose
from claude_headspace.clients.dialog_match import (
    PARTLY_ANSWERED,
    find_mismatch,
    find_review_mismatch,
    find_step_mismatch,
)
from claude_headspace.clients.gemini.dialog import read_dialog, review_rows
from claude_headspace.clients.gemini.edit_dialog import shows_call
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
    question = Question(text, "Colour", tuple(Option(label, f"choose {label}") for label in labels))
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


CWD = "/home/dev/app"


@pytest.mark.parametrize("path", ["new.txt", f"{CWD}/new.txt"])
def test_a_written_file_is_shown_whole(path: str) -> None:
    """The dialog names it relative to the directory of the client. Another file, line or directory does not fit."""
    dialog = shown("permission-write")
    assert shows_call(dialog, tool_use("write_file", {"file_path": path, "content": "hello\nworld\n"}), CWD)
    for name, content in ((path, "hello\n"), (path, "hello\nworld\nagain"), (f"{path}x", "hello\nworld\n")):
        assert not shows_call(dialog, tool_use("write_file", {"file_path": name, "content": content}), CWD)
    elsewhere = tool_use("write_file", {"file_path": "/tmp/new.txt", "content": "hello\nworld\n"})
    assert not shows_call(dialog, elsewhere, CWD)


def changed(*rows: str) -> Dialog:
    """The dialog that writes `new.txt` with these rows."""
    blank = " " * 40
    given = [f"│ │ {(row + blank)[:30]}│ │" for row in rows]
    return shown("permission-write", *_replaced(given))


def _replaced(rows: list[str]) -> list[tuple[str, str]]:
    lines = (SCREENS / "permission-write.txt").read_text().split("\n")
    first, second = (next(line for line in lines if f"│ {text} " in line) for text in ("1 hello", "2 world"))
    return [(first, "\n".join(rows)), (f"{second}\n", "")]


@pytest.mark.parametrize(
    ("rows", "content", "fits"),
    [
        (("1   one", "2 - two", "2 + zwei", "3   three"), "one\nzwei\nthree\n", True),
        (("1   one", "2 - two", "2 + zwei", "3   three"), "one\nzwei\n", False),
        (("7   one", "8 - two", "8 + zwei"), "one\nzwei\n", False),
        (("1   one", "2 - two", "2 + zwei", "9   three"), "one\nzwei\nthree\n", False),
        (("1 - two", "2 + zwei"), "- two\n+ zwei\n", True),
        (("1 - two", "2 + zwei"), "zwei\n", False),
        (("1 - two", "1 + zwei"), "- two\n+ zwei\n", False),
        (("1 + zwei",), "zwei\n", False),
        (("1 + zwei",), "+ zwei\n", True),
        (("1 one", "2", "3 two"), "one\n\ntwo", True),
        (("1 one",), "", False),
    ],
)
def test_a_written_file_may_be_shown_as_a_diff(rows: tuple[str, ...], content: str, fits: bool) -> None:
    """No line may be left out. A line that begins like a change is not taken for one."""
    use = tool_use("write_file", {"file_path": "new.txt", "content": content})
    assert shows_call(changed(*rows), use, CWD) is fits


def replaces(path: str, old: str, new: str, *, all_of_them: bool = False) -> object:
    """The input of a replacement."""
    return {
        "file_path": path,
        "old_string": old,
        "new_string": new,
        "allow_multiple": all_of_them,
        "instruction": "Translate the word.",
    }


WORDS = "zwei " + " ".join(f"word{number}" for number in range(60))


@pytest.mark.parametrize(
    ("screen", "given"),
    [
        ("permission-edit", replaces("old.txt", "two", "zwei")),
        ("permission-edit", replaces(f"{CWD}/old.txt", "one\ntwo\n", "one\nzwei\n")),
        ("permission-edit-long", replaces("notes.txt", "two", WORDS)),
        ("permission-edit-many", replaces("notes.txt", "line 1", "row 1", all_of_them=True)),
    ],
)
def test_an_edit_is_shown_as_a_diff(screen: str, given: object) -> None:
    """The text before, with the replacement of the call, is the text after."""
    assert shows_call(shown(screen), tool_use("replace", given), CWD)


@pytest.mark.parametrize(
    ("screen", "given"),
    [
        ("permission-edit", replaces("other.txt", "two", "zwei")),
        ("permission-edit", replaces("/tmp/old.txt", "two", "zwei")),
        ("permission-edit", replaces("old.txt", "two", "zwo")),
        ("permission-edit", replaces("old.txt", "one", "zwei")),
        ("permission-edit", replaces("old.txt", "two\nthree", "zwei")),
        ("permission-edit", replaces("old.txt", "", "zwei")),
        ("permission-edit", replaces("old.txt", "two", "two")),
        ("permission-edit-long", replaces("notes.txt", "two", f"{WORDS} and more")),
        ("permission-edit-many", replaces("notes.txt", "line 1", "row 1")),
        ("permission-write", replaces("new.txt", "hello", "world")),
        ("permission-command", replaces("new.txt", "hello", "world")),
    ],
)
def test_another_edit_does_not_fit(screen: str, given: object) -> None:
    """Another file, another text before or after, or one occurrence instead of all."""
    assert not shows_call(shown(screen), tool_use("replace", given), CWD)


def test_other_calls_are_compared_as_they_are() -> None:
    """A command is shown completely."""
    use = tool_use("run_shell_command", {"command": "touch a1 && echo done > b1"})
    assert shows_call(shown("permission-command"), use, CWD)
    assert not shows_call(shown("permission-command"), tool_use("run_shell_command", {"command": "touch a1"}), CWD)


THREE = Wait(
    id="w",
    agent_id="a",
    kind="question",
    opened_at=1,
    text="",
    questions=(
        Question("What name?", "Name"),
        Question("Which colour?", "Which co", (Option("Red", "d Red"), Option("Blue", "d Blue"))),
        Question("Really?", "Sure", (Option("Yes"), Option("No"))),
    ),
)


def test_several_questions() -> None:
    """One of them is shown, with marks for those that have an answer. Each is answered in its turn."""
    first, second = shown("questions-first"), shown("questions-second-typed")
    assert (first.marks, second.marks) == ((False, False, False), (True, True, False))
    assert [find_step_mismatch(first, THREE, number) is None for number in range(3)] == [True, False, False]
    assert [find_step_mismatch(second, THREE, number) is None for number in range(3)] == [False, True, False]
    assert second.typed == "dark green"
    assert find_mismatch(first, THREE, None) is None
    assert choose(first, THREE, Answer(decision="deny")) == Key("Escape")
    assert find_mismatch(first, asked("What name?"), None) is not None
    begun = shown("questions-first", ("□ Sure", "✓ Sure"))
    assert find_step_mismatch(begun, THREE, 0) == PARTLY_ANSWERED


def test_the_answers_are_listed_before_they_are_submitted() -> None:
    """They must be exactly those that were given."""
    review = shown("questions-review")
    assert [option.role for option in review.options] == [Role.SUBMIT]
    assert find_review_mismatch(review, THREE, ["Bob", "dark green", "Yes"]) is None
    assert find_review_mismatch(review, THREE, ["Bob", "dark green", "No"]) is not None
    assert find_review_mismatch(shown("questions-first"), THREE, ["Bob", "dark green", "Yes"]) is not None
    assert find_mismatch(review, THREE, None) is not None


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


def test_no_dialog() -> None:
    """Text of a conversation is none."""
    assert read("no-dialog") is None


def test_unknown_options_make_no_dialog() -> None:
    """A later version may mean something else by them."""
    assert read("permission-command", ("No, suggest changes (esc)", "Delete everything        ")) is None
    assert read("question", ("Esc to cancel", "Esc to delete")) is None


SHARED = (
    "please do not use the flag --force with /srv/data/one (it is slow, really); use the other directory because "
    "this one is shared with the tests"
)
LABEL = f"A very long label {'word ' * 12}end"


def test_a_list_that_scrolls() -> None:
    """The visible options are at their places. A label may wrap, and look like a check box."""
    labels = ("Red", "Blue", "[x] box", LABEL)
    for name, first, selected in (("question-scrolls", 0, 0), ("question-scrolled", 1, 3)):
        dialog = shown(name)
        assert (dialog.first, dialog.selected, dialog.tick_key) == (first, selected, "")
        assert find_mismatch(dialog, asked("Which colour?", *labels), None) is None
        assert find_mismatch(dialog, asked("Which colour?", "Red", "Blue", "box", LABEL), None) is not None
        assert choose(dialog, asked("Which colour?", *labels), Answer(answers={"Colour": "green"})) == Choice(
            4, "green"
        )


def test_a_long_text_in_a_list() -> None:
    """The field shows its end."""
    dialog = shown("question-scrolled-typed")
    assert (dialog.selected, len(dialog.typed_rows)) == (4, 3)
    assert dialog.shows_typed(SHARED * 2)
    assert not dialog.shows_typed(f"{SHARED * 2} or not")
    assert dialog.is_same(shown("question-scrolls"))


def test_several_options() -> None:
    """Each has a check box. Below them are an option for all, one for a text, and the end."""
    labels = ("Red", "Blue", "Green", "Grey")
    question = Question("Which colours?", "", tuple(Option(each, f"choose {each}") for each in labels), several=True)
    wait = Wait(id="w", agent_id="a", kind="question", opened_at=1, text="", questions=(question,))
    dialog, end = shown("question-several-scrolls"), shown("question-several-done")
    assert [option.is_ticked for option in dialog.options] == [True, False, False]
    assert [option.role for option in end.options] == [Role.OTHER, Role.TEXT, Role.DONE]
    assert (end.first, end.selected) == (4, 6)
    assert find_mismatch(dialog, wait, None) is None
    assert find_mismatch(end, wait, None) is None
    assert find_mismatch(dialog, asked("Which colours?", *labels), None) is not None


def test_long_answers_in_the_list_of_answers() -> None:
    """Their headers are cut. A list that is higher than the screen is not answered."""
    both = (Question("First?", "Store"), Question("Second?", "Engine"))
    wait = Wait(id="w", agent_id="a", kind="question", opened_at=1, text="", questions=both)
    review = shown("questions-review-long")
    assert find_review_mismatch(review, wait, [SHARED, SHARED]) is None
    assert find_review_mismatch(review, wait, [SHARED, SHARED[:-1]]) is not None
    problem = find_review_mismatch(shown("questions-review-too-high"), wait, [SHARED, SHARED])
    assert problem is not None
    assert "does not fit" in problem
    rows = len(review.text.splitlines())
    assert review_rows(80, [("Store", SHARED), ("Engine", SHARED)]) == 10 + 3 * rows
