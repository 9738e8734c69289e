"""Whether a dialog is the one of a wait, and how it is answered."""

import msgspec
import pytest

from claude_headspace.clients.dialog import Dialog, DialogOption, Role, shows_end
from claude_headspace.clients.dialog_answer import MAX_TYPED, NO_MESSAGE, Choice, Key, choose
from claude_headspace.clients.dialog_match import find_mismatch
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.tools import ToolKind, ToolUse
from claude_headspace.kernel.wait.answers import Answer
from claude_headspace.kernel.wait.request import Option, Question

YES, MORE, NO = (
    DialogOption("Yes", Role.ALLOW),
    DialogOption("Yes, always"),
    DialogOption("No", Role.DENY, takes_text=True),
)
PERMISSION = Dialog(kind="permission", text="touch a\n1", command="touch a\n1", options=(YES, MORE, NO), selected=0)
QUESTION = Dialog(
    kind="question",
    text="Which colour\ndo you want",
    options=(
        DialogOption("red", Role.ANSWER),
        DialogOption("dark blue", Role.ANSWER),
        DialogOption("Other", Role.TEXT, takes_text=True),
    ),
    selected=0,
    decline_key="C-d",
)
COLOUR = Question("Which colour do you want", "", (Option("red"), Option("dark blue")))


def wait(kind: str = "permission", *questions: Question) -> Wait:
    """A wait of a kind."""
    return Wait(id="w", agent_id="a", kind=kind, text="", opened_at=1, questions=questions, tool="bash")


def shell(command: str) -> ToolUse:
    """The call of a shell."""
    return ToolUse(name="bash", kind=ToolKind.SHELL, input={"command": command}, command=command)


def write(path: str, text: str) -> ToolUse:
    """The call that writes a file."""
    return ToolUse(name="create", kind=ToolKind.WRITE, input={"path": path, "file_text": text}, path=path)


def test_the_whole_command_is_compared() -> None:
    """Lines may be wrapped differently. A command that is longer or shorter is another one."""
    assert find_mismatch(PERMISSION, wait(), shell("touch a 1")) is None
    for other in ("touch a", "touch a 1; rm -rf b", "", "touch b 1"):
        assert find_mismatch(PERMISSION, wait(), shell(other)) is not None


def test_every_line_of_every_argument_must_be_visible() -> None:
    """A line that is not on the screen was not shown to the person at the terminal."""
    dialog = Dialog(kind="permission", text="new.txt\n1 +  hello\n2 +  world", options=(YES, NO), selected=0)
    assert find_mismatch(dialog, wait(), write("new.txt", "hello\nworld\n")) is None
    assert find_mismatch(dialog, wait(), write("new.txt", "hello\nworld\nagain\n")) is not None
    assert find_mismatch(dialog, wait(), write("other.txt", "hello\n")) is not None


@pytest.mark.parametrize(
    ("dialog", "use"),
    [
        (
            Dialog(kind="permission", text="x", command="x", options=(YES, NO), selected=0, is_complete=False),
            shell("x"),
        ),
        (QUESTION, shell("touch a 1")),
        (PERMISSION, None),
        (PERMISSION, ToolUse(name="other", input={})),
    ],
)
def test_other_dialogs_do_not_fit(dialog: Dialog, use: ToolUse | None) -> None:
    """A part is hidden; it is of another kind; the call is unknown; the call has nothing to compare."""
    assert find_mismatch(dialog, wait(), use) is not None


def test_a_question_is_compared_with_its_options() -> None:
    """The question and the labels, in their order."""
    assert find_mismatch(QUESTION, wait("question", COLOUR), None) is None
    assert find_mismatch(QUESTION, wait("question", Question("Which colour do you want")), None) is not None
    assert find_mismatch(QUESTION, wait("question", Question("Which size", "", COLOUR.options)), None) is not None
    assert find_mismatch(QUESTION, wait("question", COLOUR, COLOUR), None) is not None


def test_permissions() -> None:
    """To allow selects the option for this call only. A refusal has a text, given or not."""
    assert choose(PERMISSION, wait(), Answer(decision="allow")) == Choice(0)
    assert choose(PERMISSION, wait(), Answer(decision="deny", message=" not  now ")) == Choice(2, "not  now")
    assert choose(PERMISSION, wait(), Answer(decision="deny")) == Choice(2, "No.")


