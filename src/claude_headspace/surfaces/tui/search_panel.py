"""The panel that searches prompts, replies and tool calls of all agents, also of those that ended long ago.

The search starts when the user stops typing. A result can be chosen only while it belongs to the text in the input.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim
from claude_headspace.surfaces.cli.presentation.search_results import no_results, result_lines
from claude_headspace.surfaces.text.formatting import Json, clean_json
from claude_headspace.surfaces.tui.widgets import SELECTION_BAR, LinePane

KEYS_TEXT = "↑ ↓ select · enter jump, or resume an ended agent · ctrl+o show on the board · esc close"
TYPING_SECONDS = 0.15
"""How long after the last key the search starts."""


class Found(NamedTuple):
    """The agent of the chosen result, and whether to go there or only to select it."""

    agent_id: str
    goes_there: bool


Search = Callable[[str, Callable[[str, Json], None]], None]
"""Searches for a text in a thread, and passes the text and the result on."""


class SearchPanel(ModalScreen[Found | None]):
    """An input, and the results below it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss", show=False, priority=True),
        Binding("down,ctrl+n", "move(1)", show=False, priority=True),
        Binding("up,ctrl+p", "move(-1)", show=False, priority=True),
        Binding("enter", "choose(True)", show=False, priority=True),
        Binding("ctrl+o", "choose(False)", show=False, priority=True),
    ]

    def __init__(self, search: Search, palette: str, clock: Callable[[], datetime]) -> None:
        super().__init__()
        self._search = search
        self._palette = palette
        self._clock = clock
        self._hits: Sequence[Json] = ()
        self._hint = ""
        self._searched = ""
        """The text that the results belong to."""
        self._index = 0
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        with Container(id="search") as box:
            box.border_title = "search all agents"
            box.border_subtitle = KEYS_TEXT
            yield Input(placeholder="words in prompts, replies, tool inputs and results", compact=True, id="query")
            yield LinePane(lambda: self._palette, id="hits")

    def on_mount(self) -> None:
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(TYPING_SECONDS, self._start)

    def _start(self) -> None:
        text = self._text
        if text:
            self._search(text, self._take)
        else:
            self._take(text, {"hits": [], "hint": None})

    @property
    def _text(self) -> str:
        return self.query_one(Input).value.strip()

    def _take(self, text: str, result: Json) -> None:
        """Show results, unless the user has typed on."""
        if self.is_mounted and text == self._text:
            found = clean_json(dict(result))
            self._searched, self._hits, self._hint, self._index = text, found["hits"], found["hint"] or "", 0
            self._show()

    def _show(self) -> None:
        pane = self.query_one(LinePane)
        lines, tops = hit_lines(self._hits, self._index, self._clock(), max(pane.size.width - 4, 20))
        if not self._hits and self._searched:
            lines = no_results(self._searched, self._hint, filtered=False)
        pane.show(lines, to_top=False)
        if tops:
            pane.scroll_to(y=max(tops[self._index] - pane.size.height // 2, 0), animate=False, force=True)

    def action_move(self, by: int) -> None:
        """Select another result."""
        self._index = min(max(self._index + by, 0), max(len(self._hits) - 1, 0))
        self._show()

    def action_choose(self, goes_there: bool) -> None:
        """Close with the selected result."""
        if self._hits and self._searched == self._text:
            self.dismiss(Found(self._hits[self._index]["agent_id"], goes_there))


def hit_lines(hits: Sequence[Json], selected: int, now: datetime, width: int) -> tuple[list[Line], list[int]]:
    """The lines of all results with a bar before the selected one, and the first line of each."""
    lines: list[Line] = []
    tops: list[int] = []
    for number, hit in enumerate(hits):
        tops.append(len(lines))
        mark = Span(f"{SELECTION_BAR} ", "strong") if number == selected else Span("  ")
        lines += [(mark, *each) for each in result_lines([hit], now, width)]
        lines += [EMPTY_LINE]
    return lines or [dim("")], tops
