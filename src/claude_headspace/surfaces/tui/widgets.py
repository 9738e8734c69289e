"""The widgets: the list of agents, a pane of lines, and single lines. They draw lines and keep the scroll position.

All of them use Textual's line API: only visible lines are rendered, so 300 agents cost as much as 30.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from textual.events import Click, MouseScrollDown, MouseScrollUp
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.tui import styles
from claude_headspace.surfaces.tui.presentation.rows import (
    Columns,
    agent_row,
    choose_columns,
    heading_row,
    refresh_seconds,
)

Clock = Callable[[], datetime]
SELECTION_BAR = "▌"


class SingleLine(Widget):
    """A single line: the header or the footer."""

    def __init__(self, build_line: Callable[[int], Line], palette: Callable[[], str], *, id: str) -> None:
        super().__init__(id=id)
        self._build_line = build_line
        self._palette = palette

    def render_line(self, y: int) -> Strip:
        shown = self._build_line(self.size.width) if y == 0 else EMPTY_LINE
        return styles.strip(shown, self._palette(), self.size.width)


class LinePane(ScrollView, can_focus=False):
    """A scrollable pane of lines."""

    def __init__(self, palette: Callable[[], str], *, id: str) -> None:
        super().__init__(id=id)
        self._palette = palette
        self._lines: list[Line] = []

    def show_end(self, lines: list[Line], *, always: bool) -> None:
        """Replace the lines, and show their end if it was on the screen before, or `always`."""
        follows = always or self.is_at_end
        self.show(lines, to_top=False)
        if follows:
            self.scroll_to(y=len(lines), animate=False, force=True)

    def show(self, lines: list[Line], *, to_top: bool) -> None:
        """Replace the lines. The scroll position stays unless `to_top`."""
        if lines != self._lines:
            self._lines = lines
            self.virtual_size = Size(self.size.width, len(lines))
            self.refresh()
        if to_top:
            self.scroll_to(y=0, animate=False)

    @property
    def is_at_end(self) -> bool:
        """Whether the last line is on the screen."""
        return self.scroll_offset.y + self.size.height >= len(self._lines)

    def render_line(self, y: int) -> Strip:
        number = y + self.scroll_offset.y
        shown = self._lines[number] if number < len(self._lines) else EMPTY_LINE
        return styles.strip(shown, self._palette(), self.size.width)


class AgentList(ScrollView, can_focus=True, inherit_bindings=False):
    """The list of agents. The selection follows the agent when the order changes."""

    class Selected(Message):
        """Another agent was selected, or an agent was double-clicked."""

        def __init__(self, *, is_double_click: bool = False) -> None:
            super().__init__()
            self.is_double_click = is_double_click

    def __init__(self, palette: Callable[[], str], clock: Clock) -> None:
        super().__init__(id="agents")
        self._palette = palette
        self._clock = clock
        self._columns = Columns({})
        self._placeholder: list[Line] = []
        self.agents: list[Json] = []
        self.selected_id: str | None = None

    # --- content ---

    def show(self, agents: list[Json], placeholder: list[Line]) -> None:
        """Replace the agents. The placeholder is shown if there are none."""
        index = self.index
        self.agents, self._placeholder = agents, placeholder
        if self.selected_id not in {agent["id"] for agent in agents}:
            at = min(index, len(agents) - 1) if agents else None
            self.selected_id = agents[max(at, 0)]["id"] if at is not None else None
        self.update_layout()

    def update_layout(self) -> None:
        """Choose the columns for the current size, and redraw."""
        self._columns = choose_columns(self.agents, self.size.width - 1)
        self.virtual_size = Size(self.size.width, max(len(self.agents), len(self._placeholder)) + 1)
        self.refresh()
        self._scroll_to_selected()

    def on_resize(self) -> None:
        self.update_layout()

    @property
    def visible_agents(self) -> Sequence[Json]:
        """The agents on the screen."""
        return self.agents[self.scroll_offset.y : self.scroll_offset.y + self.size.height]

    def refresh_seconds(self) -> float:
        """After how many seconds the times on the screen must be redrawn."""
        return refresh_seconds(self.visible_agents, self._clock())

    def render_line(self, y: int) -> Strip:
        """The heading is fixed; the agents scroll below it."""
        width, palette = self.size.width, self._palette()
        if y == 0:
            return styles.strip(heading_row(self._columns) if self.agents else EMPTY_LINE, palette, width, start=" ")
        number = y - 1 + self.scroll_offset.y
        if number >= len(self.agents):
            line = self._placeholder[number] if number < len(self._placeholder) and not self.agents else EMPTY_LINE
            return styles.strip(line, palette, width)
        agent = self.agents[number]
        is_selected = agent["id"] == self.selected_id
        line = agent_row(agent, number + 1, self._columns, self._clock())
        return styles.strip(line, palette, width, selected=is_selected, start=SELECTION_BAR if is_selected else " ")

    # --- selection ---

    @property
    def index(self) -> int:
        """The index of the selected agent; 0 if there is none."""
        return next((at for at, agent in enumerate(self.agents) if agent["id"] == self.selected_id), 0)

    @property
    def selected(self) -> Json | None:
        return self.agents[self.index] if self.agents else None

    def select(self, index: int) -> None:
        """Select by index, clamped to the list."""
        if not self.agents:
            return
        agent_id = self.agents[min(max(index, 0), len(self.agents) - 1)]["id"]
        if agent_id != self.selected_id:
            self._refresh_row(self.index)
            self.selected_id = agent_id
            self._refresh_row(self.index)
            self._scroll_to_selected()
            self.post_message(self.Selected())

    def _refresh_row(self, at: int) -> None:
        """Redraw only one row."""
        y = at + 1 - self.scroll_offset.y
        if 0 < y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    def _scroll_to_selected(self) -> None:
        height = max(self.size.height - 1, 1)
        top, at = self.scroll_offset.y, self.index
        if at < top or at >= top + height:
            self.scroll_to(y=at if at < top else at - height + 1, animate=False, force=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Redraw everything: the heading does not scroll."""
        super().watch_scroll_y(old_value, new_value)
        self.refresh(Region(0, 0, self.size.width, self.size.height))

    # --- mouse ---

    def on_click(self, event: Click) -> None:
        """Select on click. A double click jumps, if both clicks were on the same agent."""
        place = event.get_content_offset(self)  # without the border
        index = place.y - 1 + self.scroll_offset.y if place is not None and place.y >= 1 else len(self.agents)
        if index >= len(self.agents):
            return
        is_again = self.agents[index]["id"] == self.selected_id
        self.select(index)
        if event.chain > 1 and is_again:
            self.post_message(self.Selected(is_double_click=True))

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """The wheel moves the selection, so that it stays visible."""
        event.stop()
        self.select(self.index + 3)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.select(self.index - 3)
