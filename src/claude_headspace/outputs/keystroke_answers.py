"""Answers as keystrokes: for clients whose dialogs can be answered only in their terminal.

The dialog is read from the screen of the agent's pane (`outputs/dialog_pane.py`). It must be the one of the wait
(`clients/dialog_match.py`).

Rules
- Several questions are answered one after the other. The answers are submitted only if the dialog lists exactly these.
  If that failed behind the first answer, a retry with the same answers goes on where it failed. Other answers that
  are in the dialog are left alone.
- A text that the dialog cannot take is refused before the first key.
- An answer counts as delivered when the dialog is gone. If it stays, the client may still take the keys later.
- A stopped client gets no keys: it would take them when it continues, long after the person was told that it did not.
"""

import asyncio
from collections.abc import Callable
from functools import partial

from claude_headspace.clients.dialog import Dialog
from claude_headspace.clients.dialog_answer import (
    Choice,
    Key,
    choose,
    choose_answer,
    find_text_problem,
    texts_of_answers,
)
from claude_headspace.clients.dialog_match import (
    OTHER_ANSWERS,
    PARTLY_ANSWERED,
    find_mismatch,
    find_part_mismatch,
    find_review_mismatch,
    find_step_mismatch,
)
from claude_headspace.clients.dialog_readers import DialogReader
from claude_headspace.kernel.agent import Agent, Wait
from claude_headspace.kernel.tools import ToolUse
from claude_headspace.kernel.wait.answers import Answer, answers_to_question
from claude_headspace.kernel.wait.request import Question
from claude_headspace.outputs.dialog_pane import DialogPane
from claude_headspace.outputs.pane_input import PaneInput

ANSWERABLE = ("permission", "question")
"""The kinds of waits that have a dialog with keys."""
OTHER_KIND = "Headspace cannot press keys in a dialog of this kind."
SEVERAL_QUESTIONS = "Headspace can answer only one question at a time with keys, and this dialog has another number."
UNKNOWN_REQUEST = "Headspace does not know what this dialog is about."
NOT_SHOWN = "The agent shows its dialogs one after the other, and this one is not on its screen yet."
REVIEW_TOO_LONG = "Its dialog lists all answers at the end. These are so long that the list does not fit on its screen."
NO_PANE = "Headspace answers this client with keys in tmux, and does not know a tmux pane of the agent."

FindCall = Callable[[Wait], ToolUse | None]
"""Finds the tool call of a wait in the log: what people are shown. None if there is none."""


