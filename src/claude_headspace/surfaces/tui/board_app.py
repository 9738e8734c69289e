"""The base of `headspace top`: its state, messages, timers and work in threads. The groups of keys derive from it.

`Top` sets the attributes without a default. Work that may block runs in a thread; its result is shown on the screen.
"""

import subprocess
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from textual.app import App
from textual.screen import Screen
from textual.timer import Timer

from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.cli.output import Line, Span
from claude_headspace.surfaces.text.formatting import Json, clean_text
from claude_headspace.surfaces.tui.actions import ActionResult, Actions
from claude_headspace.surfaces.tui.key_guard import KeyGuard
from claude_headspace.surfaces.tui.keymap import translate
from claude_headspace.surfaces.tui.keys import Key
from claude_headspace.surfaces.tui.store import Board
from claude_headspace.surfaces.tui.widgets import AgentList

Result = TypeVar("Result")

MESSAGE_SECONDS = 6.0


class BoardApp(App[None]):
    """An app with a board of agents, and actions on them."""

    board: Board
    _agent_actions: Actions
    _clock: Callable[[], datetime]
    _palette: str
    _keys: Sequence[Key]
    _guard: KeyGuard
    _closing_guard: KeyGuard
    _named_timers: dict[str, Timer]
    _once: bool
    _message: Line | None = None

    @property
    def agents(self) -> AgentList:
        return self.query_one(AgentList)

    def _palette_name(self) -> str:
        return self._palette

    def _run_later(self, name: str, seconds: float, function: Callable[[], None]) -> None:
        """Run a function later. Replaces an earlier one of the same name."""
        if name in self._named_timers:
            self._named_timers[name].stop()
        self._named_timers[name] = self.set_timer(seconds, function)

    # --- messages ---

    def show_message(self, *parts: Span) -> None:
        """Show a message in the footer for some seconds."""
        self._message = tuple(Span(translate(clean_text(part.text), self._keys), part.role) for part in parts)
        self.query_one("#footer").refresh()
        self._run_later("message", MESSAGE_SECONDS, self._clear_message)

    def _clear_message(self) -> None:
        self._message = None
        self.query_one("#footer").refresh()

    def _say(self, text: str) -> None:
        self.show_message(Span(text, "dim"))

    def _show_error(self, error: HeadspaceError) -> None:
        self.show_message(Span(error.message, "error"), Span(f"  {error.hint}", "dim"))

    # --- work in threads ---

    def _run_in_thread(
        self,
        work: Callable[[], Result],
        then: Callable[[Result], object],
        on_error: Callable[[HeadspaceError], object] | None = None,
    ) -> None:
        """Run `work` in a thread, then pass its result to `then`. By default, errors are shown in the footer.

        A result that comes after the end of `top` is dropped.
        """

        def fail(error: HeadspaceError) -> None:
            if self._shows_board():
                (on_error or self._show_error)(error)

        def succeed(result: Result) -> None:
            if self._shows_board():
                then(result)

        def run() -> None:
            try:
                result = work()
            except HeadspaceError as error:
                self.call_from_thread(fail, error)
            else:
                self.call_from_thread(succeed, result)

        self.run_worker(run, thread=True)

    def _shows_board(self) -> bool:
        """Whether the widgets are there: not any more while `top` ends."""
        return bool(self.screen_stack) and bool(self.screen_stack[0].query("#details"))

    def _act(self, work: Callable[[], ActionResult], refuse: Callable[[HeadspaceError], None] | None = None) -> None:
        """Run an action in a thread and show its result. An error is shown, and passed to `refuse`."""

        def fail(error: HeadspaceError) -> None:
            self._show_error(error)
            if refuse is not None:
                refuse(error)

        self._run_in_thread(work, self._show_result, fail)

    def _run_on_selected(
        self, work: Callable[[Json], ActionResult], then: Callable[[ActionResult], None] | None = None
    ) -> None:
        """Run an action on the selected agent, which also marks it as seen."""
        agent = self.agents.selected
        if agent is not None:
            self._run_on(agent, work, then or self._show_result)

    def _run_on(self, agent: Json, work: Callable[[Json], ActionResult], then: Callable[[ActionResult], None]) -> None:
        self._mark_seen(agent["id"])
        self._run_in_thread(partial(work, agent), then)

    def _show_result(self, result: ActionResult) -> None:
        if result.foreground:
            with self.suspend():
                subprocess.run(result.foreground, check=False)
            self.refresh(layout=True)
        if result.message:
            self.show_message(Span(result.message))

    def _finish_jump(self, result: ActionResult) -> None:
        self._show_result(result)
        if self._once:
            self.exit()

    def _mark_seen(self, agent_id: str | None) -> None:
        agent = self.board.agents.get(agent_id or "")
        if agent is not None and agent["unseen"]:
            self._run_in_thread(partial(self._agent_actions.mark_seen, agent), lambda _result: None)

    # --- dialogs ---

    def _accepts_key(self, guard: KeyGuard) -> bool:
        """Whether a key counts now. If not, tell the user."""
        if guard.accepts():
            return True
        self.show_message(Span("Too early after a change: press it again.", "dim"))
        return False

    def _open_dialog(self, dialog: Screen[Any], then: Callable[[Any], None]) -> None:
        if not self.screen.is_modal:
            self.push_screen(dialog, then)
