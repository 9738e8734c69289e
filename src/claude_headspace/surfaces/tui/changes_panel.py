"""The panel with what an agent changed, over the board."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from claude_headspace.surfaces.cli.output import Line
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
        self._changes = changes
        self._lines: list[Line] = []
        self._palette = palette

    def compose(self) -> ComposeResult:
        yield LinePane(lambda: self._palette, id="changes")

    def on_mount(self) -> None:
        pane = self.query_one(LinePane)
        pane.border_title, pane.border_subtitle = f"changes of {self._agent_name}", "↑ ↓ scroll · esc close"
        self.call_after_refresh(self._show, to_top=True)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show, to_top=False)

    def _show(self, *, to_top: bool) -> None:
        pane = self.query_one(LinePane)
        self._lines = change_lines(self._changes, max(pane.size.width - 1, 20))
        pane.show(self._lines, to_top=to_top)

    def action_scroll(self, by: int) -> None:
        pane = self.query_one(LinePane)
        pane.scroll_to(y=pane.scroll_offset.y + by, animate=False)

    def action_page(self, by: int) -> None:
        self.action_scroll(by * max(self.query_one(LinePane).size.height - 2, 1))

    def action_edge(self, by: int) -> None:
        self.action_scroll(by * len(self._lines))
