"""The panel that answers a wait, step by step. It closes after the last step."""

from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.events import Key as KeyEvent
from textual.screen import ModalScreen
from textual.widgets import Input

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, hanging, line
from claude_headspace.surfaces.text.formatting import Json, cut
from claude_headspace.surfaces.text.labels import wait_text
from claude_headspace.surfaces.tui.answer_steps import ChoiceStep, Step, answer_form
from claude_headspace.surfaces.tui.widgets import LinePane

TEXT_KEY = "o"
"""The key for a free text."""
MAX_SUBJECT_LINES = 12
"""How many lines of the command, plan or message are shown at once."""


class AnswerPanel(ModalScreen[dict[str, Any] | None]):
    """Asks for the answer to one wait."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", show=False),
        Binding("down", "move(1)", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("pagedown", "scroll(1)", show=False),
        Binding("pageup", "scroll(-1)", show=False),
    ]

    def __init__(self, agent: Json, wait: Json, palette: str) -> None:
        super().__init__()
        self.wait_id: str = wait["id"]
        self.agent_id: str = agent["id"]
        self._agent = agent
        self._wait = wait
        self._palette = palette
        self._form = answer_form(wait)
        self._step: Step = next(self._form)
        self._marked: list[str] = []
        self._cursor = 0
        self._is_writing = False

    def compose(self) -> ComposeResult:
        with Container(id="answer") as box:
            title = cut(f"{self._agent['name']} {wait_text(self._wait)}", max(self.app.size.width - 6, 20))
            box.border_title = Text(title)  # Text: not parsed as markup
            yield LinePane(lambda: self._palette, id="subject")
            yield LinePane(lambda: self._palette, id="step")
            yield Input(id="text", compact=True)

    def on_mount(self) -> None:
        self.call_after_refresh(self._show)

    # --- content ---

    def _show(self) -> None:
        step, subject, pane = self._step, self.query_one("#subject", LinePane), self.query_one("#step", LinePane)
        self._is_writing = self._is_writing or not isinstance(step, ChoiceStep)
        width = max(self.size.width - 6, 20)
        _fill(subject, _subject_lines(self._wait, width), MAX_SUBJECT_LINES)
        _fill(pane, self._step_lines(width), self.size.height)
        text_input = self.query_one(Input)
        text_input.display = self._is_writing
        self.query_one("#answer").border_subtitle = self._hint()
        self.set_focus(text_input if self._is_writing else None)

    def _step_lines(self, width: int) -> list[Line]:
        step = self._step
        lines = hanging(line(), step.title, width, "strong")
        if step.error:
            lines += hanging(line(), step.error, width, "error")
        if not isinstance(step, ChoiceStep) or self._is_writing:
            return lines
        for number, choice in enumerate(step.choices):
            mark = "✓" if choice.value in self._marked else "▸" if number == self._cursor else " "
            start = line(Span(f" {mark} ", "strong"), Span(f"{choice.key:<2} ", "key"), Span(choice.label))
            lines += hanging(start, f"  {choice.description}" if choice.description else "", width, "dim", indent=6)
        if step.allows_text:
            lines.append(line(Span("   "), Span(f"{TEXT_KEY}  ", "key"), "write your own answer"))
        return lines

    def _hint(self) -> str:
        if self._is_writing:
            return "enter send · esc cancel"
        multiple = isinstance(self._step, ChoiceStep) and self._step.multiple
        return "space mark · enter send · esc cancel" if multiple else "enter or the key of a choice · esc cancel"

    # --- keys ---

    def on_key(self, event: KeyEvent) -> None:
        """Select a choice by its key, or the one at the cursor by enter or space."""
        step = self._step
        if self._is_writing or not isinstance(step, ChoiceStep):
            return
        named = next((choice for choice in step.choices if choice.key and choice.key == event.character), None)
        pointed = step.choices[self._cursor]
        if event.character == TEXT_KEY and step.allows_text and named is None:
            self._is_writing = True
            self._show()
        elif named is not None or (event.key == "space" and step.multiple):
            self._choose((named or pointed).value, step)
        elif event.key == "enter":
            self._submit(self._marked or [pointed.value])
        else:
            return
        event.stop()
        event.prevent_default()

    def _choose(self, value: str, step: ChoiceStep) -> None:
        if not step.multiple:
            self._submit([value])
            return
        self._marked = [each for each in self._marked if each != value] + [value] * (value not in self._marked)
        self._show()

    def action_move(self, by: int) -> None:
        """Move the cursor."""
        if isinstance(self._step, ChoiceStep):
            self._cursor = (self._cursor + by) % len(self._step.choices)
            self._show()

    def action_scroll(self, by: int) -> None:
        """Scroll the command, plan or message."""
        pane = self.query_one("#subject", LinePane)
        pane.scroll_to(y=pane.scroll_offset.y + by * max(pane.size.height - 1, 1), animate=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Submit the text, with the marked choices."""
        event.stop()
        self._submit([*self._marked, event.value] if event.value.strip() or not self._marked else self._marked)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Keep the event from the board, which would use it as its filter."""
        event.stop()

    def _submit(self, reply: list[str]) -> None:
        try:
            self._step = self._form.send(reply)
        except StopIteration as end:
            self.dismiss(end.value)
            return
        self._marked, self._cursor, self._is_writing = [], 0, False
        self.query_one(Input).value = "" if isinstance(self._step, ChoiceStep) else self._step.default
        self._show()


def _fill(pane: LinePane, lines: list[Line], max_lines: int) -> None:
    pane.styles.height = min(len(lines), max_lines)
    pane.show(lines, to_top=True)


def _subject_lines(wait: Json, width: int) -> list[Line]:
    """The command, the plan or the message of a server. A question is shown with its options instead."""
    if wait["questions"]:
        return [EMPTY_LINE]
    text = wait["summary"] if wait["kind"] == "permission" and wait["summary"] else wait["text"]
    return hanging(line(), text.strip(), width, "said")
