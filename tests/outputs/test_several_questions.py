"""Several questions of one dialog, answered with keys: an attempt that failed in between, and the next one."""

import asyncio
from typing import Any

import pytest

from claude_headspace.clients.dialog import Dialog, DialogOption, Role
from claude_headspace.clients.dialog_answer import Choice
from claude_headspace.clients.dialog_match import OTHER_ANSWERS, PARTLY_ANSWERED
from claude_headspace.clients.dialog_readers import DIALOG_READERS
from claude_headspace.kernel.agent import Agent, Wait
from claude_headspace.kernel.wait.answers import Answer
from claude_headspace.kernel.wait.request import Option, Question
from claude_headspace.outputs.dialog_pane import DialogPane, FindMismatch
from claude_headspace.outputs.keystroke_answers import KeystrokeChannel
from claude_headspace.outputs.pane_input import PaneInput
from claude_headspace.outputs.tmux import Refused
from tests.kernel.story import new_agent

LABELS = {"First?": ("a", "b"), "Second?": ("c", "d")}
QUESTIONS = tuple(Question(text, text[:-1], tuple(map(Option, labels))) for text, labels in LABELS.items())
WAIT = Wait(id="w", agent_id="agent-1", kind="question", opened_at=1, text="", questions=QUESTIONS)
BUSY = "The client is busy."


class Screen(DialogPane):
    """The screen of a client that asks two questions and then lists the answers."""

    def __init__(self) -> None:
        self.given: list[str] = []
        self.shown = 0
        self.fails_at: int | None = None
        self.submitted = False

    def refusal(self, reason: str) -> Refused:
        """Nothing more is pressed."""
        return Refused("dialog_not_answered", reason, "")

    def expect(self, mismatch: FindMismatch) -> None:
        """From now on, another dialog is answered."""
        self._mismatch = mismatch

    def size(self) -> tuple[int, int]:
        """A large screen."""
        return 180, 50

    def read(self, is_done: Any = None) -> Dialog:
        """What is shown, if it is expected."""
        if (problem := self._mismatch(self.dialog)) is not None:
            raise self.refusal(problem)
        return self.dialog

    def select(self, choice: Choice) -> None:
        """The client takes the answer, or is too busy."""
        if self.fails_at == self.shown:
            raise self.refusal(BUSY)
        self.answer(LABELS[QUESTIONS[self.shown].text][choice.option])

    def answer(self, label: str) -> None:
        """An answer is selected, here or by a person; the next question is shown."""
        self.given[self.shown :] = [label]
        self.shown += 1

    def press(self, key: str) -> None:
        """The answers are submitted."""
        if self.fails_at == self.shown:
            raise self.refusal(BUSY)
        self.submitted = True

    def wait_until_gone(self, dialog: Dialog) -> None:
        """It is gone at once."""

    @property
    def dialog(self) -> Dialog:
        """What is shown."""
        marks = tuple(at < len(self.given) for at in range(len(QUESTIONS)))
        if self.shown == len(QUESTIONS):
            pairs = zip(QUESTIONS, self.given, strict=True)
            listed = "\n".join(f"{question.header} → {answer}" for question, answer in pairs)
            submit = DialogOption("Submit", Role.SUBMIT)
            return Dialog(kind="question", text=listed, options=(submit,), selected=0, marks=marks)
        text = QUESTIONS[self.shown].text
        options = tuple(DialogOption(label, Role.ANSWER) for label in LABELS[text])
        return Dialog(kind="question", text=text, options=options, selected=0, marks=marks)


class Channel(KeystrokeChannel):
    """A channel to one screen."""

    def __init__(self, screen: Screen) -> None:
        super().__init__(DIALOG_READERS["gemini"], lambda _wait: None, PaneInput())
        self.screen = screen

    def _pane(self, agent: Agent, wait: Wait) -> DialogPane:
        return self.screen

    def answer(self, first: str, second: str) -> None:
        """Give both answers, as the daemon does."""
        agent = new_agent(client="gemini", tmux_pane="%1", pid=1)
        asyncio.run(self.deliver(agent, WAIT, Answer(answers={"First?": first, "Second?": second})))


def failed(at: int) -> Channel:
    """A channel whose first attempt to answer "b" and "d" failed at a question, or at the list of the answers."""
    channel = Channel(Screen())
    channel.screen.fails_at = at
    with pytest.raises(Refused, match=BUSY):
        channel.answer("b", "d")
    channel.screen.fails_at = None
    return channel


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_retry_goes_on_where_the_first_attempt_failed(at: int) -> None:
    """At a question or at the list of all answers: what was selected is not selected again."""
    channel = failed(at)
    channel.answer("b", "d")
    assert (channel.screen.given, channel.screen.submitted) == (["b", "d"], True)


def test_a_retry_after_a_person_went_back() -> None:
    """The first question is shown again, and gets the same answer again."""
    channel = failed(1)
    channel.screen.shown = 0
    channel.answer("b", "d")
    assert (channel.screen.given, channel.screen.submitted) == (["b", "d"], True)


def test_a_retry_with_other_answers_is_refused() -> None:
    """The first question has another answer already; the message says what to do. The same answers still work."""
    channel = failed(1)
    with pytest.raises(Refused) as refusal:
        channel.answer("a", "d")
    assert refusal.value.message == OTHER_ANSWERS
    assert (channel.screen.given, channel.screen.submitted) == (["b"], False)
    channel.answer("b", "c")
    assert (channel.screen.given, channel.screen.submitted) == (["b", "c"], True)


def test_answers_of_a_person_are_left_alone() -> None:
    """Nothing is pressed, and the message says what to do."""
    channel = Channel(Screen())
    channel.screen.answer("b")
    with pytest.raises(Refused) as refusal:
        channel.answer("b", "d")
    assert refusal.value.message == PARTLY_ANSWERED
    assert (channel.screen.given, channel.screen.submitted) == (["b"], False)


def test_an_answer_that_a_person_changed_is_not_submitted() -> None:
    """The list of the answers is not the one that was given."""
    channel = failed(1)
    channel.screen.shown = 0
    channel.screen.answer("a")
    with pytest.raises(Refused, match="other answers"):
        channel.answer("b", "d")
    assert not channel.screen.submitted
