"""The widgets: a list of agents, a pane of lines, and single lines. They show lines that others made, and keep a place.

All of them draw line by line (Textual's line API): what is not on the screen is not made, so three hundred agents cost
as much as thirty.
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
from claude_headspace.surfaces.tui import styles as look
from claude_headspace.surfaces.tui.presentation.rows import Columns, agent_row, columns, heading, ticks

Clock = Callable[[], datetime]
BAR = "▌"


class OneLine(Widget):
    """A single line: the head or the foot."""

    def __init__(self, make: Callable[[int], Line], palette: Callable[[], str], *, id: str) -> None:
        super().__init__(id=id)
        self._make = make
        self._palette = palette

    def render_line(self, y: int) -> Strip:
        """The line itself."""
        shown = self._make(self.size.width) if y == 0 else EMPTY_LINE
        return look.strip(shown, self._palette(), self.size.width)


class Lines(ScrollView, can_focus=False):
    """A pane of lines that can be scrolled."""

    def __init__(self, palette: Callable[[], str], *, id: str) -> None:
        super().__init__(id=id)
        self._palette = palette
        self._lines: list[Line] = []

    def show(self, lines: list[Line], *, from_the_top: bool) -> None:
        """Other lines; the place is kept unless they are of something else."""
        if lines != self._lines:
            self._lines = lines
            self.virtual_size = Size(self.size.width, len(lines))
            self.refresh()
        if from_the_top:
            self.scroll_to(y=0, animate=False)

    def render_line(self, y: int) -> Strip:
        """The line at a place on the screen."""
        number = y + self.scroll_offset.y
        shown = self._lines[number] if number < len(self._lines) else EMPTY_LINE
        return look.strip(shown, self._palette(), self.size.width)


class AgentList(ScrollView, can_focus=True, inherit_bindings=False):
    """The agents, one of them selected. The selection belongs to an agent, not to a place."""

    class Selected(Message):
        """Another agent is selected, or was clicked on twice."""

        def __init__(self, *, again: bool = False) -> None:
            super().__init__()
            self.again = again

    def __init__(self, palette: Callable[[], str], clock: Clock) -> None:
        super().__init__(id="agents")
        self._palette = palette
        self._clock = clock
        self._columns = Columns({})
        self._instead: list[Line] = []
        self.agents: list[Json] = []
        self.selected_id: str | None = None

    # --- what is shown ---

    def show(self, agents: list[Json], instead: list[Line]) -> None:
        """Other agents, or what to say instead when there are none."""
        index = self.index
        self.agents, self._instead = agents, instead
        if self.selected_id not in {agent["id"] for agent in agents}:
            at = min(index, len(agents) - 1) if agents else None
            self.selected_id = agents[max(at, 0)]["id"] if at is not None else None
        self.lay_out()

    def lay_out(self) -> None:
        """Find the columns for the size there is, and draw anew."""
        self._columns = columns(self.agents, self.size.width - 1)
        self.virtual_size = Size(self.size.width, max(len(self.agents), len(self._instead)) + 1)
        self.refresh()
        self._keep_visible()

    def on_resize(self) -> None:
        """There is more or less room."""
        self.lay_out()

    @property
    def visible_agents(self) -> Sequence[Json]:
        """Those on the screen."""
        return self.agents[self.scroll_offset.y : self.scroll_offset.y + self.size.height]

    def next_tick(self) -> float:
        """When the times on the screen must be said anew, in seconds."""
        return ticks(self.visible_agents, self._clock())

    def render_line(self, y: int) -> Strip:
        """The heading stays; below it the agents."""
        width, palette = self.size.width, self._palette()
        if y == 0:
            return look.strip(heading(self._columns) if self.agents else EMPTY_LINE, palette, width, start=" ")
        number = y - 1 + self.scroll_offset.y
        if number >= len(self.agents):
            line = self._instead[number] if number < len(self._instead) and not self.agents else EMPTY_LINE
            return look.strip(line, palette, width)
        agent = self.agents[number]
        chosen = agent["id"] == self.selected_id
        line = agent_row(agent, number + 1, self._columns, self._clock())
        return look.strip(line, palette, width, selected=chosen, start=BAR if chosen else " ")

    # --- where one is ---

    @property
    def index(self) -> int:
        """The place of the selected agent; 0 if there is none."""
        return next((at for at, agent in enumerate(self.agents) if agent["id"] == self.selected_id), 0)

    @property
    def selected(self) -> Json | None:
        """The selected agent."""
        return self.agents[self.index] if self.agents else None

    def select(self, index: int) -> None:
        """Select by place, as near as there is one."""
        if not self.agents:
            return
        chosen = self.agents[min(max(index, 0), len(self.agents) - 1)]["id"]
        if chosen != self.selected_id:
            self._refresh_row(self.index)
            self.selected_id = chosen
            self._refresh_row(self.index)
            self._keep_visible()
            self.post_message(self.Selected())

    def _refresh_row(self, at: int) -> None:
        """Draw one agent anew; the others stay as they are."""
        y = at + 1 - self.scroll_offset.y
        if 0 < y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    def _keep_visible(self) -> None:
        height = max(self.size.height - 1, 1)
        top, at = self.scroll_offset.y, self.index
        if at < top or at >= top + height:
            self.scroll_to(y=at if at < top else at - height + 1, animate=False, force=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The heading must be drawn again when the rest moves."""
        super().watch_scroll_y(old_value, new_value)
        self.refresh(Region(0, 0, self.size.width, self.size.height))

    # --- the mouse ---

    def on_click(self, event: Click) -> None:
        """Select what is clicked on; a second click jumps."""
        if event.y >= 1:
            self.select(event.y - 1 + self.scroll_offset.y)
            if event.chain > 1:
                self.post_message(self.Selected(again=True))

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """The wheel moves the selection, so that it is never lost."""
        event.stop()
        self.select(self.index + 3)

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """The same the other way."""
        event.stop()
        self.select(self.index - 3)