class KeystrokeChannel:
    """Gives answers to the clients of one kind by pressing keys in their panes."""

    def __init__(self, reader: DialogReader, find_call: FindCall, panes: PaneInput) -> None:
        self._reader = reader
        self._find_call = find_call
        self._panes = panes
        self._selected: dict[str, tuple[str, list[str]]] = {}
        """By agent: the wait with several questions, and the answers that were selected here, but not submitted."""

    def find_obstacle(self, agent: Agent, wait: Wait) -> str | None:
        """Why this wait cannot be answered now; None if its client runs in a pane and its dialog has keys."""
        if wait.kind not in ANSWERABLE:
            return OTHER_KIND
        takes_questions = len(wait.questions) == 1 or (bool(wait.questions) and self._reader.review_rows is not None)
        if wait.kind == "question" and not takes_questions:
            return SEVERAL_QUESTIONS
        if wait.kind == "permission" and wait.tool is None:
            return UNKNOWN_REQUEST
        return NO_PANE if agent.tmux_pane is None or agent.pid is None else None

    async def find_shown_obstacle(self, agent: Agent, wait: Wait) -> str | None:
        """Why one of several waits cannot be answered yet; None if its dialog is on the screen."""
        return await asyncio.to_thread(self._find_shown_obstacle, agent, wait)

    def _find_shown_obstacle(self, agent: Agent, wait: Wait) -> str | None:
        return None if self._pane(agent, wait).shows_it() else NOT_SHOWN

    async def deliver(self, agent: Agent, wait: Wait, answer: Answer) -> None:
        """Answer the dialog. Raises `Refused`, with what to do, if it is not the one of the wait."""
        async with self._panes.lock(agent):
            await asyncio.to_thread(self._deliver, agent, wait, answer)

    def _deliver(self, agent: Agent, wait: Wait, answer: Answer) -> None:
        pane = self._pane(agent, wait)
        if len(wait.questions) > 1 and answer.answers is not None:
            self._answer_several(pane, agent, wait, answer.answers)
            return
        dialog = pane.read()
        plan = choose(dialog, wait, answer)
        match plan:
            case str():
                raise pane.refusal(plan)
            case Key():
                pane.press(plan.key)
            case Choice():
                pane.select(plan)
        pane.wait_until_gone(dialog)

    def _answer_several(self, pane: DialogPane, agent: Agent, wait: Wait, answers: dict[str, str | list[str]]) -> None:
        """Answer one question after the other, then submit the answers if the dialog lists them."""
        given = texts_of_answers(wait, answers)
        problems = (problem for text in given if (problem := find_text_problem(text)) is not None)
        if (problem := next(problems, self._find_review_problem(pane, wait, given))) is not None:
            raise pane.refusal(problem)
        known_wait, own = self._selected.get(agent.id, (wait.id, []))
        own = own if known_wait == wait.id else []
        for number in range(_find_start(pane, wait, given, own), len(wait.questions)):
            pane.expect(partial(find_step_mismatch, wait=wait, number=number))
            dialog = pane.read()
            if dialog.marks[number] and number >= len(own):
                raise pane.refusal(PARTLY_ANSWERED)
            self._selected[agent.id] = (wait.id, given[: max(len(own), number + 1)])
            _answer_question(pane, dialog, wait.questions[number], answers)
        pane.expect(partial(find_review_mismatch, wait=wait, given=given))
        dialog = pane.read()
        pane.press("Enter")
        pane.wait_until_gone(dialog)
        self._selected.pop(agent.id, None)

    def _find_review_problem(self, pane: DialogPane, wait: Wait, given: list[str]) -> str | None:
        """Why the list of all answers will not fit on the screen; None if it will."""
        width, height = pane.size()
        headers = (question.header for question in wait.questions)
        answers = zip(headers, given, strict=True)
        fits = self._reader.review_rows is not None and self._reader.review_rows(width, answers) <= height
        return None if fits else REVIEW_TOO_LONG

    def _pane(self, agent: Agent, wait: Wait) -> DialogPane:
        use = self._find_call(wait)

        def shows_use(dialog: Dialog, use: ToolUse) -> bool:
            return self._reader.shows_call(dialog, use, agent.cwd or "")

        def find_problem(dialog: Dialog) -> str | None:
            return find_mismatch(dialog, wait, use, shows_use)

        return DialogPane(agent, lambda lines: self._reader.read(lines, use), find_problem)


def _find_start(pane: DialogPane, wait: Wait, given: list[str], own: list[str]) -> int:
    """The question to begin with. What is answered must have the `own` answers of an earlier attempt."""
    pane.expect(partial(find_part_mismatch, wait=wait, given=given))
    dialog = pane.read()
    answered = sum(dialog.marks)
    if answered > len(own):
        raise pane.refusal(PARTLY_ANSWERED)
    if own[:answered] != given[:answered]:
        raise pane.refusal(OTHER_ANSWERS)
    steps = range(len(wait.questions))
    return next((number for number in steps if find_step_mismatch(dialog, wait, number) is None), answered)


def _answer_question(pane: DialogPane, dialog: Dialog, question: Question, answers: dict[str, str | list[str]]) -> None:
    plan = choose_answer(dialog, question, answers_to_question(question, answers))
    if isinstance(plan, str):
        raise pane.refusal(plan)
    pane.select(plan)
    pane.wait_until_gone(dialog)
