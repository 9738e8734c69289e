"""Agents by tmux pane, window and session."""

from collections.abc import Mapping, Sequence
from itertools import groupby

from claude_headspace.kernel.fleet import combined_status
from claude_headspace.surfaces.cli.output import Line, Span, dim, line
from claude_headspace.surfaces.text.formatting import Json

_SHAPES = {"error": "✕", "attention": "◆", "working": "●", "checked": "◇", "done": "○"}
_ROLES = {"error": "error", "attention": "waiting", "working": "working"}
ELSEWHERE = "not in tmux"
UNKNOWN_SESSION = "in tmux, session unknown"


def group_by_pane(agents: Sequence[Json], panes: Mapping[str, Json]) -> Json:
    """Running agents, grouped by session, window and pane. A group has the status of its most urgent agent.

    `panes` are the panes of agents that were found, by the id of the agent.
    """
    rows = [_row(agent, panes.get(agent["id"])) for agent in agents if agent["state"] != "ended"]
    rows.sort(key=lambda row: (row["session"], row["socket"], row["window"], row["id"] or "", row["agent"]))
    groups = groupby(rows, key=lambda row: (row["session"], row["socket"]))
    sessions = [_session(name, socket, list(inside)) for (name, socket), inside in groups]
    return {"status": combined_status(each["status"] for each in sessions), "sessions": sessions}


def _row(agent: Json, pane: Json | None) -> Json:
    return {
        "session": pane["session_name"] if pane else agent["tmux"]["session"] or _place(agent),
        "socket": pane["socket_path"] if pane else "",
        "window": pane["window_id"] if pane else "",
        "window_name": f"{pane['window_index']}:{pane['window_name']}" if pane else "",
        "id": agent["tmux"]["pane"],
        "agent": agent["name"],
        "agent_id": agent["id"],
        "status": agent["dialects"]["fleet"],
    }


def _place(agent: Json) -> str:
    return UNKNOWN_SESSION if agent["tmux"]["pane"] else ELSEWHERE


def _session(name: str, socket: str, rows: list[Json]) -> Json:
    windows = [_window(window, list(inside)) for window, inside in groupby(rows, key=lambda row: row["window"])]
    status = combined_status(each["status"] for each in windows)
    return {"name": name, "socket": socket, "status": status, "windows": windows}


def _window(window: str, rows: list[Json]) -> Json:
    kept = ("id", "agent", "agent_id", "status")
    panes = [{key: row[key] for key in kept} for row in rows]
    name = rows[0]["window_name"]
    return {"id": window, "name": name, "status": combined_status(row["status"] for row in rows), "panes": panes}


def fleet_lines(found: Json) -> list[Line]:
    """Sessions, their windows and their panes."""
    if not found["sessions"]:
        return [line("No agents."), dim("headspace status shows whether events arrive.")]
    lines: list[Line] = []
    for session in found["sessions"]:
        lines.append(_line(0, session["status"], session["name"]))
        for window in session["windows"]:
            if window["name"]:
                lines.append(_line(1, window["status"], window["name"]))
            lines += [
                _line(2, pane["status"], f"{pane['agent']} {pane['id'] or ''}".rstrip()) for pane in window["panes"]
            ]
    return lines


def _line(depth: int, status: str, name: str) -> Line:
    role = _ROLES.get(status, "dim")
    return line(f"{'  ' * depth}", Span(f"{_SHAPES[status]} {name}", role), Span(f"  {status}", "dim"))
