"""The panel that answers a wait: it shows the complete request, asks step by step, and reports the result.

Rules
- Nothing can be answered before the request is shown. Approving also needs it to be read (`request_reading.py`).
- A key answers only if nothing has changed for half a second (`key_guard.py`). The moment at which the end of the
  request becomes visible is a change, too. Enter needs a choice at the cursor.
- The panel stays open until the user closes it with esc: after the answer with the result and the next wait, and after
  an answer of someone else. Until then it ignores all other keys, and a key that closes it does nothing else.
- A key with alt or ctrl never answers. It closes the panel like esc, because a terminal reports Esc and a letter as
  Alt and the letter (`key_parser.py`). Keys after it answer nothing.
"""

from collections.abc import Callable
from enum import Enum, auto
from typing import Any, ClassVar

from rich.cells import cell_len
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.events import Key as KeyEvent
from textual.screen import ModalScreen
from textual.widgets import Input

from claude_headspace.kernel.hidden_characters import mark_controls
from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, hanging, line
from claude_headspace.surfaces.cli.presentation.requests import request_lines
from claude_headspace.surfaces.text.clients import message_limit
from claude_headspace.surfaces.text.formatting import Json, clean_json, clean_text, cut
from claude_headspace.surfaces.text.labels import wait_text
from claude_headspace.surfaces.tui.answer_steps import AnswerForm, Choice, ChoiceStep, Step, TextStep, answer_form
from claude_headspace.surfaces.tui.key_guard import QUIET_SECONDS, KeyGuard
from claude_headspace.surfaces.tui.key_parser import has_escape_prefix
from claude_headspace.surfaces.tui.request_reading import INCOMPLETE, Reading
from claude_headspace.surfaces.tui.widgets import LinePane

TEXT_KEY = "o"
"""The key for a free text."""
NEXT_KEY = "a"
"""The key that opens the next wait after an answer."""
NEXT = "next"
"""The result of the panel if the user wants to answer the next wait."""
MIN_SUBJECT_LINES = 3
MAX_HEIGHT = 0.9
"""The part of the screen that the panel uses at most, as in top.tcss."""


class Phase(Enum):
    """What the panel does."""

    LOADING = auto()
    ASKING = auto()
    SENDING = auto()
    OVER = auto()
    CLOSED = auto()


class PanelActions:
    """What the panel asks the app to do. Both run in the background and report to the panel."""

    def __init__(
        self, load: Callable[["AnswerPanel", bool], None], send: Callable[["AnswerPanel", dict[str, Any]], None]
    ) -> None:
        self.load = load
        self.send = send


class AnswerInput(Input):
    """The input for a text. A letter after Esc is not part of the text: the panel handles it."""

    def on_key(self, event: KeyEvent) -> None:
        if has_escape_prefix(event):
            event.prevent_default()


