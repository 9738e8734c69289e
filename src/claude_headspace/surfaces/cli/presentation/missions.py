"""Missions as lines."""

from collections.abc import Sequence
from datetime import datetime

from rich.cells import cell_len

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, hanging, line, row
from claude_headspace.surfaces.text.formatting import Json, ago, clock_time, cut, duration, one_line, parse_timestamp
from claude_headspace.surfaces.text.labels import shape

_HEADINGS = ("  mission", "worker", "outcome", "took", "started", "goal")
_RIGHT = (False, False, False, True, False, False)
MAX_WIDTH = 120
MIN_GOAL_WIDTH = 16
DROPPED = (4, 3, 2)
"""Columns that a narrow terminal does not show, the least important first: started, took, outcome."""
LABEL = 13

ROLES = {"succeeded": "", "failed": "error", "abandoned": "dim", None: "working"}
"""The roles of outcomes; None is a mission in progress."""


def mission_table(found: Sequence[Json], now: datetime, width: int) -> list[Line]:
    """The missions as a table."""
    if not found:
        return [line("There are no missions."), dim('headspace mission start "GOAL" starts one.')]
    rows = [_cells(mission, now) for mission in found]
    table = [tuple(Span(heading, "dim") for heading in _HEADINGS), *rows]
    widths = [max(cell_len(cells[at].text) for cells in table) for at in range(len(_HEADINGS))]
    shown = _columns_that_fit(widths, width)
    room = width - sum(widths[at] + 2 for at in shown[:-1])
    widths[-1] = min(widths[-1], max(room, 1))
    return [
        row([cells[at] for at in shown], [widths[at] for at in shown], [_RIGHT[at] for at in shown]) for cells in table
    ]


def _columns_that_fit(widths: Sequence[int], width: int) -> list[int]:
    """The numbers of the columns that leave enough room for the goal, which is the last one."""
    shown = list(range(len(widths)))
    for least in DROPPED:
        if sum(widths[at] + 2 for at in shown[:-1]) + min(widths[-1], MIN_GOAL_WIDTH) > width:
            shown.remove(least)
    return shown


def _cells(mission: Json, now: datetime) -> tuple[Span, ...]:
    worker, role = mission["workers"][0], ROLES.get(mission["outcome"], "")
    return (
        Span(f"{shape(worker['state'])} {mission['id'][:8]}", worker["state"]),
        Span(worker["name"]),
        Span(mission["outcome"] or "in progress", role),
        Span(mission_duration(mission, now), "dim"),
        Span(ago(mission["started_at"], now), "dim"),
        Span(one_line(mission["goal"])),
    )


def mission_duration(mission: Json, now: datetime) -> str:
    """How long the mission took, or has taken so far."""
    end = parse_timestamp(mission["ended_at"]) if mission["ended_at"] else now
    return duration((end - parse_timestamp(mission["started_at"])).total_seconds())


def mission_started(mission: Json, session: str | None) -> list[Line]:
    """What was started, and where it runs."""
    worker = mission["workers"][0]["name"]
    if session is not None:
        reports = f" {mission['conversation']} receives the result." if mission["conversation"] else ""
        return [line(f"Started {worker} in the tmux session {session}.{reports}")]
    return [
        line(f"Registered {worker}. Start its client with this environment:"),
        line(f"MISSION_EXECUTION_ID={mission['id']} CLAUDE_SESSION_MODE={mission['mode']}"),
    ]


def mission_lines(mission: Json, now: datetime, width: int) -> list[Line]:
    """One mission in detail."""
    width = min(width, MAX_WIDTH)
    outcome = Span(mission["outcome"] or "in progress", ROLES.get(mission["outcome"], ""))
    lines = [line(Span(f"mission {mission['id'][:8]}", "strong"), "  ", outcome)]
    for name, text in _facts(mission, now):
        lines += hanging(line(Span(f"  {name:<{LABEL}}", "dim")), text, width) if text else []
    if not mission["timeline"]:
        return lines
    names = {worker["id"]: worker["name"] for worker in mission["workers"]}
    lines += [EMPTY_LINE, dim("timeline")]
    for entry in mission["timeline"]:
        who = names.get(entry["agent_id"], "") if len(names) > 1 else ""
        words = " ".join(part for part in (who, entry["what"], one_line(entry["text"])) if part)
        start = f"  {clock_time(entry['at'], now)}  "
        lines.append(line(Span(start, "dim"), cut(words, max(width - len(start), 20))))
    return lines


def _facts(mission: Json, now: datetime) -> list[tuple[str, str]]:
    workers = ", ".join(f"{worker['name']} ({worker['state']})" for worker in mission["workers"])
    cost, by = mission["cost_usd"], f" by {mission['started_by']}" if mission["started_by"] else ""
    return [
        ("goal", mission["goal"]),
        ("id", mission["id"]),
        ("mode", mission["mode"]),
        ("project", mission["project"]["root"]),
        ("started", f"{ago(mission['started_at'], now)}{by}"),
        ("took", mission_duration(mission, now)),
        ("cost", "" if cost is None else f"${cost:,.2f}"),
        ("worker", workers),
        ("conversation", mission["conversation"] or ""),
        ("ended", mission["words"]),
        ("report", mission["report"]),
        ("last reply", mission["answer"] if mission["answer"] != mission["report"] else ""),
    ]
