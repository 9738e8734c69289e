"""The keys that move the selection and scroll the details."""

from claude_headspace.surfaces.cli.output import Span
from claude_headspace.surfaces.tui.board_app import BoardApp
from claude_headspace.surfaces.tui.presentation.rows import needs_user
from claude_headspace.surfaces.tui.widgets import LinePane


class Navigation(BoardApp):
    """An app whose list of agents has a selection."""

    def action_move(self, by: int) -> None:
        """Select the previous or next agent."""
        self.agents.select(self.agents.index + by)

    def action_page(self, by: int) -> None:
        """Move the selection by a page."""
        self.agents.select(self.agents.index + by * max(self.agents.size.height - 2, 1))

    def action_edge(self, side: int) -> None:
        """Select the first or last agent."""
        self.agents.select(len(self.agents.rows) if side > 0 else 0)

    def action_next_attention(self) -> None:
        """Select the next agent that needs the user, starting over at the end."""
        rows = self.agents.rows
        order = [(self.agents.index + step) % len(rows) for step in range(1, len(rows) + 1)]
        index = next((index for index in order if needs_user(rows[index])), None)
        if index is None:
            self.show_message(Span("No agent needs you.", "dim"))
        else:
            self.agents.select(index)

    def action_scroll(self, by: int) -> None:
        """Scroll the details by a page."""
        pane = self.query_one("#details", LinePane)
        pane.scroll_to(y=pane.scroll_offset.y + by * max(pane.size.height - 2, 1), animate=False)
