"""The past of an agent: a bar and a list of its states, and the agent at an earlier time."""

from collections.abc import Sequence
from datetime import datetime

from rich.cells import cell_len

from claude_headspace.kernel.text import count
from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, line
from claude_headspace.surfaces.cli.presentation.agent_details import agent_lines
from claude_headspace.surfaces.text.formatting import Json, ago, clock_time, cut, duration, parse_timestamp
from claude_headspace.surfaces.text.labels import shape, state_text

MAX_WIDTH = 120
BLOCK = "▬"
BAR_WIDTH = 60


def state_timeline(agent: Json, states: Sequence[Json], now: datetime, width: int) -> list[Line]:
    """The states of an agent, each with its time, duration and reason."""
    width = min(width, MAX_WIDTH)
    title = line(Span(f"{shape(agent['state'])} {agent['name']}", agent["state"]), f"  {count(len(states), 'state')}")
    if not states:
        return [title, dim("Its past states are no longer stored.")]
    end = parse_timestamp(agent["ended_at"]) if agent["ended_at"] else now
    ends = [*(parse_timestamp(state["at"]) for state in states[1:]), end]
    rows = [_state_row(state, end, now, width) for state, end in zip(states, ends, strict=True)]
    return [title, _bar(states, ends, width), EMPTY_LINE, *rows]


def _bar(states: Sequence[Json], ends: Sequence[datetime], width: int) -> Line:
    """The states as a bar, in proportion to their duration. Each has at least one block."""
    lengths = [
        max((end - parse_timestamp(state["at"])).total_seconds(), 0) for state, end in zip(states, ends, strict=True)
    ]
    room, whole = min(width - 2, BAR_WIDTH), sum(lengths) or 1
    spans = [Span("  ")]
    for state, length in zip(states, lengths, strict=True):
        spans.append(Span(BLOCK * max(round(room * length / whole), 1), state["state"]))
    return _fitting(spans, room + 2)


def _fitting(spans: Sequence[Span], width: int) -> Line:
    """The end of a bar that is too long."""
    kept: list[Span] = []
    for each in reversed(spans):
        room = width - sum(cell_len(span.text) for span in kept)
        if room > 0:
            kept.append(Span(each.text[-room:], each.role))
    return tuple(reversed(kept))


def _state_row(state: Json, end: datetime, now: datetime, width: int) -> Line:
    lasted = duration(max((end - parse_timestamp(state["at"])).total_seconds(), 0))
    words = state_text(state["state"], state["waiting_for"])
    start = f"  {clock_time(state['at'], now):>16}  {lasted:>6}  "
    head = f"{shape(state['state'])} {words}"
    rest = cut(f"  {state['why']}", max(width - cell_len(start) - cell_len(head), 10))
    return line(Span(start, "dim"), Span(head, state["state"]), Span(rest, "dim"))


def timeline_footer(agent: Json, states: Sequence[Json]) -> list[Line]:
    """The next command worth typing."""
    if not states:
        return []
    middle = states[len(states) // 2]["at"][:19]
    return [EMPTY_LINE, dim(f"headspace replay {agent['name']} --at {middle}Z   shows the agent at that time")]


def agent_at_time(agent: Json, turns: Sequence[Json], time: str, now: datetime, width: int) -> list[Line]:
    """The agent at an earlier time. Relative times refer to that time."""
    at = parse_timestamp(time).astimezone(now.tzinfo)
    return [dim(f"At {at:%Y-%m-%d %H:%M:%S} ({ago(time, now)}):"), *agent_lines(agent, turns, at, width)]


def log_import_plan(header: Json, events: int) -> list[Line]:
    """What an import of a log would do."""
    return [line(f"{header['name']} from {header['host']}, {count(events, 'event')} at most.")]


def log_import_result(header: Json, result: Json) -> list[Line]:
    """The result of an import of a log."""
    known = f", {result['known']:,} were already here" if result["known"] else ""
    first = f"Imported {header['name']} from {header['host']}: {count(result['events'], 'event')}{known}."
    return [line(first), dim(f"headspace show {result['agent_id'] or header['name']}")]
