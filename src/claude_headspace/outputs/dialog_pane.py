"""The dialog in the pane of an agent: reads it, moves its selection, ticks options and types text, each step checked.

Rules
- Before every key, the pane is found again: it must still run the client. The dialog is read again: it must still be
  the one that is answered. When it grows, for example with a typed text, its upper part may leave the screen.
- The selection moves step by step, and each step is checked on the screen. A text is typed in pieces. Enter is pressed
  only while the wanted option is selected and shows the end of the text.
- A dialog into which somebody has typed is left alone.
- If an answer is given up, the text that was typed is removed, so that nothing is left behind and a retry works. It is
  removed only if all of it was typed here; a key of a person may have removed a part. If the dialog is gone, the input
  box may have a piece of it.
- A stopped client gets no keys, and no key is pressed after the time for an answer.
"""

import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import psutil

from claude_headspace.clients.dialog import Dialog, squeeze
from claude_headspace.clients.dialog_answer import Choice
from claude_headspace.clients.dialog_match import DOES_NOT_FIT
from claude_headspace.clients.input_box import read_input_box
from claude_headspace.clients.screen import Screen
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.wait.answers import UNCONFIRMED
from claude_headspace.outputs import tmux
from claude_headspace.outputs.tmux import Refused

STOPPED = "The client is suspended, so it takes no keys."
SCREEN_SECONDS = 3.0
"""How long a client may take to show the effect of a key."""
ANSWER_SECONDS = 16.0
"""How long the keys of an answer may take. `outputs/answer_channels.py` waits longer for the result."""
POLL_SECONDS = 0.05
PIECE = 80
"""Characters that are typed at once: less than an input field shows."""
CLEAR_KEY = "C-u"
"""Removes what was typed, also in the input box. Without a text it does nothing."""
_SEQUENCE = re.compile(r"\x1b\[[0-9;:]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9A-B]|[\x0e\x0f]")

FindMismatch = Callable[[Dialog], str | None]
"""Why a dialog is not the one that is answered; None if it is."""


def is_stopped(pid: int | None) -> bool:
    """Whether a process is suspended, as with Ctrl+Z or SIGSTOP."""
    try:
        return pid is not None and psutil.Process(pid).status() == psutil.STATUS_STOPPED
    except (psutil.Error, OverflowError, ValueError):
        return False


