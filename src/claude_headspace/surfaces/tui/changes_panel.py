"""The panel with what an agent changed, over the board."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from claude_headspace.surfaces.cli.presentation.changes import change_lines
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.tui.widgets import LinePane


class ChangesPanel(ModalScreen[None]):
    """Commits and diffs, to scroll through."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,c", "dismiss", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("pagedown,space,right_square_bracket,J", "page(1)", show=False),
        Binding("pageup,left_square_bracket,K", "page(-1)", show=False),
        Binding("home,g", "edge(-1)", show=False),
        Binding("end,G", "edge(1)", show=False),
    ]

    def __init__(self, name: str, changes: Json, palette: str) -> None:
        super().__init__()
        self._agent_name = name
        self._lines = change_lines(changes)
        self._palette = palette

    def compose(self) -> ComposeResult:
        yield LinePane(lambda: self._palette, id="changes")

    def on_mount(self) -> None:
        pane = self.query_one(LinePane)
        pane.border_title, pane.border_subtitle = f"changes of {self._agent_name}", "↑ ↓ scroll · esc close"
        self.call_after_refresh(lambda: pane.show(self._lines, to_top=True))

    def action_scroll(self, by: int) -> None:
        pane = self.query_one(LinePane)
        pane.scroll_to(y=pane.scroll_offset.y + by, animate=False)

    def action_page(self, by: int) -> None:
        self.action_scroll(by * max(self.query_one(LinePane).size.height - 2, 1))

    def action_edge(self, by: int) -> None:
        self.action_scroll(by * len(self._lines))
