"""The panel with the pending prompts of all agents, over the board. Prompts can be cancelled in it.

Rules
- The cursor stays on its prompt when the list changes. If that prompt has left the queue, nothing is selected, so that
  a key never cancels another prompt than the one on the screen.
"""

from collections.abc import Callable
from datetime import datetime
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from claude_headspace.surfaces.cli.output import Line, Span, dim, line
from claude_headspace.surfaces.cli.presentation.prompts import pending_text
from claude_headspace.surfaces.text.formatting import Json, cut
from claude_headspace.surfaces.tui.widgets import SELECTION_BAR, LinePane


class Pending(NamedTuple):
    """A pending prompt and its agent."""

    agent: Json
    prompt: Json


class QueuePanel(ModalScreen[None]):
    """Pending prompts, oldest first for each agent."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,Q", "dismiss", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("up,k", "move(-1)", show=False),
        Binding("x,delete", "cancel", show=False),
    ]

    def __init__(
        self,
        pending: Callable[[], list[Pending]],
        cancel: Callable[[Pending], None],
        clock: Callable[[], datetime],
        palette: str,
    ) -> None:
        super().__init__()
        self._pending = pending
        self._cancel = cancel
        self._clock = clock
        self._palette = palette
        self._selected_id = ""

    def compose(self) -> ComposeResult:
        yield LinePane(lambda: self._palette, id="queue")

    def on_mount(self) -> None:
        pane = self.query_one(LinePane)
        pane.border_title, pane.border_subtitle = "pending prompts", "↑ ↓ select · x cancel · esc close"
        self._selected_id = next((each.prompt["id"] for each in self._pending()), "")
        self.call_after_refresh(self.show)

    def on_resize(self) -> None:
        self.call_after_refresh(self.show)

    def show(self) -> None:
        """Draw the current queue."""
        pane, found = self.query_one(LinePane), self._pending()
        lines = [self._line(each, max(pane.size.width - 2, 20)) for each in found]
        pane.show(lines or [dim(" No prompt is pending.")], to_top=False)

    def _line(self, each: Pending, width: int) -> Line:
        is_selected = each.prompt["id"] == self._selected_id
        name = f"{each.agent['name']}  "
        text = cut(pending_text(each.prompt, self._clock()), max(width - len(name) - 1, 10))
        start = Span(SELECTION_BAR if is_selected else " ", "strong")
        return line(start, Span(name, each.agent["state"]), Span(text, "strong" if is_selected else ""))

    def action_move(self, by: int) -> None:
        """Move the cursor. Without one, it starts at the first prompt."""
        ids = [each.prompt["id"] for each in self._pending()]
        if ids:
            at = ids.index(self._selected_id) + by if self._selected_id in ids else 0
            self._selected_id = ids[min(max(at, 0), len(ids) - 1)]
            self.show()

    def action_cancel(self) -> None:
        """Cancel the prompt at the cursor."""
        found = next((each for each in self._pending() if each.prompt["id"] == self._selected_id), None)
        if found is not None:
            self._cancel(found)
