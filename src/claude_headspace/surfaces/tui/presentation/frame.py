"""What stands around the list: the head with the numbers, the foot with the keys, and what an empty board says."""

from collections.abc import Sequence

from rich.cells import cell_len

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, line
from claude_headspace.surfaces.cli.presentation.board import tally
from claude_headspace.surfaces.text.formatting import Json, cut
from claude_headspace.surfaces.text.labels import SHAPES
from claude_headspace.surfaces.tui.keys import HINTS

Text = str


def head(agents: Sequence[Json], *, connected: bool, loaded: bool, width: int) -> Line:
    """The name, how many are in which state, and whether that is live."""
    name = Span(" headspace  ", "strong")
    numbers = tally(agents) if agents else (Span("no agents" if loaded else "", "dim"),)
    live = Span("live " if connected else "reconnecting ", "dim" if connected else "warm")
    if not loaded and not connected:
        live = Span("waiting for the daemon ", "warm")
    used = cell_len(name.text) + sum(cell_len(part.text) for part in numbers) + cell_len(live.text)
    if used > width:
        numbers = _short(agents)
        used = cell_len(name.text) + sum(cell_len(part.text) for part in numbers) + cell_len(live.text)
    space = Span(" " * max(width - used, 1))
    return (name, *numbers, space, live)


def _short(agents: Sequence[Json]) -> Line:
    """The numbers without their words."""
    spans: list[Span] = []
    for state, mark in SHAPES.items():
        number = sum(1 for agent in agents if agent["state"] == state)
        if number:
            spans += [Span(f"{mark} {number}", state if state in ("waiting", "error") else "dim"), Span("  ")]
    return tuple(spans)


def foot(width: int, *, filtering: str, hidden: int, message: Line | None) -> Line:
    """A message while there is one; else what narrows the list, and the keys."""
    if message is not None:
        return (Span(" "), *message)
    start: list[Span] = [Span(" ")]
    if filtering:
        start += [Span(f"filter: {filtering}", "warm"), Span("  esc clears   ", "dim")]
    if hidden:
        start += [Span(f"{hidden} ended hidden   ", "dim")]
    room = width - sum(cell_len(part.text) for part in start)
    return (*start, *_hints(room))


def _hints(room: int) -> Line:
    """As many keys as there is room for, the most wanted first; help is always among them."""
    shown: list[Span] = []
    for key, word in HINTS:
        last = key == HINTS[-1][0]
        needed = cell_len(key) + cell_len(word) + 4
        reserve = 0 if last else cell_len(HINTS[-1][0]) + cell_len(HINTS[-1][1]) + 4
        if needed + reserve <= room:
            shown += [Span(key, "key"), Span(f" {word}   ", "dim")]
            room -= needed
    return tuple(shown)


def empty(*, loaded: bool, connected: bool, filtered: bool, width: int) -> list[Line]:
    """What a list without agents says, and what to do."""
    if filtered:
        return [EMPTY_LINE, line("  No agent matches."), dim("  esc clears the filter, e shows those that ended.")]
    if not loaded and not connected:
        texts = ("Headspace is not running.", "headspace up   starts it; the board fills by itself.")
    elif not loaded:
        texts = ("Reading the board…", "")
    else:
        texts = ("No agents yet.", "Sessions of Claude Code appear as soon as they report; headspace run starts one.")
    return [EMPTY_LINE, line(f"  {cut(texts[0], width - 2)}"), dim(f"  {cut(texts[1], width - 2)}")]
