"""Answers as keystrokes: for clients whose dialogs can be answered only in their terminal.

The dialog is read from the screen of the agent's pane. It must be the one of the wait (`clients/dialog.py`).

Rules
- Before every key, the pane is found again: it must still run the client. The dialog is read again: it must still be
  the one of the wait.
- The selection moves step by step, and each step is checked on the screen. Enter is pressed only while the wanted
  option is selected and shows the typed text.
- A dialog into which somebody has typed is left alone.
- Several questions are answered one after the other. The answers are submitted only if the dialog lists exactly these.
- An answer counts as delivered when the dialog is gone. If it stays, the client may still take the keys later.
- A stopped client gets no keys: it would take them when it continues, long after the person was told that it did not.
"""

import asyncio
import re
import time
from collections.abc import Callable
from functools import partial

import msgspec
import psutil

from claude_headspace.clients.dialog import (
    Choice,
    Dialog,
    Key,
    ShowsUse,
    choose,
    find_mismatch,
    find_review_mismatch,
    find_step_mismatch,
    single_answers,
    squeeze,
)
from claude_headspace.clients.dialog_readers import DialogReader, ReadDialog
from claude_headspace.kernel.agent import Agent, Wait
from claude_headspace.kernel.tools import ToolUse
from claude_headspace.kernel.wait.answers import UNCONFIRMED, Answer
from claude_headspace.outputs import tmux
from claude_headspace.outputs.pane_input import PaneInput
from claude_headspace.outputs.tmux import Refused

ANSWERABLE = ("permission", "question")
"""The kinds of waits that have a dialog with keys."""
OTHER_KIND = "Headspace cannot press keys in a dialog of this kind."
SEVERAL_QUESTIONS = "Headspace can answer only one question at a time with keys, and this dialog has another number."
SEVERAL_OPTIONS = "Several options can be selected in this dialog, and Headspace can select only one with keys."
UNKNOWN_REQUEST = "Headspace does not know what this dialog is about."
NOT_SHOWN = "The agent shows its dialogs one after the other, and this one is not on its screen yet."
NO_PANE = "Headspace answers this client with keys in tmux, and does not know a tmux pane of the agent."
STOPPED = "The client is suspended, so it takes no keys."
SCREEN_SECONDS = 3.0
"""How long a client may take to show the effect of a key."""
POLL_SECONDS = 0.05
_SEQUENCE = re.compile(r"\x1b\[[0-9;:]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-B]|[\x0e\x0f]")

FindCall = Callable[[Wait], ToolUse | None]
"""Finds the tool call of a wait in the log: what people are shown. None if there is none."""


def is_stopped(pid: int | None) -> bool:
    """Whether a process is suspended, as with Ctrl+Z or SIGSTOP."""
    try:
        return pid is not None and psutil.Process(pid).status() == psutil.STATUS_STOPPED
    except (psutil.Error, OverflowError, ValueError):
        return False


class KeystrokeChannel:
    """Gives answers to the clients of one kind by pressing keys in their panes."""

    def __init__(self, reader: DialogReader, find_call: FindCall, panes: PaneInput) -> None:
        self._reader = reader
        self._find_call = find_call
        self._panes = panes

    def find_obstacle(self, agent: Agent, wait: Wait) -> str | None:
        """Why this wait cannot be answered now; None if its client runs in a pane and its dialog has keys."""
        if wait.kind not in ANSWERABLE:
            return OTHER_KIND
        if wait.kind == "question" and (problem := self._problem_of_questions(wait)) is not None:
            return problem
        if wait.kind == "permission" and wait.tool is None:
            return UNKNOWN_REQUEST
        return NO_PANE if agent.tmux_pane is None or agent.pid is None else None

    def _problem_of_questions(self, wait: Wait) -> str | None:
        if len(wait.questions) != 1 and not (wait.questions and self._reader.asks_several):
            return SEVERAL_QUESTIONS
        return SEVERAL_OPTIONS if any(question.several for question in wait.questions) else None

    async def find_shown_obstacle(self, agent: Agent, wait: Wait) -> str | None:
        """Why one of several waits cannot be answered yet; None if its dialog is on the screen."""
        return await asyncio.to_thread(self._find_shown_obstacle, agent, wait)

    def _find_shown_obstacle(self, agent: Agent, wait: Wait) -> str | None:
        use = self._find_call(wait)
        pane = self._pane(agent, lambda dialog: find_mismatch(dialog, wait, use, self._shows_use(agent)))
        return None if pane.shows_it() else NOT_SHOWN

    async def deliver(self, agent: Agent, wait: Wait, answer: Answer) -> None:
        """Answer the dialog. Raises `Refused`, with what to do, if it is not the one of the wait."""
        async with self._panes.lock(agent):
            await asyncio.to_thread(self._deliver, agent, wait, answer)

    def _deliver(self, agent: Agent, wait: Wait, answer: Answer) -> None:
        if len(wait.questions) > 1 and answer.answers is not None:
            self._answer_several(agent, wait, answer.answers)
            return
        use = self._find_call(wait)
        pane = self._pane(agent, lambda dialog: find_mismatch(dialog, wait, use, self._shows_use(agent)))
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

    def _answer_several(self, agent: Agent, wait: Wait, answers: dict[str, str | list[str]]) -> None:
        """Answer one question after the other, then submit the answers if the dialog lists them."""
        given = single_answers(wait, answers)
        if given is None:
            raise self._pane(agent, lambda _dialog: None).refusal("Its dialog takes one answer to each question.")
        for number, question in enumerate(wait.questions):
            pane = self._pane(agent, partial(find_step_mismatch, wait=wait, number=number))
            dialog = pane.read()
            one = msgspec.structs.replace(wait, questions=(question,))
            plan = choose(dialog, one, Answer(answers={question.text: given[number]}))
            if not isinstance(plan, Choice):
                raise pane.refusal(plan if isinstance(plan, str) else "Its dialog does not take this answer.")
            pane.select(plan)
            pane.wait_until_gone(dialog)
        pane = self._pane(agent, partial(find_review_mismatch, wait=wait, given=given))
        dialog = pane.read()
        pane.press("Enter")
        pane.wait_until_gone(dialog)

    def _pane(self, agent: Agent, mismatch: Callable[[Dialog], str | None]) -> "_DialogPane":
        return _DialogPane(agent, self._reader.read, mismatch)

    def _shows_use(self, agent: Agent) -> ShowsUse:
        return lambda dialog, use: self._reader.shows_call(dialog, use, agent.cwd or "")


