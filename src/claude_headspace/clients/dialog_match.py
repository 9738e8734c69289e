"""Whether a dialog on a screen is the one of a wait. Pure.

Rules
- Nothing is answered blind. A dialog is answered only if everything that Headspace shows people about the request is on
  the screen: the command, or every line of every argument. A client may show a call in another way: then its package
  says whether a dialog shows exactly that call.
- A dialog of which a part is not visible is not answered. A list that scrolls must have the options of the question at
  the places where they are visible.
- The text of a question and the descriptions of its options may be formatted, so their letters and digits are compared.
"""

from collections.abc import Callable, Iterable, Iterator

import msgspec

from claude_headspace.clients.dialog import Dialog, DialogOption, Role, letters, squeeze
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.text import strings_in
from claude_headspace.kernel.tools import ToolKind, ToolUse
from claude_headspace.kernel.wait.request import Option, Question

ShowsUse = Callable[[Dialog, ToolUse], bool]
"""Whether a dialog shows all of a call."""
DOES_NOT_FIT = "The dialog does not fit on its screen."
FENCES = ("```", "~~~")
"""How the lines around a block of code begin."""
PARTLY_ANSWERED = (
    "Somebody has answered a part of the dialog. Answer the other questions in the terminal, and submit them there."
)
OTHER_ANSWERS = (
    "A part of the dialog has the answers of an earlier attempt, and these differ. Give the same answers again, or "
    "change them in the terminal, and submit them there."
)


def find_mismatch(dialog: Dialog, wait: Wait, use: ToolUse | None, shows_use: ShowsUse | None = None) -> str | None:
    """Why a dialog is not known to be that of a wait; None if it is. `use` is the call that people were shown."""
    if dialog.kind != wait.kind:
        return f"The dialog on its screen is not a {wait.kind}."
    if not dialog.is_complete:
        return DOES_NOT_FIT
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
        return PARTLY_ANSWERED
    shown = _shows_question(dialog, wait.questions[number])
    return None if shown else "The dialog on its screen asks something else."


def find_part_mismatch(dialog: Dialog, wait: Wait, given: Iterable[str]) -> str | None:
    """Why a dialog shows neither one of several questions nor the list of these answers; None if it does."""
    problem = find_mismatch(dialog, wait, None)
    is_review = any(option.role is Role.SUBMIT for option in dialog.options)
    return find_review_mismatch(dialog, wait, given) if problem is not None and is_review else problem


def find_review_mismatch(dialog: Dialog, wait: Wait, given: Iterable[str]) -> str | None:
    """Why a dialog does not list exactly these answers; None if it does."""
    if dialog.kind != wait.kind:
        return "The dialog on its screen does not list the answers."
    if not dialog.is_complete:
        return f"{DOES_NOT_FIT} It lists the answers."
    if [option.role for option in dialog.options] != [Role.SUBMIT] or len(dialog.marks) != len(wait.questions):
        return "The dialog on its screen does not list the answers."
    pairs = zip(wait.questions, given, strict=True)
    wanted = [(squeeze(question.header), squeeze(answer)) for question, answer in pairs]
    shown = [tuple(squeeze(part) for part in line.split(ARROW, 1)) for line in dialog.text.splitlines()]
    is_same = len(shown) == len(wanted) and all(map(_lists, shown, wanted))
    return None if is_same else "The dialog on its screen lists other answers."


ARROW = "→"
"""Between the header of a question and its answer."""


def _lists(shown: tuple[str, ...], wanted: tuple[str, str]) -> bool:
    """Whether a line of the list has this answer. If the answer is long, the header may be cut."""
    return len(shown) == 2 and wanted[0].startswith(shown[0]) and shown[1] == wanted[1]


# --- questions --------------------------------------------------------------------------------------------------------


def _shows_questions(dialog: Dialog, wait: Wait) -> bool:
    """Whether it shows one of the questions, and knows of all of them."""
    if len(wait.questions) != (len(dialog.marks) or 1):
        return False
    return any(_shows_question(dialog, question) for question in wait.questions)


def _shows_question(dialog: Dialog, question: Question) -> bool:
    shown = {at: each for at, each in enumerate(dialog.options, dialog.first) if each.role is Role.ANSWER}
    if any(option.role is Role.SUBMIT for option in dialog.options) or question.several != bool(dialog.tick_key):
        return False
    if any(at >= len(question.options) for at in shown) or (not dialog.below and len(shown) < len(question.options)):
        return False
    return all(_shows_option(each, question.options[at]) for at, each in shown.items()) and _shows_text(
        dialog, question.text
    )


def _shows_option(shown: DialogOption, asked: Option) -> bool:
    text, label = squeeze(shown.label), squeeze(asked.label)
    return text.startswith(label) and letters(text.removeprefix(label)) == letters(asked.description)


def _shows_text(dialog: Dialog, text: str) -> bool:
    parts = [each for part in _parts(text) if (each := letters(part))]
    screen = letters(dialog.text)
    return all(part in screen for part in parts) if parts else squeeze(text) in squeeze(dialog.text)


def _parts(text: str) -> Iterator[str]:
    """The lines of a text. A row of a table is drawn in columns: there, words stay together. A fence is not drawn."""
    for line in text.splitlines():
        if not line.lstrip().startswith(FENCES):
            yield from line.split() if line.lstrip().startswith("|") else (line,)


# --- calls ------------------------------------------------------------------------------------------------------------


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