class AnswerPanel(ModalScreen[str | None]):
    """Asks for the answer to one wait."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("pagedown", "scroll(1)", show=False),
        Binding("pageup", "scroll(-1)", show=False),
        Binding("end", "scroll_edge(1)", show=False),
        Binding("home", "scroll_edge(-1)", show=False),
    ]

    def __init__(self, agent: Json, wait: Json, palette: str, guard: KeyGuard, actions: PanelActions) -> None:
        super().__init__()
        self.wait_id: str = wait["id"]
        self.agent_id: str = agent["id"]
        self.phase = Phase.LOADING
        self._heading = f"{agent['name']} {wait_text(wait)}"
        self._no_message = message_limit(agent["client"], wait["kind"])
        self._palette = palette
        self._guard = guard
        self._actions = actions
        self.details: Json = {}
        """The wait with its complete request, once it is loaded."""
        self._form: AnswerForm | None = None
        self._step: Step = TextStep("Loading the complete request…")
        self._problem = ""
        self._offer = ""
        self._marked: list[str] = []
        self._cursor: int | None = None
        self._is_writing = False
        self._reading = Reading()

    def compose(self) -> ComposeResult:
        with Container(id="answer") as box:
            title = cut(self._heading, max(self.app.size.width - 6, 20))
            box.border_title = Text(title)  # Text: not parsed as markup
            yield LinePane(lambda: self._palette, id="subject")
            yield LinePane(lambda: self._palette, id="step")
            yield AnswerInput(id="text", compact=True)

    def on_mount(self) -> None:
        self.call_after_refresh(self._show)
        self.watch(self.query_one("#subject", LinePane), "scroll_y", self._note_scroll, init=False)
        self._actions.load(self, False)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show)

    # --- what the app reports ---

    def show_request(self, details: Json, *, everything: bool = False) -> None:
        """Show the request, and ask. `everything` is all that Headspace has of it."""
        if self.phase in (Phase.OVER, Phase.CLOSED):
            return
        if self._form is None:
            self._form = answer_form(details, self._no_message)
            self._step = next(self._form)
            self.phase = Phase.ASKING
        self.details, self._problem = details, ""
        self._reading.start(everything=everything)
        self._show(to_top=True)

    def finish(self, text: str, next_text: str = "") -> None:
        """Show the result, and offer the next wait. From now on only the keys that close the panel count."""
        self.phase = Phase.OVER
        self._step, self._offer, self._problem, self._is_writing = TextStep(text), next_text, "", False
        self._show()

    def offer(self, next_text: str) -> None:
        """Offer the next wait after the answer, or none any more."""
        if next_text != self._offer:
            self._offer = next_text
            self._show()

    # --- content ---

    def _show(self, *, to_top: bool = False) -> None:
        """Draw everything. This is a change of the layout, so keys do not count for a moment."""
        self._guard.note_change()
        self._is_writing = self.phase is Phase.ASKING and (self._is_writing or isinstance(self._step, TextStep))
        width = max(self.size.width - 6, 20)
        step_lines = self._step_lines(width)
        room = int(self.size.height * MAX_HEIGHT) - len(step_lines) - 2 - self._is_writing
        _fill(self.query_one("#subject", LinePane), self._subject_lines(width), max(room, MIN_SUBJECT_LINES), to_top)
        _fill(self.query_one("#step", LinePane), step_lines, self.size.height, True)
        text_input = self.query_one(Input)
        text_input.display = self._is_writing
        self.set_focus(text_input if self._is_writing else None)
        self._show_hint()
        self.call_after_refresh(self._note_end)

    def _subject_lines(self, width: int) -> list[Line]:
        return request_lines(clean_json(self.details), width) if self.details else []

    def _step_lines(self, width: int) -> list[Line]:
        step = self._step
        lines = [EMPTY_LINE, *hanging(line(), clean_text(step.title), width, "strong")]
        if problem := self._problem or step.error:
            lines += hanging(line(), clean_text(problem), width, "error")
        if self._offer:
            lines += hanging(line(Span(f" {NEXT_KEY}  ", "key")), f"next: {clean_text(self._offer)}", width)
        if self.phase is not Phase.ASKING or not isinstance(step, ChoiceStep) or self._is_writing:
            return lines
        for number, choice in enumerate(step.choices):
            lines += self._choice_lines(number, choice, width)
        if step.allows_text:
            lines.append(line(Span("   "), Span(f"{TEXT_KEY}  ", "key"), "write your own answer"))
        return lines

    def _choice_lines(self, number: int, choice: Choice, width: int) -> list[Line]:
        mark = "✓" if choice.value in self._marked else "▸" if number == self._cursor else " "
        start = line(Span(f" {mark} ", "strong"), Span(f"{choice.key:<2} ", "key"))
        label, about = clean_text(mark_controls(choice.label)), clean_text(choice.description)
        if about and cell_len(label) + cell_len(about) + 9 <= width and "\n" not in about:
            return [(*start, Span(label), Span(" · ", "dim"), Span(about, "dim"))]
        lines = hanging(start, label, width)
        return [*lines, *hanging(line(" " * 6), about, width, "dim")] if about else lines

    def _show_hint(self, *, is_early: bool = False) -> None:
        self.query_one("#answer").border_subtitle = "too early, press it again" if is_early else self._hint()
        if is_early:
            self.set_timer(QUIET_SECONDS, self._show_hint)

    def _hint(self) -> str:
        if self.phase is not Phase.ASKING:
            return "esc close"
        more = ["f show all"] if self._reading.can_load_more(self.details["request"]) else []
        scroll = [] if self._reading.has_seen_end else ["pgdn scroll"]
        if self._is_writing:
            return " · ".join((*scroll, "enter send", "esc cancel"))
        multiple = isinstance(self._step, ChoiceStep) and self._step.multiple
        keys = ["space mark", "enter send"] if multiple else ["press the key of a choice"]
        return " · ".join((*more, *scroll, *keys, "esc cancel"))

    # --- keys ---

    def on_key(self, event: KeyEvent) -> None:
        """Close the panel, or select a choice by its key, or the one at the cursor by enter or space."""
        if self.phase is Phase.CLOSED:
            self._take(event)
        elif self._is_closed_by(event):
            self._take(event)
            self._close(None)
        elif self._is_writing:
            return
        elif self.phase is Phase.OVER and event.key == NEXT_KEY and self._offer:
            self._take(event)
            self._open_next()
        elif self.phase is Phase.ASKING and isinstance(self._step, ChoiceStep):
            self._choose_by(event, self._step)

    def _is_closed_by(self, event: KeyEvent) -> bool:
        is_modified = event.key.startswith(("alt+", "ctrl+")) and not self._is_writing
        return event.key == "escape" or is_modified or has_escape_prefix(event)

    def _close(self, result: str | None) -> None:
        """Close the panel at once: keys that are already on their way to it count no more."""
        if self.phase is not Phase.CLOSED:
            self.phase = Phase.CLOSED
            self.dismiss(result)

    def _open_next(self) -> None:
        if self._guard.accepts():
            self._close(NEXT)
        else:
            self._show_hint(is_early=True)

    def _take(self, event: KeyEvent) -> None:
        """Handle a key here only: nothing else reacts to it, not even after the panel is closed."""
        event.stop()
        event.prevent_default()

    def _choose_by(self, event: KeyEvent, step: ChoiceStep) -> None:
        named = next((choice for choice in step.choices if choice.key and choice.key == event.key), None)
        pointed = step.choices[self._cursor] if self._cursor is not None else None
        if named is None and event.key == TEXT_KEY and step.allows_text:
            self._is_writing = True
            self._show()
        elif event.key == "f" and named is None and self._reading.can_load_more(self.details["request"]):
            self._actions.load(self, True)
        elif step.multiple and event.key == "enter":
            self._submit(self._marked, approves=step.approves)
        elif step.multiple and (choice := named or (pointed if event.key == "space" else None)) is not None:
            self._mark(choice.value)
        elif not step.multiple and (choice := named or (pointed if event.key == "enter" else None)) is not None:
            self._submit([choice.value], approves=choice.approves)
        else:
            return
        self._take(event)

    def _mark(self, value: str) -> None:
        self._marked = [each for each in self._marked if each != value] + [value] * (value not in self._marked)
        self._show()

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        if self.phase is Phase.ASKING and isinstance(self._step, ChoiceStep):
            start = -1 if by > 0 else 0
            self._cursor = ((start if self._cursor is None else self._cursor) + by) % len(self._step.choices)
            self._show()

    def action_scroll(self, by: int) -> None:
        """Scroll the request."""
        pane = self.query_one("#subject", LinePane)
        self._scroll_request(pane.scroll_offset.y + by * max(pane.size.height - 1, 1))

    def action_scroll_edge(self, side: int) -> None:
        """Scroll to the beginning or the end of the request."""
        self._scroll_request(self.query_one("#subject", LinePane).virtual_size.height if side > 0 else 0)

    def _scroll_request(self, row: int) -> None:
        self.query_one("#subject", LinePane).scroll_to(y=row, animate=False, force=True)

    def _note_scroll(self) -> None:
        self.call_after_refresh(self._note_end)

    def _note_end(self) -> None:
        """If the end of the request has become visible, this is a change: an answer needs a moment after it."""
        is_new = self.phase is Phase.ASKING and not self._reading.has_seen_end
        if is_new and self.query_one("#subject", LinePane).is_at_end:
            self._reading.has_seen_end = True
            self._problem = ""
            self._show()

    # --- submitting ---

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Submit the text, with the marked choices."""
        event.stop()
        self._submit([*self._marked, event.value] if event.value.strip() or not self._marked else self._marked)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Keep the event from the board, which would use it as its filter."""
        event.stop()

    def _submit(self, reply: list[str], *, approves: bool = False) -> None:
        if self.phase is not Phase.ASKING or self._form is None:
            return
        request = self.details["request"]
        if approves and (obstacle := self._reading.obstacle(request)):
            self._refuse(obstacle)
        elif not self._guard.accepts():
            self._show_hint(is_early=True)
        elif approves and not self._reading.confirms(request, reply):
            self._refuse(INCOMPLETE)
        else:
            self._advance(self._form, reply)

    def _refuse(self, problem: str) -> None:
        self._problem = problem
        self._show()

    def _advance(self, form: AnswerForm, reply: list[str]) -> None:
        self._problem = ""
        try:
            self._step = form.send(reply)
        except StopIteration as end:
            self.phase, self._step, self._is_writing = Phase.SENDING, TextStep("Sending the answer…"), False
            self._show()
            self._actions.send(self, end.value)
            return
        self._marked, self._cursor, self._is_writing = [], None, False
        self.query_one(Input).value = "" if isinstance(self._step, ChoiceStep) else clean_text(self._step.default)
        self._show()


def _fill(pane: LinePane, lines: list[Line], max_lines: int, to_top: bool) -> None:
    pane.styles.height = min(len(lines), max_lines)
    pane.show(lines, to_top=to_top)