class _DialogPane:
    """The pane of an agent while its dialog is being answered."""

    def __init__(self, agent: Agent, read_dialog: ReadDialog, mismatch: Callable[[Dialog], str | None]) -> None:
        self._agent = agent
        self._read_dialog = read_dialog
        self._mismatch = mismatch

    def refusal(self, reason: str) -> Refused:
        """Nothing more is pressed."""
        hint = f"Answer it in the terminal: `headspace jump {self._agent.name}` shows it."
        return Refused("dialog_not_answered", reason, hint)

    def read(self) -> Dialog:
        """The dialog on the screen now. Raises `Refused` if it is not the one of the wait."""
        dialog = self._wait_for(lambda shown: shown is not None and self._mismatch(shown) is None)
        if is_stopped(self._agent.pid):
            raise self.refusal(f"{STOPPED} Continue it, then answer again.")
        if dialog is None:
            raise self.refusal(f"{self._agent.name} shows no dialog that Headspace can read.")
        if (problem := self._mismatch(dialog)) is not None:
            raise self.refusal(problem)
        return dialog

    def shows_it(self) -> bool:
        """Whether the dialog of the wait is on the screen at this moment."""
        try:
            dialog = self._read()
        except Refused:
            return False
        return dialog is not None and self._mismatch(dialog) is None

    def press(self, key: str) -> None:
        """Press a key, if the dialog is still the one of the wait."""
        self.read()
        tmux.press_key(self._pane(), key)

    def select(self, choice: Choice) -> None:
        """Select an option, type its text, and press Enter."""
        dialog = self.read()
        if dialog.typed:
            raise self.refusal("Somebody has typed into the dialog.")
        while dialog.selected != choice.option:
            dialog = self._move(dialog, 1 if choice.option > dialog.selected else -1)
        if choice.text:
            tmux.insert_text(self._pane(), choice.text)
            self._expect(lambda shown: squeeze(shown.typed) == squeeze(choice.text))
        final = self.read()
        if final.selected != choice.option or squeeze(final.typed) != squeeze(choice.text):
            raise self.refusal("The dialog was changed meanwhile.")
        tmux.press_key(self._pane(), "Enter")

    def _move(self, dialog: Dialog, step: int) -> Dialog:
        wanted = dialog.selected + step
        self.press("Down" if step > 0 else "Up")
        self._expect(lambda shown: shown.selected == wanted)
        return self.read()

    def _expect(self, is_done: Callable[[Dialog], bool]) -> None:
        shown = self._wait_for(lambda now: now is not None and is_done(now))
        if shown is None or not is_done(shown):
            raise self.refusal("The dialog did not react as expected.")

    def wait_until_gone(self, dialog: Dialog) -> None:
        """Wait until the client has taken the answer."""
        if dialog.is_same(self._wait_for(lambda shown: not dialog.is_same(shown))):
            raise self.refusal(f"{UNCONFIRMED} Look at its terminal before you answer again.")

    def _wait_for(self, is_done: Callable[[Dialog | None], bool]) -> Dialog | None:
        """Read the dialog until it is as wanted or time is up: the client draws its screen in steps."""
        deadline = time.monotonic() + SCREEN_SECONDS
        while not is_done(shown := self._read()) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        return shown

    def _read(self) -> Dialog | None:
        screen = tmux.read_screen(self._pane()).text
        return self._read_dialog([_SEQUENCE.sub("", line) for line in screen.split("\n")])

    def _pane(self) -> tmux.Pane:
        return tmux.find_agent_pane(self._agent.name, self._agent.tmux_pane, self._agent.pid)
