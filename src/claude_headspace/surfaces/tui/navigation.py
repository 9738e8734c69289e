"""The keys that move the selection and scroll the details."""

from textual.app import App

from claude_headspace.surfaces.tui.widgets import AgentList, LinePane


class Navigation(App[None]):
    """An app with a list of agents and a pane of details."""

    @property
    def agents(self) -> AgentList:
        return self.query_one(AgentList)

    def action_move(self, by: int) -> None:
        """Select the previous or next agent."""
        self.agents.select(self.agents.index + by)

    def action_page(self, by: int) -> None:
        """Move the selection by a page."""
        self.agents.select(self.agents.index + by * max(self.agents.size.height - 2, 1))

    def action_edge(self, side: int) -> None:
        """Select the first or last agent."""
        self.agents.select(len(self.agents.rows) if side > 0 else 0)

    def action_scroll(self, by: int) -> None:
        """Scroll the details by a page."""
        pane = self.query_one("#details", LinePane)
        pane.scroll_to(y=pane.scroll_offset.y + by * max(pane.size.height - 2, 1), animate=False)
