"""The board as a table: agent, client, project, activity, time in state, context and cost.

The client is shown only if the agents use more than one. On a narrow terminal the least important columns are hidden
first, so that the activity stays readable.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from datetime import datetime

from rich.cells import cell_len

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, line, row
from claude_headspace.surfaces.text.board_order import AgentGroup
from claude_headspace.surfaces.text.clients import has_several_clients, short_title
from claude_headspace.surfaces.text.formatting import Json, duration, parse_timestamp
from claude_headspace.surfaces.text.labels import SHAPES, activity, badges, shape, summary_has_time, total_cost
from claude_headspace.surfaces.text.worktrees import distance_marks

MIN_ACTIVITY_WIDTH = 22
MIN_PROJECT_WIDTH = {"where": 12, "project": 6}
MAX_ACTIVITY_WIDTH = 100
MAX_NAME_WIDTH = 28
GAP = 2

_HEADINGS = {
    "name": "  agent",
    "client": "client",
    "where": "project",
    "project": "project",
    "doing": "activity",
    "since": "since",
    "context": "context",
    "cost": "cost",
}
_HIDDEN_COLUMNS = (
    {"project"},
    {"project", "cost"},
    {"project", "cost", "context"},
    {"where", "cost", "context"},
    {"where", "cost", "context", "client"},
    {"where", "project", "cost", "context", "client"},
    {"where", "project", "cost", "context", "client", "since"},
)
"""The hidden columns, from the widest terminal to the narrowest. `where` is the project with its branch."""

_RIGHT_ALIGNED = frozenset({"since", "context", "cost"})


def board_table(agents: Sequence[Json], now: datetime, width: int, pins: Collection[str] = ()) -> list[Line]:
    """The table, in the order of the agents."""
    several_hosts = len({agent["host"] for agent in agents}) > 1
    several_clients = has_several_clients(agents)
    rows = [
        {"name": Span(name_text(agent, is_pinned=agent["id"] in pins), agent["state"])}
        | _cells(agent, now, with_host=several_hosts, with_client=several_clients)
        for agent in agents
    ]
    widths = _widths(rows, width)
    to_right = [name in _RIGHT_ALIGNED for name in widths]
    headings = [Span(_HEADINGS[name], "dim") for name in widths]
    table = [[cells[name] for name in widths] for cells in rows]
    return [row(cells, widths.values(), to_right) for cells in (headings, *table)]


def grouped_table(groups: Sequence[AgentGroup], now: datetime, width: int, pins: Collection[str]) -> list[Line]:
    """The table with the title of each group before its agents. `*` marks pinned agents."""
    agents = [agent for group in groups for agent in group.agents]
    heading, *rows = board_table(agents, now, width, pins)
    lines, left = [heading], iter(rows)
    for group in groups:
        lines += [line(Span(group.title, "strong"))] if group.title else []
        lines += [next(left) for _ in group.agents]
    return lines


def _cells(agent: Json, now: datetime, *, with_host: bool, with_client: bool) -> dict[str, Span]:
    state = agent["state"]
    role = "ended" if state == "ended" else ""
    context = agent["context_percent"]
    words = " · ".join([activity(agent, now), *badges(agent)])
    return {
        "client": Span(short_title(agent["client"]) if with_client else "", "dim"),
        "where": Span(project_and_branch(agent) + (f" on {agent['host']}" if with_host else ""), role),
        "project": Span(agent["project"]["name"], role),
        "doing": Span(words, {"waiting": "strong", "error": "error"}.get(state, role)),
        "since": Span("" if summary_has_time(agent) else duration(age(agent["state_since"], now)), "dim"),
        "context": Span("" if context is None else f"{context:.0f} %", "dim"),
        "cost": Span(total_cost(agent), "dim"),
    }


def name_text(agent: Json, *, is_pinned: bool) -> str:
    """The symbol and the name of an agent; `*` between them if it is pinned."""
    return f"{shape(agent['state'])}{'*' if is_pinned else ' '}{agent['name']}"


def project_and_branch(agent: Json) -> str:
    """The project, the branch, and its distance to the base in a worktree: "shop (login-fix ↑2 ↓1 ±3)"."""
    name, branch = agent["project"]["name"], agent["branch"]
    marks = distance_marks(agent.get("worktree"))
    return f"{name} ({' '.join([branch, *marks])})" if branch else str(name)


def age(time: str, now: datetime) -> float:
    """How many seconds ago."""
    return (now - parse_timestamp(time)).total_seconds()


def _widths(rows: Sequence[dict[str, Span]], width: int) -> dict[str, int]:
    """The widths of the shown columns. Empty columns and those without room are missing."""
    natural = {name: max(cell_len(cells[name].text) for cells in rows) for name in _HEADINGS}
    used = {name: max(wide, cell_len(_HEADINGS[name])) for name, wide in natural.items() if wide}
    used["name"], used["doing"] = min(used["name"], MAX_NAME_WIDTH), min(used["doing"], MAX_ACTIVITY_WIDTH)
    for hidden in _HIDDEN_COLUMNS:
        widths = {name: wide for name, wide in used.items() if name not in hidden}
        if _fits(widths, width):
            break
    return widths


def _fits(widths: dict[str, int], width: int) -> bool:
    """Divide the remaining width between activity and project, in place. False if it is too narrow."""
    place = next((name for name in ("where", "project") if name in widths), None)
    fixed = sum(wide + GAP for name, wide in widths.items() if name not in (place, "doing"))
    room = max(width - fixed, 1)
    enough = True
    if place is not None:
        room = max(room - GAP, 2)
        shared = max(room - widths["doing"], room // 4)
        enough = shared >= min(widths[place], MIN_PROJECT_WIDTH[place])
        widths[place] = min(widths[place], shared)
        room -= widths[place]
    enough = enough and room >= min(widths["doing"], MIN_ACTIVITY_WIDTH)
    widths["doing"] = min(widths["doing"], room)
    return enough


def tally(agents: Sequence[Json]) -> Line:
    """The number of agents by state: "1 waiting · 2 working"."""
    numbers = Counter(agent["state"] for agent in agents)
    spans: list[Span] = []
    for state in (state for state in SHAPES if numbers[state]):
        spans += [Span(" · ", "dim")] if spans else []
        role = state if state in ("waiting", "error") else "dim"
        spans.append(Span(f"{shape(state)} {numbers[state]} {state}", role))
    return tuple(spans)


def board_footer(agents: Sequence[Json]) -> list[Line]:
    """The number of agents by state, and the next commands worth typing."""
    first = next((agent for agent in agents if agent["state"] in ("waiting", "error")), agents[0])
    return [EMPTY_LINE, tally(agents), dim(f"headspace show {first['name']}   headspace why {first['name']}")]


def empty_board(*, filtered: bool) -> list[Line]:
    """What to print if there are no agents."""
    if filtered:
        return [line("No agent matches."), dim("headspace list --all includes agents that ended over a day ago.")]
    return [
        line("No agents yet. Sessions appear here when their client sends its first event."),
        dim("headspace status shows whether events arrive."),
    ]
