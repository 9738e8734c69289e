"""The panel in which a wait is answered: what it wants, and one step after the other. It closes when it is over."""

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
from claude_headspace.surfaces.tui.answer_steps import Pick, Step, steps
from claude_headspace.surfaces.tui.widgets import Lines

OWN = "o"
"""The key for words of one's own."""
MOST_LINES = 12
"""How much is shown at once of what it is about."""


class AnswerPanel(ModalScreen[dict[str, Any] | None]):
    """Asks for the answer to one wait; what is chosen stands beside its key."""

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
        self._walk = steps(wait)
        self._step: Step = next(self._walk)
        self._chosen: list[str] = []
        self._at = 0
        self._writes = False

    def compose(self) -> ComposeResult:
        """What it is about above, the step below."""
        with Container(id="answer") as box:
            title = cut(f"{self._agent['name']} {wait_text(self._wait)}", max(self.app.size.width - 6, 20))
            box.border_title = Text(title)  # as it is, never as markup
            yield Lines(lambda: self._palette, id="about")
            yield Lines(lambda: self._palette, id="step")
            yield Input(id="words", compact=True)

    def on_mount(self) -> None:
        """Show the first step."""
        self.call_after_refresh(self._show)

    # --- what is shown ---

    def _show(self) -> None:
        step, about, pane = self._step, self.query_one("#about", Lines), self.query_one("#step", Lines)
        self._writes = self._writes or not isinstance(step, Pick)
        width = max(self.size.width - 6, 20)
        _fill(about, _about(self._wait, width), MOST_LINES)
        _fill(pane, self._lines(width), self.size.height)
        words = self.query_one(Input)
        words.display = self._writes
        self.query_one("#answer").border_subtitle = self._hint()
        self.set_focus(words if self._writes else None)

    def _lines(self, width: int) -> list[Line]:
        step = self._step
        lines = hanging(line(), step.title, width, "strong")
        if step.trouble:
            lines += hanging(line(), step.trouble, width, "error")
        if not isinstance(step, Pick) or self._writes:
            return lines
        for number, choice in enumerate(step.choices):
            mark = "✓" if choice.value in self._chosen else "▸" if number == self._at else " "
            start = line(Span(f" {mark} ", "strong"), Span(f"{choice.key:<2} ", "key"), Span(choice.label))
            lines += hanging(start, f"  {choice.about}" if choice.about else "", width, "dim", indent=6)
        return [*lines, line(Span("   "), Span(f"{OWN}  ", "key"), "in your own words")] if step.own_words else lines

    def _hint(self) -> str:
        if self._writes:
            return "enter sends · esc"
        several = isinstance(self._step, Pick) and self._step.several
        return "space marks · enter sends · esc" if several else "its key, or enter · esc"

    # --- what is pressed ---

    def on_key(self, event: KeyEvent) -> None:
        """A choice by its key, the one that is pointed at by enter or space."""
        step = self._step
        if self._writes or not isinstance(step, Pick):
            return
        named = next((choice for choice in step.choices if choice.key and choice.key == event.character), None)
        pointed = step.choices[self._at]
        if event.character == OWN and step.own_words and named is None:
            self._writes = True
            self._show()
        elif named is not None or (event.key == "space" and step.several):
            self._choose((named or pointed).value, step)
        elif event.key == "enter":
            self._reply(self._chosen or [pointed.value])
        else:
            return
        event.stop()
        event.prevent_default()

    def _choose(self, value: str, step: Pick) -> None:
        if not step.several:
            self._reply([value])
            return
        self._chosen = [each for each in self._chosen if each != value] + [value] * (value not in self._chosen)
        self._show()

    def action_move(self, by: int) -> None:
        """Point at the choice before or after."""
        if isinstance(self._step, Pick):
            self._at = (self._at + by) % len(self._step.choices)
            self._show()

    def action_scroll(self, by: int) -> None:
        """Scroll what it is about."""
        pane = self.query_one("#about", Lines)
        pane.scroll_to(y=pane.scroll_offset.y + by * max(pane.size.height - 1, 1), animate=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """What was written, with what was marked before."""
        event.stop()
        self._reply([*self._chosen, event.value] if event.value.strip() or not self._chosen else self._chosen)

    def on_input_changed(self, event: Input.Changed) -> None:
        """The board below must not take it for its filter."""
        event.stop()

    def _reply(self, reply: list[str]) -> None:
        try:
            self._step = self._walk.send(reply)
        except StopIteration as end:
            self.dismiss(end.value)
            return
        self._chosen, self._at, self._writes = [], 0, False
        self.query_one(Input).value = "" if isinstance(self._step, Pick) else self._step.usual
        self._show()


def _fill(pane: Lines, lines: list[Line], most: int) -> None:
    pane.styles.height = min(len(lines), most)
    pane.show(lines, from_the_top=True)


def _about(wait: Json, width: int) -> list[Line]:
    """What it is about: the command, the plan, the words of a server; a question stands with its options."""
    if wait["questions"]:
        return [EMPTY_LINE]
    text = wait["summary"] if wait["kind"] == "permission" and wait["summary"] else wait["text"]
    return hanging(line(), text.strip(), width, "said")
