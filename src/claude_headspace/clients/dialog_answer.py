"""How to answer a dialog: the option to select, the options to tick, the text to type. Pure.

Rules
- A message that the dialog cannot take is not dropped, and a text is never changed: the answer is refused.
- An option is selected with the arrow keys, one step at a time, so that each step can be checked on the screen.
"""

import msgspec

from claude_headspace.clients.dialog import Dialog, Role
from claude_headspace.kernel.agent import Wait
from claude_headspace.kernel.text import count
from claude_headspace.kernel.wait.answers import Answer, answers_to_question
from claude_headspace.kernel.wait.request import Question

MAX_TYPED = 2000
"""Characters of a text that is typed into a dialog. It is typed in pieces, and each is checked."""
NO_MESSAGE = "Its dialog takes no message with a refusal."
NO_OPTION = "Its dialog has no option for this answer."
NOT_TAKEN = "Its dialog does not take this answer."
NO_REASON = "No."
"""What is typed if a client wants a text with a refusal and the person gave none."""


class Choice(msgspec.Struct, frozen=True):
    """How to answer a dialog: the option to select, and the text to type into it."""

    option: int
    text: str = ""
    ticks: tuple[bool, ...] = ()
    """Whether each option of the question is ticked before; empty if there is one answer."""


class Key(msgspec.Struct, frozen=True):
    """How to answer a dialog: the key to press."""

    key: str


def texts_of_answers(wait: Wait, answers: dict[str, str | list[str]]) -> list[str]:
    """The answers to several questions as a client lists them: the labels in the order of the options, then a text."""
    return [_text_of(question, answers_to_question(question, answers)) for question in wait.questions]


def _text_of(question: Question, given: list[str]) -> str:
    labels = [option.label for option in question.options]
    return ", ".join([*(label for label in labels if label in given), *(each for each in given if each not in labels)])


def find_text_problem(text: str) -> str | None:
    """Why a text cannot be typed into a dialog; None if it can."""
    if len(text.splitlines()) > 1:
        return "Its dialog takes a text of one line, and this text has several."
    if len(text) > MAX_TYPED:
        return f"The text has {count(len(text), 'character')}. Up to {MAX_TYPED} can be typed into its dialog."
    if not text.isprintable():
        return "The text has characters that cannot be typed."
    return None


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
        return choose_answer(dialog, wait.questions[0], answers_to_question(wait.questions[0], answer.answers))
    return NOT_TAKEN


def choose_answer(dialog: Dialog, question: Question, given: list[str]) -> Choice | str:
    """How to answer one question."""
    labels = [option.label for option in question.options]
    own = [each for each in given if each not in labels]
    if not given or len(own) > 1 or (len(given) > 1 and not question.several):
        return "Its dialog takes one text." if len(own) > 1 else "Its dialog takes one answer."
    if not question.several:
        return _select(dialog, Role.TEXT, own[0], len(labels)) if own else Choice(labels.index(given[0]))
    end = Role.TEXT if own else Role.DONE
    ticks = tuple(label in given for label in labels)
    plan = _select(dialog, end, "".join(own), len(labels))
    if not own and isinstance(plan, str):
        plan = Choice(len(labels) - 1)  # Enter gives the client all ticked options
    return msgspec.structs.replace(plan, ticks=ticks) if isinstance(plan, Choice) else plan


def _decline(dialog: Dialog, answer: Answer) -> Choice | Key | str:
    message = answer.message.strip()
    takes_text = any(option.role is Role.DENY and option.takes_text for option in dialog.options)
    if message and (dialog.decline_key or not takes_text):
        return NO_MESSAGE
    if dialog.decline_key:
        return Key(dialog.decline_key)
    return _select(dialog, Role.DENY, message or NO_REASON)


def _select(dialog: Dialog, role: Role, text: str = "", asked: int = 0) -> Choice | str:
    """Select the option with a role. `asked` is the number of options of the question."""
    index = dialog.index_of(role, asked)
    if index is None:
        return NO_OPTION
    option = dialog.option(index)
    if role is not Role.TEXT and (option is None or not option.takes_text):
        return Choice(index)
    text = text.strip()
    return find_text_problem(text) or Choice(index, text)
