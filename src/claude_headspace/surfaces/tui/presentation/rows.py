"""The list: one line for each agent, with state, name, client, project, activity, context, cost and time.

The client is shown only if the agents use more than one. A narrow terminal shows fewer columns, so that
the activity stays readable.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from rich.cells import cell_len

from claude_headspace.kernel.text import count
from claude_headspace.surfaces.cli.output import Line, Span, row
from claude_headspace.surfaces.cli.presentation.board import age, name_text, project_and_branch, tally
from claude_headspace.surfaces.text.board_order import BoardView, group_agents
from claude_headspace.surfaces.text.clients import has_several_clients, short_title
from claude_headspace.surfaces.text.formatting import Json, duration
from claude_headspace.surfaces.text.labels import activity, badges, summary_has_time, total_cost

HEADINGS = {
    "key": "",
    "name": "  agent",
    "unseen": "",
    "client": "client",
    "where": "project",
    "doing": "activity",
    "tool": "last tool",
    "todo": "todo",
    "context": "ctx",
    "cost": "cost",
    "since": "since",
}
_RIGHT_ALIGNED = frozenset({"todo", "context", "cost", "since"})
_MIN_LIST_WIDTHS = {"tool": 112, "cost": 84, "todo": 92, "context": 76, "client": 74, "where": 70, "key": 50}
"""How wide the list must be to show a column."""

MAX_NAME_WIDTH, MAX_PROJECT_WIDTH, MIN_ACTIVITY_WIDTH = 26, 30, 32
SINCE_WIDTH = len("59 min")
GAP = 2
CONTEXT_WARNING_PERCENT, CONTEXT_CRITICAL_PERCENT = 80, 95
"""From which usage on the context is highlighted."""


class Columns(NamedTuple):
    """The width of each column, and whether the project is shown with its branch."""

    widths: dict[str, int]
    with_branch: bool = True

    @property
    def right_aligned(self) -> list[bool]:
        """For each column whether it is right-aligned."""
        return [name in _RIGHT_ALIGNED for name in self.widths]


def choose_columns(agents: Sequence[Json], width: int) -> Columns:
    """The columns that are not empty and fit. Branches are shown only if all fit completely.

    The activity gets the remaining width, so its texts are not measured: that would be slow with 300 agents.
    """
    natural = _natural_widths(agents)
    columns = _columns(natural, width, with_branch=True)
    if columns.widths.get("where", MAX_PROJECT_WIDTH) >= min(natural["where"], MAX_PROJECT_WIDTH):
        return columns
    project = max((cell_len(agent["project"]["name"]) for agent in agents), default=0)
    return _columns({**natural, "where": project}, width, with_branch=False)


def _natural_widths(agents: Sequence[Json]) -> dict[str, int]:
    """The width that each column needs for its longest text."""
    several_clients = has_several_clients(agents)
    texts = {
        "client": {short_title(agent["client"]) for agent in agents if several_clients},
        "name": {f"  {agent['name']}" for agent in agents},
        "where": {project_and_branch(agent) for agent in agents},
        "tool": {agent["last_tool"] or "" for agent in agents},
        "todo": {_todo(agent) for agent in agents},
        "context": {context_cell(agent["context_percent"]).text for agent in agents},
        "cost": {total_cost(agent) for agent in agents},
    }
    widths = {name: max(map(cell_len, each), default=0) for name, each in texts.items()}
    return widths | ({"key": 1, "unseen": 1, "since": SINCE_WIDTH} if agents else {})


def _columns(natural: dict[str, int], width: int, *, with_branch: bool) -> Columns:
    wanted = {name: natural.get(name, 0) for name in HEADINGS if natural.get(name) or name in ("name", "doing")}
    kept = {name: _column_width(name, wide) for name, wide in wanted.items() if width >= _MIN_LIST_WIDTHS.get(name, 0)}
    return Columns(_share_width(kept, width), with_branch)


def _column_width(name: str, natural: int) -> int:
    wide = max(natural, len(HEADINGS[name]))
    return min(wide, {"name": MAX_NAME_WIDTH, "where": MAX_PROJECT_WIDTH}.get(name, wide))


def _share_width(widths: dict[str, int], width: int) -> dict[str, int]:
    """Give the remaining width to the activity. If it is too small, shrink the project first, then the name."""
    room = width - sum(wide + GAP for name, wide in widths.items() if name != "doing") - GAP
    for name, least in (("where", 8), ("name", 18)):
        if room < MIN_ACTIVITY_WIDTH and name in widths:
            taken = min(MIN_ACTIVITY_WIDTH - room, max(widths[name] - least, 0))
            widths[name] -= taken
            room += taken
    widths["doing"] = max(room, 6)
    return widths


def heading_row(columns: Columns) -> Line:
    """The names of the columns."""
    return row([Span(HEADINGS[name], "dim") for name in columns.widths], columns.widths.values(), columns.right_aligned)


def agent_row(
    agent: Json, number: int, columns: Columns, now: datetime, *, is_pinned: bool = False, is_marked: bool = False
) -> Line:
    """The row of an agent. Nine of them have a number, which is also a key. `*` is a pinned one, `+` a marked one."""
    cells = _cells(agent, now, number, with_branch=columns.with_branch)
    if is_marked:
        cells["unseen"] = Span("+", "key")
    if is_pinned:
        cells["name"] = Span(name_text(agent, is_pinned=True), agent["state"])
    return row([cells[name] for name in columns.widths], columns.widths.values(), columns.right_aligned)


class GroupRow(NamedTuple):
    """The heading of a group."""

    title: str
    agents: Sequence[Json]
    is_folded: bool

    @property
    def id(self) -> str:
        """What identifies it among the rows."""
        return f"group:{self.title}"


def board_rows(agents: Sequence[Json], view: BoardView) -> list[Json | GroupRow]:
    """The rows of agents that are in order already. A folded group has only its heading."""
    rows: list[Json | GroupRow] = []
    for title, members in group_agents(agents, view):
        is_folded = title in view.folded
        rows += [GroupRow(title, members, is_folded)] if title else []
        rows += [] if title and is_folded else members
    return rows


def group_title(rows: Sequence[Json | GroupRow], index: int) -> str | None:
    """The title of the group that a row belongs to; None if there are no groups."""
    headings = (row.title for row in reversed(rows[: index + 1]) if isinstance(row, GroupRow))
    return next(headings, None)


def needs_user(row: Json | GroupRow) -> bool:
    """Whether the agent of a row needs the user, or one in a folded group."""
    agents = [row] if not isinstance(row, GroupRow) else row.agents if row.is_folded else ()
    return any(agent["state"] in ("waiting", "error") for agent in agents)


def list_title(number: int, view: BoardView) -> str:
    """The title of the list: the number of agents, and how they are sorted if that is not the default."""
    order = f" · by {view.sort}" if view.sort != BoardView().sort else ""
    return f"agents {number}{order}" if number else "agents"


def group_row(group: GroupRow) -> Line:
    """The title of a group, and its agents by state."""
    mark = "▸" if group.is_folded else "▾"
    return (Span(f"{mark} {group.title}  ", "strong"), *tally(group.agents))


def _cells(agent: Json, now: datetime, number: int, *, with_branch: bool) -> dict[str, Span]:
    state = agent["state"]
    role = "ended" if state == "ended" else ""
    return {
        "key": Span(str(number) if 0 < number <= 9 else "", "dim"),
        "name": Span(name_text(agent, is_pinned=False), state),
        "unseen": Span("•" if agent["unseen"] else "", "unseen"),
        "client": Span(short_title(agent["client"]), "dim"),
        "where": Span(project_and_branch(agent) if with_branch else agent["project"]["name"], role or "place"),
        "doing": Span(_activity_text(agent, now), {"waiting": "strong", "error": "error"}.get(state, role)),
        "tool": Span(agent["last_tool"] or "", "dim"),
        "todo": Span(_todo(agent), "dim"),
        "context": context_cell(agent["context_percent"]),
        "cost": Span(total_cost(agent), "dim"),
        "since": Span("" if summary_has_time(agent) else duration(age(agent["state_since"], now)), "dim"),
    }


def _todo(agent: Json) -> str:
    todo = agent["todo"]
    return f"{todo['done']}/{todo['total']}" if todo else ""


def _activity_text(agent: Json, now: datetime) -> str:
    """The activity, and what runs in the background."""
    text, background = activity(agent, now), []
    if agent["state"] in ("working", "waiting"):
        subagents = len(agent["subagents"])
        if subagents and "sub-agent" not in text:
            background.append(count(subagents, "sub-agent"))
        if agent["background_tasks"]:
            background.append(f"{len(agent['background_tasks'])} in background")
    return " · ".join([text, *background, *badges(agent)])


def context_cell(percent: float | None) -> Span:
    """The usage of the context, highlighted when it is high."""
    if percent is None:
        return Span("", "dim")
    return Span(
        f"{percent:.0f}%",
        "error" if percent >= CONTEXT_CRITICAL_PERCENT else "warm" if percent >= CONTEXT_WARNING_PERCENT else "dim",
    )


def refresh_seconds(agents: Sequence[Json], now: datetime) -> float:
    """After how many seconds a time in these rows may change."""
    youngest = min((age(_shown_time(agent), now) for agent in agents), default=3600.0)
    return 1.0 if youngest < 60 else 20.0


def _shown_time(agent: Json) -> str:
    if agent["state"] == "ended":
        return str(agent["ended_at"] or agent["state_since"])
    return str((agent["command"] or {}).get("ended_at") or agent["state_since"])
