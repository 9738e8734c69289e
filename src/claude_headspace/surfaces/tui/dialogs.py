"""Dialogs over the board: the help, a list of results, and the input for a prompt."""

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.events import Key as KeyEvent
from textual.screen import ModalScreen
from textual.widgets import TextArea

from claude_headspace.surfaces.cli.output import hanging, line
from claude_headspace.surfaces.text.formatting import clean_text, cut, one_line
from claude_headspace.surfaces.tui.keys import KEYS, Key
from claude_headspace.surfaces.tui.presentation.frame import help_lines
from claude_headspace.surfaces.tui.widgets import LinePane


class Help(ModalScreen[None]):
    """All keys, and the meaning of the shapes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "dismiss", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
    ]

    def __init__(self, palette: str, keys: Sequence[Key] = KEYS) -> None:
        super().__init__()
        self._palette = palette
        self._keys = keys

    def compose(self) -> ComposeResult:
        yield LinePane(lambda: self._palette, id="help")

    def on_mount(self) -> None:
        pane = self.query_one(LinePane)
        pane.border_title, pane.border_subtitle = "help", "esc close"
        self.call_after_refresh(lambda: pane.show(help_lines(pane.size.width, self._keys), to_top=True))

    def action_scroll(self, by: int) -> None:
        pane = self.query_one(LinePane)
        pane.scroll_to(y=pane.scroll_offset.y + by, animate=False)


class Lines(ModalScreen[None]):
    """Lines of text, such as the results of an action on several agents."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter", "dismiss", show=False)]

    def __init__(self, title: str, lines: Sequence[str], palette: str) -> None:
        super().__init__()
        self._title = title
        self._texts = lines
        self._palette = palette

    def compose(self) -> ComposeResult:
        yield LinePane(lambda: self._palette, id="lines")

    def on_mount(self) -> None:
        pane = self.query_one(LinePane)
        pane.border_title, pane.border_subtitle = self._title, "esc close"
        self.call_after_refresh(self._show)

    def _show(self) -> None:
        pane = self.query_one(LinePane)
        width = max(pane.size.width - 1, 20)
        pane.show([each for text in self._texts for each in hanging(line(" "), clean_text(text), width)], to_top=True)


class PromptArea(TextArea):
    """A text of several lines. Enter sends it; ctrl+j, shift+enter and alt+enter start a new line."""

    async def _on_key(self, event: KeyEvent) -> None:
        if event.key == "enter":
            event.stop()
            event.prevent_default()
            screen = self.screen
            if isinstance(screen, Prompt):
                screen.dismiss(Typed(self.text, is_final=True))
        elif event.key in ("ctrl+s", "ctrl+p"):
            event.stop()
            event.prevent_default()
            screen = self.screen
            if isinstance(screen, Prompt) and event.key == "ctrl+s":
                screen.dismiss(Typed(self.text, is_final=True, when_idle=True))
            elif isinstance(screen, Prompt):
                screen.insert_saved()
        elif event.key in ("ctrl+j", "shift+enter", "alt+enter"):
            event.stop()
            event.prevent_default()
            self.insert("\n")
        else:
            await super()._on_key(event)


class Typed(NamedTuple):
    """A text that was typed, whether it is to be sent, and whether only when the agent is idle."""

    text: str
    is_final: bool
    when_idle: bool = False


class Prompt(ModalScreen[Typed | None]):
    """Asks for a prompt to send to an agent. Esc leaves it as a draft."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False)]

    def __init__(
        self,
        name: str,
        palette: str,
        saved: Callable[[], Sequence[str]],
        text: str = "",
        problem: str = "",
    ) -> None:
        super().__init__()
        self._agent_name = name
        self._read_saved = saved
        self._palette = palette
        self._text = text
        self._problem = problem

    def compose(self) -> ComposeResult:
        with Container(id="prompt") as box:
            title = self._problem or f"prompt to {self._agent_name}"
            box.border_title = Text(cut(one_line(title), max(self.app.size.width - 6, 20)))  # Text: no markup
            box.border_subtitle = "enter send · ctrl+s when idle · ctrl+p saved prompt · ctrl+j new line · esc close"
            yield PromptArea(self._text, compact=True, highlight_cursor_line=False)

    def on_mount(self) -> None:
        area = self.query_one(PromptArea)
        area.move_cursor(area.document.end)
        area.focus()

    def insert_saved(self) -> None:
        """Insert the next saved prompt. One that was inserted before, and not changed, is replaced."""
        area, saved = self.query_one(PromptArea), list(self._read_saved())
        if not saved:
            self.query_one("#prompt", Container).border_subtitle = "no saved prompts · headspace prompt save NAME TEXT"
        elif area.text in saved or not area.text.strip():
            at = saved.index(area.text) + 1 if area.text in saved else 0
            area.text = saved[at % len(saved)]
            area.move_cursor(area.document.end)
        else:
            area.move_cursor(area.document.end)
            area.insert(f"\n{saved[0]}")

    def action_leave(self) -> None:
        self.dismiss(Typed(self.query_one(PromptArea).text, is_final=False))
