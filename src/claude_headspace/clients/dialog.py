"""A dialog of a client as its screen shows it, whether it is the one of a wait, and how to answer it. Pure.

Some clients can be answered only with keys in their terminal. The module `dialog` of such a client reads its screen.

Rules
- Nothing is answered blind. A dialog is answered only if everything that Headspace shows people about the request is on
  the screen: the command, or every line of every argument. A client may show a call in another way: then its package
  says whether a dialog shows exactly that call. White space is not compared, because the screen wraps lines.
- A message that the dialog cannot take is not dropped: the answer is refused.
- A dialog of which a part is not visible is not answered.
- An option is selected with the arrow keys, one step at a time, so that each step can be checked on the screen.
"""

from collections.abc import Callable, Iterable
from enum import StrEnum

import msgspec

from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.text import one_line, strings_in
from claude_headspace.kernel.tools import ToolKind, ToolUse
from claude_headspace.kernel.wait.answers import Answer, answers_to_question
from claude_headspace.kernel.wait.request import Question

MAX_TYPED = 500
"""Characters of a text that is typed into a dialog."""
NO_MESSAGE = "Its dialog takes no message with a refusal."
NO_REASON = "No."
"""What is typed if a client wants a text with a refusal and the person gave none."""


class Role(StrEnum):
    """What an option does."""

    ALLOW = "allow"
    """Allows this one request, and nothing else."""
    DENY = "deny"
    ANSWER = "answer"
    """Answers a question with its label."""
    TEXT = "text"
    """Answers a question with a typed text."""
    SUBMIT = "submit"
    """Gives the client the answers to several questions, which the dialog lists."""
    OTHER = "other"


class DialogOption(msgspec.Struct, frozen=True):
    """One line of a dialog that can be selected."""

    label: str
    role: Role = Role.OTHER
    takes_text: bool = False
    """Whether a text is typed while it is selected."""


class Dialog(msgspec.Struct, frozen=True, kw_only=True):
    """A dialog on a screen."""

    kind: str
    """The kind of wait that it belongs to: permission or question."""
    text: str
    """Everything that it shows about the request, as lines."""
    command: str = ""
    """The command that it asks about, if it shows one."""
    tool: str = ""
    """The tool that it asks about, if it shows its name."""
    arguments: str = ""
    """The arguments of the tool as JSON, if it shows them so."""
    options: tuple[DialogOption, ...]
    selected: int
    """The index of the selected option."""
    typed: str = ""
    """The text that was typed into it."""
    decline_key: str = ""
    """The key, as tmux names it, that declines to answer; empty if an option does."""
    marks: tuple[bool, ...] = ()
    """Of a dialog with several questions: which of them have an answer. It shows one of them, or all answers."""
    is_complete: bool = True
    """Whether all of it is visible."""

    def is_same(self, other: "Dialog | None") -> bool:
        """Whether both are the same dialog. Selection and typed text may differ."""
        if other is None:
            return False
        return (self.kind, self.text, self.options) == (other.kind, other.text, other.options)


ShowsUse = Callable[[Dialog, ToolUse], bool]
"""Whether a dialog shows all of a call."""


class Choice(msgspec.Struct, frozen=True):
    """How to answer a dialog: the option to select, and the text to type into it."""

    option: int
    text: str = ""


class Key(msgspec.Struct, frozen=True):
    """How to answer a dialog: the key to press."""

    key: str


# --- comparing --------------------------------------------------------------------------------------------------------


def find_mismatch(dialog: Dialog, wait: Wait, use: ToolUse | None, shows_use: ShowsUse | None = None) -> str | None:
    """Why a dialog is not known to be that of a wait; None if it is. `use` is the call that people were shown."""
    if dialog.kind != wait.kind:
        return f"The dialog on its screen is not a {wait.kind}."
    if not dialog.is_complete:
        return "The dialog does not fit on its screen."
    if wait.kind == "question":
        return None if _shows_questions(dialog, wait) else "The dialog on its screen asks something else."
    if use is None:
        return "The request that the dialog belongs to is not in the log."
    return None if (shows_use or shows_call)(dialog, use) else "The dialog on its screen is about something else."


def find_step_mismatch(dialog: Dialog, wait: Wait, number: int) -> str | None:
    """Why a dialog with several questions does not wait for the answer to this one; None if it does."""
    if (problem := find_mismatch(dialog, wait, None)) is not None:
        return problem
    if not all(dialog.marks[:number]) or any(dialog.marks[number + 1 :]):
        return "Somebody has answered a part of the dialog."
    if dialog.marks[number] and not dialog.typed:
        return "Somebody has answered a part of the dialog."
    shown = _shows_question(dialog, wait.questions[number])
    return None if shown else "The dialog on its screen asks something else."


