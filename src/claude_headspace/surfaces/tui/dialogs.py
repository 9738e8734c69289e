"""What opens over the board: the help, and the line to type a prompt."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.events import Key as KeyEvent
from textual.screen import ModalScreen
from textual.widgets import TextArea

from claude_headspace.surfaces.tui.presentation.help import help_lines
from claude_headspace.surfaces.tui.widgets import Lines


class Help(ModalScreen[None]):
    """Every key, and what the shapes mean."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "dismiss", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
    ]

    def __init__(self, palette: str) -> None:
        super().__init__()
        self._palette = palette

    def compose(self) -> ComposeResult:
        """One pane of lines."""
        yield Lines(lambda: self._palette, id="help")

    def on_mount(self) -> None:
        """Show the lines; esc closes."""
        pane = self.query_one(Lines)
        pane.border_title, pane.border_subtitle = "help", "esc closes"
        self.call_after_refresh(lambda: pane.show(help_lines(pane.size.width), from_the_top=True))

    def action_scroll(self, by: int) -> None:
        """Scroll on a small screen."""
        pane = self.query_one(Lines)
        pane.scroll_to(y=pane.scroll_offset.y + by, animate=False)


class PromptArea(TextArea):
    """Several lines; enter sends, another enter with a modifier begins a new line."""

    async def _on_key(self, event: KeyEvent) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            screen = self.screen
            if isinstance(screen, Prompt):
                screen.dismiss(self.text.strip())
        elif event.key in ("ctrl+j", "shift+enter", "alt+enter"):
            event.stop()
            event.prevent_default()
            self.insert("\n")
        else:
            await super()._on_key(event)


class Prompt(ModalScreen[str | None]):
    """Asks for a text to type to an agent."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", show=False)]

    def __init__(self, name: str, palette: str) -> None:
        super().__init__()
        self._to = name
        self._palette = palette

    def compose(self) -> ComposeResult:
        """A box at the bottom."""
        with Container(id="prompt") as box:
            box.border_title = f"to {self._to}"
            box.border_subtitle = "enter sends · ctrl+j new line · esc"
            yield PromptArea(compact=True, highlight_cursor_line=False)

    def on_mount(self) -> None:
        """Ready to type."""
        self.query_one(PromptArea).focus()
