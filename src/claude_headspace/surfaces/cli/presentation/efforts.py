"""Efforts as lines."""

from collections.abc import Sequence
from datetime import datetime

from rich.cells import cell_len

from claude_headspace.kernel.text import count
from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, hanging, line, row
from claude_headspace.surfaces.text.formatting import Json, ago, clock_time, one_line

LAST_MESSAGES = 12
ID_LENGTH = 12
"""How much of an id is shown: the time in milliseconds, which is unique in practice."""
_HEADINGS = ("  effort", "id", "phase", "calls", "log", "task", "started")
_RIGHT = (False, False, False, True, True, False, False)


def effort_table(found: Sequence[Json], tasks: Sequence[Json], now: datetime, *, here: bool = False) -> list[Line]:
    """The efforts as a table. A task is shown by its title, if it has one. `here`: only those of the directory."""
    if not found:
        place = " in this directory. `headspace effort list --all` lists all" if here else ""
        return [line(f"There are no efforts{place}."), dim("headspace effort start SKILL starts one.")]
    titles = {task["id"]: task["title"] for task in tasks}
    rows = [_cells(effort, titles.get(effort["task_id"], ""), now) for effort in found]
    table = [tuple(Span(heading, "dim") for heading in _HEADINGS), *rows]
    widths = [max(cell_len(cells[at].text) for cells in table) for at in range(len(_HEADINGS))]
    return [row(cells, widths, _RIGHT) for cells in table]


def _cells(effort: Json, title: str, now: datetime) -> tuple[Span, ...]:
    active = effort["lifecycle"] == "active"
    at_limit = effort["heartbeat"] >= effort["heartbeat_limit"]
    return (
        Span(f"{'●' if active else '–'} {effort['skill']} #{effort['ordinal']}", "working" if active else "ended"),
        Span(effort["id"][:ID_LENGTH], "dim"),
        Span(effort["phase"] or ""),
        Span(f"{effort['heartbeat']}/{effort['heartbeat_limit']}", "waiting" if at_limit else "dim"),
        Span(str(effort["logged"]), "dim"),
        Span(f"{title} ({effort['task_dir']})" if title else effort["task_dir"]),
        Span(ago(effort["started_at"], now), "dim"),
    )


def effort_lines(effort: Json, now: datetime, width: int) -> list[Line]:
    """One effort."""
    lines = [line(Span(f"{effort['skill']} #{effort['ordinal']}", "strong"), f"  {effort['lifecycle']}")]
    lines += [labelled_line(name, text, width) for name, text in _facts(effort) if text]
    lines += _section("sessions", [_session(window, now) for window in effort["sessions"]], width)
    lines += _section("log", [_message(each, now) for each in effort["messages"][-LAST_MESSAGES:]], width)
    return lines


def _facts(effort: Json) -> list[tuple[str, str]]:
    usage = effort["context_usage"]
    return [
        ("id", effort["id"]),
        ("task", effort["task_dir"]),
        ("phase", _phase(effort)),
        ("agent", effort["agent_id"] or ""),
        ("owner", effort["owner"] or ""),
        ("calls", f"{effort['heartbeat']} of {effort['heartbeat_limit']} without a log entry"),
        ("context", "" if usage is None else f"{usage:.0%} full"),
        ("instructions", ", ".join(effort["directives"])),
        ("to read", ", ".join(effort["pending_preloads"])),
        ("messages", ", ".join(f"{one_line(each['text'])} ({each['delivery']})" for each in effort["injections"])),
        ("handover", one_line(effort["dehydrated"] or "")),
    ]


def _phase(effort: Json) -> str:
    others = ", ".join(effort["phases"])
    return f"{effort['phase'] or 'none'}" + (f" of {others}" if others else "")


def labelled_line(name: str, text: str, width: int) -> Line:
    """A label and a text on one line."""
    return hanging(line(Span(f"{name:<13}", "dim")), one_line(text), max(width, 40))[0]


def _session(window: Json, now: datetime) -> tuple[str, str]:
    who = f"sub-agent {window['subagent_id']}" if window["subagent_id"] else "main"
    spent = f", context used up ({window['spent']})" if window["spent"] else ""
    end = f", ended ({window['end_reason']})" if window["ended_at"] else spent
    loaded = f", {count(len(window['loaded_files']), 'file')}" if window["loaded_files"] else ""
    handed = ", handover stored" if window["dehydrated"] else ""
    return clock_time(window["started_at"], now), f"{who}: {count(window['heartbeat'], 'call')}{loaded}{handed}{end}"


def _message(message: Json, now: datetime) -> tuple[str, str]:
    kind = "" if message["kind"] == "log" else f"{message['kind']}: "
    return clock_time(message["at"], now), f"{kind}{one_line(message['text'])}"


def _section(name: str, entries: Sequence[tuple[str, str]], width: int) -> list[Line]:
    if not entries:
        return []
    lines = [EMPTY_LINE, dim(name)]
    for time, text in entries:
        lines += hanging(line(Span(f"  {time}  ", "dim")), text, max(width, 40))
    return lines
