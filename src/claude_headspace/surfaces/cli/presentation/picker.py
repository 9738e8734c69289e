"""The picker: agents to choose from, filtered by what is typed. Pure: keys in, lines out."""

from collections.abc import Sequence
from datetime import datetime

from rich.cells import cell_len

from claude_headspace.surfaces.cli.output import Line, Span, dim, line
from claude_headspace.surfaces.cli.presentation.board import project_and_branch
from claude_headspace.surfaces.text.formatting import Json, cut
from claude_headspace.surfaces.text.labels import activity, shape
from claude_headspace.surfaces.text.matching import filter_agents

MAX_NAME_WIDTH, MAX_PLACE_WIDTH = 26, 24
MOVES = {"up": -1, "down": 1, "pageup": -8, "pagedown": 8}


class Picker:
    """The text that was typed, the agents that match it, and which of them is selected."""

    def __init__(self, agents: Sequence[Json]) -> None:
        self._agents = agents
        self._found = list(agents)
        self._text = ""
        self._index = 0

    @property
    def selected(self) -> Json | None:
        """The selected agent; None if no agent matches."""
        return self._found[self._index] if self._found else None

    def press(self, key: str) -> None:
        """Apply a key: a name, or a character to add to the text."""
        if key in MOVES:
            self._index = min(max(self._index + MOVES[key], 0), max(len(self._found) - 1, 0))
        elif key == "backspace":
            self._filter(self._text[:-1])
        elif key == "clear":
            self._filter("")
        elif len(key) == 1:
            self._filter(self._text + key)

    def _filter(self, text: str) -> None:
        self._text, self._index = text, 0
        self._found = filter_agents(text, self._agents)

    def lines(self, now: datetime, width: int, height: int) -> list[Line]:
        """The text, the agents around the selected one, and the keys."""
        rows = max(height - 2, 1)
        top = max(min(self._index - rows // 2, len(self._found) - rows), 0)
        shown = self._found[top : top + rows]
        head = line(Span("Agent: ", "strong"), self._text, Span("▏", "dim"), Span(f"  {self._count()}", "dim"))
        agents = [self._row(agent, now, width) for agent in shown] or [dim("  No agent matches.")]
        return [head, *agents, dim("  ↑ ↓ select · enter choose · esc cancel")]

    def _count(self) -> str:
        return f"{len(self._found)} of {len(self._agents)}"

    def _row(self, agent: Json, now: datetime, width: int) -> Line:
        is_selected = agent is self.selected
        name_width = min(max(cell_len(each["name"]) for each in self._agents), MAX_NAME_WIDTH)
        name = cut(agent["name"], name_width)
        place = cut(project_and_branch(agent), MAX_PLACE_WIDTH)
        used = 4 + name_width + 2 + MAX_PLACE_WIDTH + 2
        return line(
            Span("❯ " if is_selected else "  ", "strong"),
            Span(f"{shape(agent['state'])} {name}", "strong" if is_selected else agent["state"]),
            " " * (name_width - cell_len(name) + 2),
            Span(place + " " * (MAX_PLACE_WIDTH - cell_len(place) + 2), "dim"),
            cut(activity(agent, now), max(width - used - 1, 0)),
        )
