"""The list, one line for each agent: does it need me, who is it, what does it do, since when, how full, what it cost.

On a narrow terminal the least important columns go first, so that what an agent does stays readable.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from rich.cells import cell_len

from claude_headspace.surfaces.cli.output import Line, Span, row
from claude_headspace.surfaces.cli.presentation.board import age, project_and_branch
from claude_headspace.surfaces.text.formatting import Json, count, duration
from claude_headspace.surfaces.text.labels import activity, badges, shape, summary_has_time

HEADINGS = {
    "key": "",
    "name": "  agent",
    "unseen": "",
    "where": "project",
    "doing": "what it does",
    "tool": "last tool",
    "todo": "todo",
    "context": "ctx",
    "cost": "cost",
    "since": "since",
}
_TO_THE_RIGHT = frozenset({"todo", "context", "cost", "since"})
_NEEDS = {"tool": 112, "cost": 84, "todo": 92, "context": 76, "where": 70, "key": 50}
"""How wide the list must be to have a column."""

MOST_NAME, MOST_WHERE, LEAST_DOING = 26, 30, 32
SINCE = len("59 min")
GAP = 2
WARM, HOT = 80, 95
"""How full a context may be before it is pointed out."""


class Columns(NamedTuple):
    """Which columns there are, how wide each is, and whether the project stands with its branch."""

    widths: dict[str, int]
    with_branch: bool = True

    @property
    def to_right(self) -> list[bool]:
        """Which of them stand at their right edge."""
        return [name in _TO_THE_RIGHT for name in self.widths]


def columns(agents: Sequence[Json], width: int) -> Columns:
    """The columns for a width: those that have something to say, and room to say it. A branch must fit whole.

    What an agent does has the room that is left, so it is not read here: three hundred of them would take their time.
    """
    natural = _natural(agents)
    whole = _columns(natural, width, with_branch=True)
    if whole.widths.get("where", MOST_WHERE) >= min(natural["where"], MOST_WHERE):
        return whole
    project = max((cell_len(agent["project"]["name"]) for agent in agents), default=0)
    return _columns({**natural, "where": project}, width, with_branch=False)


def _natural(agents: Sequence[Json]) -> dict[str, int]:
    """How wide each column would be if there was room for everything."""
    texts = {
        "name": {f"  {agent['name']}" for agent in agents},
        "where": {project_and_branch(agent) for agent in agents},
        "tool": {agent["last_tool"] or "" for agent in agents},
        "todo": {_todo(agent) for agent in agents},
        "context": {context_cell(agent["context_percent"]).text for agent in agents},
        "cost": {_cost(agent) for agent in agents},
    }
    found = {name: max(map(cell_len, each), default=0) for name, each in texts.items()}
    return found | ({"key": 1, "unseen": 1, "since": SINCE} if agents else {})


def _columns(natural: dict[str, int], width: int, *, with_branch: bool) -> Columns:
    wanted = {name: natural.get(name, 0) for name in HEADINGS if natural.get(name) or name in ("name", "doing")}
    kept = {name: _width(name, wide) for name, wide in wanted.items() if width >= _NEEDS.get(name, 0)}
    return Columns(_shared(kept, width), with_branch)


def _width(name: str, natural: int) -> int:
    wide = max(natural, len(HEADINGS[name]))
    return min(wide, {"name": MOST_NAME, "where": MOST_WHERE}.get(name, wide))


def _shared(kept: dict[str, int], width: int) -> dict[str, int]:
    """What the other columns leave is for what an agent does; the place gives way first, then the name."""
    room = width - sum(wide + GAP for name, wide in kept.items() if name != "doing") - GAP
    for name, least in (("where", 8), ("name", 18)):
        if room < LEAST_DOING and name in kept:
            given = min(LEAST_DOING - room, max(kept[name] - least, 0))
            kept[name] -= given
            room += given
    kept["doing"] = max(room, 6)
    return kept


def heading(shown: Columns) -> Line:
    """What the columns are."""
    return row([Span(HEADINGS[name], "dim") for name in shown.widths], shown.widths.values(), shown.to_right)


def agent_row(agent: Json, number: int, shown: Columns, now: datetime) -> Line:
    """One agent; the first nine can be called by their number."""
    cells = _cells(agent, now, number, with_branch=shown.with_branch)
    return row([cells[name] for name in shown.widths], shown.widths.values(), shown.to_right)


def _cells(agent: Json, now: datetime, number: int, *, with_branch: bool) -> dict[str, Span]:
    state = agent["state"]
    role = "ended" if state == "ended" else ""
    return {
        "key": Span(str(number) if 0 < number <= 9 else "", "dim"),
        "name": Span(f"{shape(state)} {agent['name']}", state),
        "unseen": Span("•" if agent["unseen"] else "", "unseen"),
        "where": Span(project_and_branch(agent) if with_branch else agent["project"]["name"], role or "place"),
        "doing": Span(_doing(agent, now), {"waiting": "strong", "error": "error"}.get(state, role)),
        "tool": Span(agent["last_tool"] or "", "dim"),
        "todo": Span(_todo(agent), "dim"),
        "context": context_cell(agent["context_percent"]),
        "cost": Span(_cost(agent), "dim"),
        "since": Span("" if summary_has_time(agent) else duration(age(agent["state_since"], now)), "dim"),
    }


def _todo(agent: Json) -> str:
    todo = agent["todo"]
    return f"{todo['done']}/{todo['total']}" if todo else ""


def _cost(agent: Json) -> str:
    cost = agent["cost_usd"]
    return "" if cost is None else f"${cost:,.2f}"


def _doing(agent: Json, now: datetime) -> str:
    """What it does, and what runs beside that."""
    words, beside = activity(agent, now), []
    if agent["state"] in ("working", "waiting"):
        subagents = len(agent["subagents"])
        if subagents and "sub-agent" not in words:
            beside.append(count(subagents, "sub-agent"))
        if agent["background_tasks"]:
            beside.append(f"{len(agent['background_tasks'])} in background")
    return " · ".join([words, *beside, *badges(agent)])


def context_cell(percent: float | None) -> Span:
    """How full the context is; pointed out only when it matters."""
    if percent is None:
        return Span("", "dim")
    return Span(f"{percent:.0f}%", "error" if percent >= HOT else "warm" if percent >= WARM else "dim")


def ticks(agents: Sequence[Json], now: datetime) -> float:
    """After how many seconds what these rows say of time may be another word."""
    youngest = min((age(_changes_since(agent), now) for agent in agents), default=3600.0)
    return 1.0 if youngest < 60 else 20.0


def _changes_since(agent: Json) -> str:
    if agent["state"] == "ended":
        return str(agent["ended_at"] or agent["state_since"])
    return str((agent["command"] or {}).get("ended_at") or agent["state_since"])