def find_review_mismatch(dialog: Dialog, wait: Wait, given: Iterable[str]) -> str | None:
    """Why a dialog does not list exactly these answers; None if it does."""
    is_list = dialog.kind == wait.kind and [option.role for option in dialog.options] == [Role.SUBMIT]
    if not is_list or not dialog.is_complete or len(dialog.marks) != len(wait.questions):
        return "The dialog on its screen does not list the answers."
    pairs = zip(wait.questions, given, strict=True)
    wanted = "".join(squeeze(f"{question.header}→{answer}") for question, answer in pairs)
    return None if squeeze(dialog.text) == wanted else "The dialog on its screen lists other answers."


def _shows_questions(dialog: Dialog, wait: Wait) -> bool:
    """Whether it shows one of the questions, and knows of all of them."""
    if len(wait.questions) != (len(dialog.marks) or 1):
        return False
    return any(_shows_question(dialog, question) for question in wait.questions)


def _shows_question(dialog: Dialog, question: Question) -> bool:
    if any(option.role is Role.SUBMIT for option in dialog.options):
        return False
    labels = [squeeze(option.label) for option in question.options]
    shown = [squeeze(option.label) for option in dialog.options if option.role is Role.ANSWER]
    return labels == shown and _shows(dialog, question.text.splitlines())


def shows_call(dialog: Dialog, use: ToolUse) -> bool:
    """Whether a dialog shows all of a call."""
    if dialog.arguments:
        return dialog.tool == use.name and squeeze(dialog.arguments) == squeeze(_json(use.input))
    if use.kind is ToolKind.SHELL:
        return bool(use.command.strip()) and squeeze(use.command) == squeeze(dialog.command)
    lines = [line for text in strings_in(use.input) for line in text.splitlines() if line.strip()]
    return bool(lines) and _shows(dialog, lines)


def _json(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, RecursionError, OverflowError):
        return ""


def _shows(dialog: Dialog, lines: Iterable[str]) -> bool:
    screen = squeeze(dialog.text)
    return all(squeeze(line) in screen for line in lines)


def squeeze(text: str) -> str:
    """A text without white space."""
    return "".join(text.split())


# --- answering --------------------------------------------------------------------------------------------------------


def single_answers(wait: Wait, answers: dict[str, str | list[str]]) -> list[str] | None:
    """The answer to each of several questions; None if one of them has none, or several."""
    given = [answers_to_question(question, answers) for question in wait.questions]
    return [each[0] for each in given] if all(len(each) == 1 for each in given) else None


def choose(dialog: Dialog, wait: Wait, answer: Answer) -> Choice | Key | str:
    """How to give an answer to a dialog; a text says why that is not possible."""
    if answer.input is not None:
        return "The input of the call cannot be changed in its dialog."
    if answer.grant:
        return "A permission for later calls cannot be granted in its dialog."
    if answer.decision == "deny":
        return _decline(dialog, answer)
    if dialog.kind == "permission" and answer.decision == "allow":
        return _select(dialog, Role.ALLOW)
    if dialog.kind == "question" and answer.answers is not None:
        return _answer_question(dialog, wait, answer.answers)
    return "Its dialog does not take this answer."


def _decline(dialog: Dialog, answer: Answer) -> Choice | Key | str:
    message = answer.message.strip()
    takes_text = any(option.role is Role.DENY and option.takes_text for option in dialog.options)
    if message and (dialog.decline_key or not takes_text):
        return NO_MESSAGE
    if dialog.decline_key:
        return Key(dialog.decline_key)
    return _select(dialog, Role.DENY, message or NO_REASON)


def _answer_question(dialog: Dialog, wait: Wait, answers: dict[str, str | list[str]]) -> Choice | Key | str:
    given = answers_to_question(wait.questions[0], answers)
    if len(given) != 1:
        return "Its dialog takes one answer."
    labels = [squeeze(option.label) if option.role is Role.ANSWER else None for option in dialog.options]
    if (label := squeeze(given[0])) in labels:
        return Choice(labels.index(label))
    return _select(dialog, Role.TEXT, given[0])


def _select(dialog: Dialog, role: Role, text: str = "") -> Choice | str:
    found = [at for at, option in enumerate(dialog.options) if option.role is role]
    if len(found) != 1:
        return "Its dialog has no option for this answer."
    if not dialog.options[found[0]].takes_text:
        return Choice(found[0])
    typed = one_line(text, MAX_TYPED)
    if any(not each.isprintable() for each in typed):
        return "The text has characters that cannot be typed."
    return Choice(found[0], typed)
