"""The board as a table: does it need me, who is it, where, what is it doing, since when, how full, what did it cost.

On a narrow terminal the least important columns go first, so that what an agent does stays readable.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from rich.cells import cell_len

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, line, row
from claude_headspace.surfaces.text.labels import (
    SHAPES,
    Json,
    activity,
    badges,
    duration,
    parse_timestamp,
    shape,
    summary_has_time,
)

LEAST_DOING = 22
LEAST_PLACE = {"where": 12, "project": 6}
MOST_DOING = 100
MOST_NAME = 28
GAP = 2

_HEADINGS = {
    "name": "  agent",
    "where": "project",
    "project": "project",
    "doing": "what it does",
    "since": "since",
    "context": "context",
    "cost": "cost",
}
_SACRIFICES = (
    {"project"},
    {"project", "cost"},
    {"project", "cost", "context"},
    {"where", "cost", "context"},
    {"where", "project", "cost", "context"},
    {"where", "project", "cost", "context", "since"},
)
"""What is left out, from the widest terminal to the narrowest: the project stands with its branch, then alone."""

_TO_THE_RIGHT = frozenset({"since", "context", "cost"})


def board(agents: Sequence[Json], now: datetime, width: int) -> list[Line]:
    """The table, in the order of the API."""
    several_hosts = len({agent["host"] for agent in agents}) > 1
    rows = [_cells(agent, now, several_hosts) for agent in agents]
    widths = _widths(rows, width)
    to_right = [name in _TO_THE_RIGHT for name in widths]
    headings = [Span(_HEADINGS[name], "quiet") for name in widths]
    table = [[cells[name] for name in widths] for cells in rows]
    return [row(cells, widths.values(), to_right) for cells in (headings, *table)]


def _cells(agent: Json, now: datetime, with_host: bool) -> dict[str, Span]:
    state = agent["state"]
    role = "ended" if state == "ended" else ""
    context, cost = agent["context_percent"], agent["cost_usd"]
    words = " · ".join([activity(agent, now), *badges(agent)])
    return {
        "name": Span(f"{shape(state)} {agent['name']}", state),
        "where": Span(where(agent) + (f" on {agent['host']}" if with_host else ""), role),
        "project": Span(agent["project"]["name"], role),
        "doing": Span(words, {"waiting": "strong", "error": "error"}.get(state, role)),
        "since": Span("" if summary_has_time(agent) else duration(age(agent["state_since"], now)), "quiet"),
        "context": Span("" if context is None else f"{context:.0f} %", "quiet"),
        "cost": Span("" if cost is None else f"${cost:,.2f}", "quiet"),
    }


def where(agent: Json) -> str:
    """The project, and the branch in it."""
    name, branch = agent["project"]["name"], agent["branch"]
    return f"{name} ({branch})" if branch else str(name)


def age(time: str, now: datetime) -> float:
    """How many seconds ago."""
    return (now - parse_timestamp(time)).total_seconds()


def _widths(rows: Sequence[dict[str, Span]], width: int) -> dict[str, int]:
    """How wide each column is; those without any content, and those that there is no room for, are missing."""
    natural = {name: max(cell_len(cells[name].text) for cells in rows) for name in _HEADINGS}
    used = {name: max(wide, cell_len(_HEADINGS[name])) for name, wide in natural.items() if wide}
    used["name"], used["doing"] = min(used["name"], MOST_NAME), min(used["doing"], MOST_DOING)
    for sacrifice in _SACRIFICES:
        widths = {name: wide for name, wide in used.items() if name not in sacrifice}
        if _fits(widths, width):
            break
    return widths


def _fits(widths: dict[str, int], width: int) -> bool:
    """Share what the fixed columns leave between what is done and where; tells whether that is enough."""
    place = next((name for name in ("where", "project") if name in widths), None)
    fixed = sum(wide + GAP for name, wide in widths.items() if name not in (place, "doing"))
    room = max(width - fixed, 1)
    enough = True
    if place is not None:
        room = max(room - GAP, 2)
        shared = max(room - widths["doing"], room // 4)
        enough = shared >= min(widths[place], LEAST_PLACE[place])
        widths[place] = min(widths[place], shared)
        room -= widths[place]
    enough = enough and room >= min(widths["doing"], LEAST_DOING)
    widths["doing"] = min(widths["doing"], room)
    return enough


def tally(agents: Sequence[Json]) -> Line:
    """How many are in which state: "1 waiting · 2 working"."""
    numbers = Counter(agent["state"] for agent in agents)
    spans: list[Span] = []
    for state in (state for state in SHAPES if numbers[state]):
        spans += [Span(" · ", "quiet")] if spans else []
        role = state if state in ("waiting", "error") else "quiet"
        spans.append(Span(f"{shape(state)} {numbers[state]} {state}", role))
    return tuple(spans)


def after_board(agents: Sequence[Json]) -> list[Line]:
    """What to type next."""
    needy = next((agent for agent in agents if agent["state"] in ("waiting", "error")), agents[0])
    return [EMPTY_LINE, tally(agents), dim(f"headspace show {needy['name']}   headspace why {needy['name']}")]


def empty_board(*, filtered: bool) -> list[Line]:
    """What an empty table says."""
    if filtered:
        return [line("No agent matches."), dim("headspace list --all also shows those that ended long ago.")]
    return [
        line("No agents yet: sessions of Claude Code appear here as soon as they report."),
        dim("headspace status tells whether events arrive."),
    ]
