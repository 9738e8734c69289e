"""Dialogs over the board that ask for values, or for a confirmation."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.events import Key as KeyEvent
from textual.screen import ModalScreen
from textual.suggester import SuggestFromList
from textual.widgets import Input, Label

from claude_headspace.surfaces.text.formatting import cut, one_line
from claude_headspace.surfaces.tui.key_guard import KeyGuard


class Field(NamedTuple):
    """One line of a form."""

    name: str
    label: str
    value: str = ""
    choices: Sequence[str] = ()
    """Values that are suggested while typing; the right arrow key takes one."""


class Form(ModalScreen[Mapping[str, str] | None]):
    """Asks for values. Enter takes them, esc closes the form."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", show=False),
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]

    def __init__(self, title: str, fields: Sequence[Field], problem: str = "") -> None:
        super().__init__()
        self._title = problem or title
        self._form_fields = fields

    def compose(self) -> ComposeResult:
        with Container(id="form") as box:
            box.border_title = Text(cut(one_line(self._title), max(self.app.size.width - 6, 20)))  # Text: no markup
            box.border_subtitle = "enter ok · ↑ ↓ fields · esc close" if len(self._form_fields) > 1 else "esc close"
            for field in self._form_fields:
                with Horizontal(classes="field"):
                    yield Label(field.label)
                    suggester = SuggestFromList(field.choices, case_sensitive=False) if field.choices else None
                    yield Input(field.value, suggester=suggester, compact=True, select_on_focus=False)

    def on_mount(self) -> None:
        self.query(Input).last().focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()  # it is not the filter of the board

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        inputs = zip(self._form_fields, self.query(Input), strict=True)
        self.dismiss({field.name: given.value.strip() for field, given in inputs})


class Question(ModalScreen[bool]):
    """Asks for a confirmation. `y` counts only if the question has been on the screen for a moment."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "confirm", show=False),
        Binding("escape,n,q,enter", "refuse", show=False),
    ]

    def __init__(self, text: str, guard: KeyGuard) -> None:
        super().__init__()
        self._text = text
        self._guard = guard

    def compose(self) -> ComposeResult:
        with Container(id="form") as box:
            box.border_subtitle = "y yes · esc no"
            yield Label(Text(self._text))

    def on_mount(self) -> None:
        self._guard.note_change()

    def action_confirm(self) -> None:
        if self._guard.accepts():
            self.dismiss(result=True)
        else:
            self.query_one("#form").border_subtitle = "Too early: press y again · esc no"

    def action_refuse(self) -> None:
        self.dismiss(result=False)


class Choice(ModalScreen[str]):
    """Offers actions by key. Nothing is done before a confirmation."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", show=False)]

    def __init__(self, title: str, choices: Mapping[str, str]) -> None:
        super().__init__()
        self._title = title
        self._choices = choices

    def compose(self) -> ComposeResult:
        with Container(id="form") as box:
            box.border_title = Text(cut(one_line(self._title), max(self.app.size.width - 6, 20)))  # Text: no markup
            box.border_subtitle = "esc close"
            yield Label(Text("\n".join(f"{key}  {text}" for key, text in self._choices.items())))

    def on_key(self, event: KeyEvent) -> None:
        if event.key in self._choices:
            event.stop()
            self.dismiss(event.key)