def test_questions() -> None:
    """A label, another text, or a refusal."""
    asked = wait("question", COLOUR)
    answers = {"Which colour do you want": "dark blue"}
    assert choose(QUESTION, asked, Answer(answers=dict(answers))) == Choice(1)
    assert choose(QUESTION, asked, Answer(answers={COLOUR.text: "green"})) == Choice(2, "green")
    assert choose(QUESTION, asked, Answer(decision="deny")) == Key("C-d")
    assert choose(QUESTION, asked, Answer(decision="deny", message="later")) == NO_MESSAGE
    assert isinstance(choose(QUESTION, asked, Answer(answers={COLOUR.text: ["red", "dark blue"]})), str)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(decision="allow", input={"command": "ls"}),
        Answer(decision="allow", grant=("1",)),
        Answer(action="accept"),
        Answer(decision="deny", message="a\x1b[A"),
        Answer(decision="deny", message="first\nsecond"),
        Answer(decision="deny", message="x" * (MAX_TYPED + 1)),
    ],
)
def test_what_a_dialog_cannot_take(answer: Answer) -> None:
    """Changed inputs, grants, forms, control characters, several lines, and a text that is too long."""
    assert isinstance(choose(PERMISSION, wait(), answer), str)


def test_a_message_that_the_dialog_cannot_take_is_not_dropped() -> None:
    """The answer is refused. Without a message, the option is selected."""
    plain = msgspec.structs.replace(PERMISSION, options=(PERMISSION.options[0], DialogOption("No", Role.DENY)))
    assert choose(plain, wait(), Answer(decision="deny", message="use npm")) == NO_MESSAGE
    assert choose(plain, wait(), Answer(decision="deny")) == Choice(1)


WORDS = "use the other directory because this one is shared"


@pytest.mark.parametrize(
    ("rows", "is_shown"),
    [
        ((WORDS,), True),
        (("use the other directory because this", "one is shared"), True),
        (("use the other directory because th", "one is shared"), True),
        (("use the other directory because", "one is shared"), False),
        (("use the other directory because this", "one is share"), True),
        (("use the other directory because this", "one is s"), False),
        ((WORDS[:-1],), False),
        (("other directory because this", "one is shared"), False),
        (("directory", "because this", "one is shared"), True),
        (("one is shared", "because this", "use the"), False),
        ((), False),
    ],
)
def test_the_rows_of_a_typed_text(rows: tuple[str, ...], is_shown: bool) -> None:
    """The end of a row may be missing, and the beginning of a text that is longer than its field; nothing else."""
    assert shows_end(rows, WORDS) is is_shown


SIZES = Question("Which sizes?", "Sizes", (Option("S"), Option("M"), Option("L"), Option("XL")), several=True)
BOXES = Dialog(
    kind="question",
    text="Which sizes?",
    options=tuple(DialogOption(label, Role.ANSWER, is_ticked=False) for label in ("S", "M", "L")),
    below=(Role.OTHER, Role.TEXT, Role.DONE),
    selected=0,
    tick_key="Enter",
)


def test_a_list_that_scrolls() -> None:
    """Its options must be at their places. Several can be ticked, and what is below them is found without seeing it."""
    asked = wait("question", SIZES)
    assert find_mismatch(BOXES, asked, None) is None
    assert find_mismatch(msgspec.structs.replace(BOXES, first=1), asked, None) is not None
    assert find_mismatch(msgspec.structs.replace(BOXES, tick_key=""), asked, None) is not None
    ticks = (True, False, False, True)
    assert choose(BOXES, asked, Answer(answers={"Sizes": ["S", "XL"]})) == Choice(6, ticks=ticks)
    assert choose(BOXES, asked, Answer(answers={"Sizes": ["S", "XL", "any"]})) == Choice(5, "any", ticks)
    assert isinstance(choose(BOXES, asked, Answer(answers={"Sizes": ["any", "all"]})), str)


def test_a_formatted_question() -> None:
    """Marks of the formatting need not be visible. Words must be."""
    shown = msgspec.structs.replace(
        QUESTION, text="Which colour? See the list (https://a.example).\n│ Name │ Use │\n│ red  │ fo  │\n│      │ r x │"
    )
    text = "Which **colour**? See [the list](https://a.example).\n| Name | Use |\n|---|---|\n| red | x |\n```sh\n```"
    asked = wait("question", Question(text, "", COLOUR.options))
    assert find_mismatch(shown, asked, None) is None
    assert find_mismatch(shown, wait("question", Question(f"{text}\nReally?", "", COLOUR.options)), None) is not None


def test_the_lower_part_of_a_dialog() -> None:
    """It is one if its text and options are the last ones."""
    part = msgspec.structs.replace(QUESTION, text="colour\ndo you want", is_complete=False)
    assert part.is_end_of(QUESTION)
    assert not msgspec.structs.replace(part, is_complete=True).is_end_of(QUESTION)
    assert not msgspec.structs.replace(part, text="do you").is_end_of(QUESTION)
    assert not msgspec.structs.replace(part, options=QUESTION.options[:-1]).is_end_of(QUESTION)
