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
    GroupRow,
    agent_row,
    choose_columns,
    group_row,
    heading_row,
    refresh_seconds,
)
from claude_headspace.surfaces.tui.row_numbers import RowNumbers

Clock = Callable[[], datetime]
Row = Json | GroupRow
"""A row of the list: an agent, or the heading of a group."""
SELECTION_BAR = "▌"


def row_id(row: Row) -> str:
    """What identifies a row."""
    return row.id if isinstance(row, GroupRow) else str(row["id"])


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
        self.rows: list[Row] = []
        self.agents: list[Json] = []
        self.selected_id: str | None = None
        self.numbers = RowNumbers()
        self.pins: frozenset[str] = frozenset()
        self.marks: frozenset[str] = frozenset()

    # --- content ---

    def show(self, rows: list[Row], placeholder: list[Line]) -> None:
        """Replace the rows: agents, and headings of groups. The placeholder is shown if there are none."""
        index = self.index
        self.rows, self._placeholder = rows, placeholder
        self.agents = [row for row in rows if not isinstance(row, GroupRow)]
        self.numbers.assign(agent["id"] for agent in self.agents)
        if self.selected_id not in {row_id(row) for row in rows}:
            at = min(index, len(rows) - 1) if rows else None
            self.selected_id = self._agent_near(max(at, 0)) if at is not None else None
        self.update_layout()

    def _agent_near(self, index: int) -> str:
        """The row at an index; for the heading of an open group its first agent."""
        row = self.rows[index]
        return row_id(self.rows[index + 1] if isinstance(row, GroupRow) and not row.is_folded else row)

    def update_layout(self) -> None:
        """Choose the columns for the current size, and redraw."""
        self._columns = choose_columns(self.agents, self.size.width - 1)
        self.virtual_size = Size(self.size.width, max(len(self.rows), len(self._placeholder)) + 1)
        self.refresh()
        self._scroll_to_selected()

    def on_resize(self) -> None:
        self.update_layout()

    @property
    def visible_agents(self) -> Sequence[Json]:
        """The agents on the screen."""
        rows = self.rows[self.scroll_offset.y : self.scroll_offset.y + self.size.height]
        return [row for row in rows if not isinstance(row, GroupRow)]

    def refresh_seconds(self) -> float:
        """After how many seconds the times on the screen must be redrawn."""
        return refresh_seconds(self.visible_agents, self._clock())

    def render_line(self, y: int) -> Strip:
        """The heading is fixed; the agents scroll below it."""
        width, palette = self.size.width, self._palette()
        if y == 0:
            return styles.strip(heading_row(self._columns) if self.rows else EMPTY_LINE, palette, width, start=" ")
        number = y - 1 + self.scroll_offset.y
        if number >= len(self.rows):
            line = self._placeholder[number] if number < len(self._placeholder) and not self.rows else EMPTY_LINE
            return styles.strip(line, palette, width)
        row = self.rows[number]
        is_selected = row_id(row) == self.selected_id
        line = group_row(row) if isinstance(row, GroupRow) else self._agent_line(row)
        return styles.strip(line, palette, width, selected=is_selected, start=SELECTION_BAR if is_selected else " ")

    def _agent_line(self, agent: Json) -> Line:
        number, is_pinned = self.numbers.of(agent["id"]), agent["id"] in self.pins
        is_marked = agent["id"] in self.marks
        return agent_row(agent, number, self._columns, self._clock(), is_pinned=is_pinned, is_marked=is_marked)

    # --- selection ---

    @property
    def index(self) -> int:
        """The index of the selected row; 0 if there is none."""
        return next((at for at, row in enumerate(self.rows) if row_id(row) == self.selected_id), 0)

    @property
    def selected_row(self) -> Row | None:
        return self.rows[self.index] if self.rows else None

    @property
    def selected(self) -> Json | None:
        """The selected agent; None if the heading of a group is selected."""
        row = self.selected_row
        return None if isinstance(row, GroupRow) else row

    def select_agent(self, agent_id: str) -> bool:
        """Select an agent; False if it is not in the list."""
        index = next((at for at, row in enumerate(self.rows) if row_id(row) == agent_id), None)
        if index is not None:
            self.select(index)
        return index is not None

    def select(self, index: int) -> None:
        """Select by index, clamped to the list."""
        if not self.rows:
            return
        selected_id = row_id(self.rows[min(max(index, 0), len(self.rows) - 1)])
        if selected_id != self.selected_id:
            self._refresh_row(self.index)
            self.selected_id = selected_id
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
        index = place.y - 1 + self.scroll_offset.y if place is not None and place.y >= 1 else len(self.rows)
        if index >= len(self.rows):
            return
        is_again = row_id(self.rows[index]) == self.selected_id
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
