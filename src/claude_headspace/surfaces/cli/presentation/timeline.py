"""An agent's past: a ribbon and a list of its moments, and the agent as it was at one of them."""

from collections.abc import Sequence
from datetime import datetime

from rich.cells import cell_len

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, line
from claude_headspace.surfaces.cli.presentation.agent_details import portrait
from claude_headspace.surfaces.text.labels import (
    Json,
    ago,
    clock_time,
    count,
    cut,
    duration,
    parse_timestamp,
    shape,
    state_text,
)

MOST_WIDTH = 120
BLOCK = "▬"
RIBBON = 60


def moments(agent: Json, states: Sequence[Json], now: datetime, width: int) -> list[Line]:
    """The states an agent came into, each with its time, how long it lasted and why it is believed."""
    width = min(width, MOST_WIDTH)
    title = line(Span(f"{shape(agent['state'])} {agent['name']}", agent["state"]), f"  {count(len(states), 'moment')}")
    if not states:
        return [title, dim("Nothing of its past is kept.")]
    ends = [parse_timestamp(state["at"]) for state in states[1:]] + [_end(agent, now)]
    rows = [_moment(state, end, now, width) for state, end in zip(states, ends, strict=True)]
    return [title, _ribbon(states, ends, width), EMPTY_LINE, *rows]


def _end(agent: Json, now: datetime) -> datetime:
    return parse_timestamp(agent["ended_at"]) if agent["ended_at"] else now


def _ribbon(states: Sequence[Json], ends: Sequence[datetime], width: int) -> Line:
    """The states side by side, as long as they lasted; each has at least one block."""
    lengths = [
        max((end - parse_timestamp(state["at"])).total_seconds(), 0) for state, end in zip(states, ends, strict=True)
    ]
    room, whole = min(width - 2, RIBBON), sum(lengths) or 1
    spans = [Span("  ")]
    for state, length in zip(states, lengths, strict=True):
        spans.append(Span(BLOCK * max(round(room * length / whole), 1), state["state"]))
    return _fitting(spans, room + 2)


def _fitting(spans: Sequence[Span], width: int) -> Line:
    """The end of a ribbon that is too long."""
    kept: list[Span] = []
    for each in reversed(spans):
        room = width - sum(cell_len(span.text) for span in kept)
        if room > 0:
            kept.append(Span(each.text[-room:], each.role))
    return tuple(reversed(kept))


def _moment(state: Json, end: datetime, now: datetime, width: int) -> Line:
    lasted = duration(max((end - parse_timestamp(state["at"])).total_seconds(), 0))
    words = state_text(state["state"], state["waiting_for"])
    start = f"  {clock_time(state['at'], now):>16}  {lasted:>6}  "
    head = f"{shape(state['state'])} {words}"
    rest = cut(f"  {state['why']}", max(width - cell_len(start) - cell_len(head), 10))
    return line(Span(start, "quiet"), Span(head, state["state"]), Span(rest, "quiet"))


def moments_next(agent: Json, states: Sequence[Json]) -> list[Line]:
    """What to type next."""
    if not states:
        return []
    middle = states[len(states) // 2]["at"][:19]
    return [EMPTY_LINE, dim(f"headspace replay {agent['name']} --at {middle}Z   shows it as it was then")]


def then(agent: Json, turns: Sequence[Json], moment: str, now: datetime, width: int) -> list[Line]:
    """The agent as it was: times are seen from that moment."""
    at = parse_timestamp(moment).astimezone(now.tzinfo)
    return [dim(f"As it was at {at:%Y-%m-%d %H:%M:%S} ({ago(moment, now)}):"), *portrait(agent, turns, at, width)]


def import_planned(header: Json, events: int) -> list[Line]:
    """What a file would bring."""
    return [line(f"{header['name']} from {header['host']}, {count(events, 'event')} at most.")]


def imported(header: Json, result: Json) -> list[Line]:
    """What a file brought."""
    known = f", {result['known']:,} were here already" if result["known"] else ""
    first = f"Brought in {header['name']} from {header['host']}: {count(result['events'], 'event')}{known}."
    return [line(first), dim(f"headspace show {result['agent_id'] or header['name']}")]