class DialogPane:
    """The pane of an agent while its dialog is being answered."""

    def __init__(
        self, agent: Agent, read_dialog: Callable[[Sequence[str]], Dialog | None], mismatch: FindMismatch
    ) -> None:
        self._agent = agent
        self._read_dialog = read_dialog
        self._mismatch = mismatch
        self._complete: Dialog | None = None
        """The dialog when all of it was visible."""
        self._typed = ""
        """What was typed into the open dialog."""
        self._was_open = False
        self._deadline = time.monotonic() + ANSWER_SECONDS

    def refusal(self, reason: str) -> Refused:
        """Nothing more is pressed."""
        hint = f"Answer it in the terminal: `headspace jump {self._agent.name}` shows it."
        return Refused("dialog_not_answered", reason, hint)

    def expect(self, mismatch: FindMismatch) -> None:
        """From now on, another dialog is answered."""
        self._mismatch, self._complete, self._typed = mismatch, None, ""

    # --- reading ---

    def read(self, is_done: Callable[[Dialog], bool] = lambda _dialog: True) -> Dialog:
        """The dialog on the screen, when it is as wanted. Raises `Refused` if it is not the one that is answered."""
        dialog = self._wait_for(lambda shown: shown is not None and self._problem(shown) is None and is_done(shown))
        if is_stopped(self._agent.pid):
            raise self.refusal(f"{STOPPED} Continue it, then answer again.")
        if time.monotonic() > self._deadline:
            raise self.refusal("The client is so busy that answering its dialog took too long.")
        if dialog is None:
            raise self.refusal(self._reason_without_dialog())
        if (problem := self._problem(dialog)) is not None:
            raise self.refusal(problem)
        if not is_done(dialog):
            raise self.refusal("The dialog did not react as expected.")
        self._was_open = True
        if dialog.is_complete:
            self._complete = dialog
        return dialog

    def size(self) -> tuple[int, int]:
        """The width and the height of the screen."""
        pane = self._pane()
        [line] = tmux.run_tmux(pane.socket, "display-message", "-p", "-t", pane.id, "#{pane_width} #{pane_height}")
        width, height = line.split()
        return int(width), int(height)

    def shows_it(self) -> bool:
        """Whether the dialog of the wait is on the screen at this moment."""
        try:
            dialog = self._read()
        except Refused:
            return False
        return dialog is not None and self._mismatch(dialog) is None

    def wait_until_gone(self, dialog: Dialog) -> None:
        """Wait until the client has taken the answer."""
        if dialog.is_same(self._wait_for(lambda shown: not dialog.is_same(shown))):
            raise self.refusal(f"{UNCONFIRMED} Look at its terminal before you answer again.")

    def _problem(self, dialog: Dialog) -> str | None:
        if self._complete is not None and dialog.is_end_of(self._complete):
            return None
        return self._mismatch(dialog)

    def _reason_without_dialog(self) -> str:
        if not self._was_open:
            return f"{self._agent.name} shows no dialog that Headspace can read."
        return DOES_NOT_FIT if self._input_draft() is None else "The dialog was closed in the terminal."

    def _wait_for(self, is_done: Callable[[Dialog | None], bool]) -> Dialog | None:
        """Read the dialog until it is as wanted, closed, or time is up: the client draws its screen in steps."""
        deadline = min(time.monotonic() + SCREEN_SECONDS, self._deadline)
        while not is_done(shown := self._read()) and time.monotonic() < deadline:
            if shown is None and self._was_open and self._input_draft() is not None:
                return None
            time.sleep(POLL_SECONDS)
        return shown

    def _read(self) -> Dialog | None:
        return self._read_dialog([_SEQUENCE.sub("", line) for line in self._screen().text.split("\n")])

    def _input_draft(self) -> str | None:
        """The text in the input box of the client; None while a dialog takes its place."""
        box = read_input_box(self._agent.client, self._screen())
        return box.draft if box is not None else None

    def _screen(self) -> Screen:
        return tmux.read_screen(self._pane())

    def _pane(self) -> tmux.Pane:
        return tmux.find_agent_pane(self._agent.name, self._agent.tmux_pane, self._agent.pid)

    # --- answering ---

    def press(self, key: str) -> None:
        """Press a key, if the dialog is still the one that is answered."""
        self.read()
        tmux.press_key(self._pane(), key)

    def select(self, choice: Choice) -> None:
        """Tick options, select one, type its text, and press Enter."""
        if self.read().typed:
            raise self.refusal("Somebody has typed into the dialog.")
        for index, is_ticked in enumerate(choice.ticks):
            self._tick(index, is_ticked=is_ticked)
        self._move(choice.option)
        try:
            self._type(choice.text)
            time.sleep(tmux.ENTER_DELAY_SECONDS if choice.text else 0)
            self.read(lambda shown: shown.selected == choice.option and shown.shows_typed(choice.text))
        except Refused:
            self._remove_typed()
            raise
        tmux.press_key(self._pane(), "Enter")

    def _move(self, index: int) -> None:
        while (dialog := self.read()).selected != index:
            wanted = dialog.selected + (1 if index > dialog.selected else -1)
            tmux.press_key(self._pane(), "Down" if wanted > dialog.selected else "Up")
            self.read(lambda shown, wanted=wanted: shown.selected == wanted)  # type: ignore[misc]

    def _tick(self, index: int, *, is_ticked: bool) -> None:
        self._move(index)
        dialog = self.read()
        if (option := dialog.option(index)) is not None and option.is_ticked is not is_ticked:
            tmux.press_key(self._pane(), dialog.tick_key)
        self.read(lambda shown: (now := shown.option(index)) is not None and now.is_ticked is is_ticked)

    def _type(self, text: str) -> None:
        for start in range(0, len(text), PIECE):
            piece = text[start : start + PIECE]
            self._typed += piece
            tmux.insert_text(self._pane(), piece)
            self.read(lambda shown: shown.shows_typed(self._typed))

    def _remove_typed(self) -> None:
        """Remove what was typed here, and nothing else."""
        with suppress(Refused):
            if self._typed and not is_stopped(self._agent.pid) and self._has_own_text():
                tmux.press_key(self._pane(), CLEAR_KEY)
                self._wait_for(lambda shown: shown is None or not shown.typed)

    def _has_own_text(self) -> bool:
        """Whether the dialog, or the input box behind it, has a part of what was typed here, and nothing else.

        A dialog that cannot be read any more has grown higher than the screen with the last piece.
        """
        dialog, draft = self._read(), self._input_draft()
        if dialog is not None:
            is_own = self._complete is not None and (dialog.is_same(self._complete) or dialog.is_end_of(self._complete))
            return is_own and _is_part_of(dialog.typed, self._typed)
        return draft is None or _is_part_of(draft, self._typed)


def _is_part_of(shown: str, typed: str) -> bool:
    """Whether a text has no other characters than another one, in the same order."""
    rest = iter(squeeze(typed))
    return all(each in rest for each in squeeze(shown))
