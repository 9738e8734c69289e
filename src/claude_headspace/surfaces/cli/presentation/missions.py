"""Missions as the terminal shows them. Pure: JSON in, lines out."""

from collections.abc import Sequence
from datetime import datetime

from rich.cells import cell_len

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, hanging, line, row
from claude_headspace.surfaces.text.labels import Json, ago, clock_time, cut, duration, one_line, parse_timestamp, shape

_HEADINGS = ("  mission", "worker", "outcome", "took", "begun", "goal")
_RIGHT = (False, False, False, True, False, False)
MOST_WIDTH = 120
LEAST_GOAL = 20
LABEL = 13

ROLES = {"succeeded": "", "failed": "error", "abandoned": "quiet", None: "working"}
"""How an outcome stands out; without one it is under way."""


def missions(found: Sequence[Json], now: datetime, width: int) -> list[Line]:
    """The missions as a table."""
    if not found:
        return [line("No agent is on a mission."), dim('headspace mission start "GOAL" sends one off.')]
    rows = [_cells(mission, now) for mission in found]
    table = [tuple(Span(heading, "quiet") for heading in _HEADINGS), *rows]
    widths = [max(cell_len(cells[at].text) for cells in table) for at in range(len(_HEADINGS))]
    room = width - sum(wide + 2 for wide in widths[:-1])
    widths[-1] = min(widths[-1], max(room, LEAST_GOAL))
    return [row(cells, widths, _RIGHT) for cells in table]


def _cells(mission: Json, now: datetime) -> tuple[Span, ...]:
    worker, role = mission["workers"][0], ROLES.get(mission["outcome"], "")
    return (
        Span(f"{shape(worker['state'])} {mission['id'][:8]}", worker["state"]),
        Span(worker["name"]),
        Span(mission["outcome"] or "under way", role),
        Span(took(mission, now), "quiet"),
        Span(ago(mission["started_at"], now), "quiet"),
        Span(one_line(mission["goal"])),
    )


def took(mission: Json, now: datetime) -> str:
    """How long it took, or has taken so far."""
    end = parse_timestamp(mission["ended_at"]) if mission["ended_at"] else now
    return duration((end - parse_timestamp(mission["started_at"])).total_seconds())


def begun(mission: Json, session: str | None) -> list[Line]:
    """What a new mission is, and where."""
    worker = mission["workers"][0]["name"]
    if session is not None:
        told = f" {mission['conversation']} is told when it is back." if mission["conversation"] else ""
        return [line(f"{worker} is on its way, in the tmux session {session}.{told}")]
    return [
        line(f"{worker} is expected. Start its client with this environment:"),
        line(f"MISSION_EXECUTION_ID={mission['id']} CLAUDE_SESSION_MODE={mission['mode']}"),
    ]


def mission_portrait(mission: Json, now: datetime, width: int) -> list[Line]:
    """One mission."""
    width = min(width, MOST_WIDTH)
    outcome = Span(mission["outcome"] or "under way", ROLES.get(mission["outcome"], ""))
    lines = [line(Span(f"mission {mission['id'][:8]}", "strong"), "  ", outcome)]
    for name, text in _facts(mission, now):
        lines += hanging(line(Span(f"  {name:<{LABEL}}", "quiet")), text, width) if text else []
    if not mission["timeline"]:
        return lines
    names = {worker["id"]: worker["name"] for worker in mission["workers"]}
    lines += [EMPTY_LINE, dim("what happened")]
    for moment in mission["timeline"]:
        who = names.get(moment["agent_id"], "") if len(names) > 1 else ""
        words = " ".join(part for part in (who, moment["what"], one_line(moment["text"])) if part)
        start = f"  {clock_time(moment['at'], now)}  "
        lines.append(line(Span(start, "quiet"), cut(words, max(width - len(start), 20))))
    return lines


def _facts(mission: Json, now: datetime) -> list[tuple[str, str]]:
    workers = ", ".join(f"{worker['name']} ({worker['state']})" for worker in mission["workers"])
    cost, by = mission["cost_usd"], f" by {mission['started_by']}" if mission["started_by"] else ""
    return [
        ("goal", mission["goal"]),
        ("id", mission["id"]),
        ("mode", mission["mode"]),
        ("project", mission["project"]["root"]),
        ("begun", f"{ago(mission['started_at'], now)}{by}"),
        ("took", took(mission, now)),
        ("cost", "" if cost is None else f"${cost:,.2f}"),
        ("worker", workers),
        ("conversation", mission["conversation"] or ""),
        ("ended", mission["words"]),
        ("report", mission["report"]),
        ("last answer", mission["answer"] if mission["answer"] != mission["report"] else ""),
    ]
