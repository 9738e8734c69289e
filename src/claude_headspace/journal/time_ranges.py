"""Questions about a stretch of time, as queries. Nothing here writes.

The log has no index by time, which would cost every event: numbers are given in the order of arrival, so the first
event of a time is found by halving.
"""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select

from claude_headspace.journal.schema import commands, events, states
from claude_headspace.kernel.envelope import Micros, Origin
from claude_headspace.ports import EventFilter


def event_conditions(connection: Connection, choice: EventFilter) -> list[ColumnElement[bool]]:
    """What an event must fulfil to be chosen."""
    table = events.c
    wanted: list[ColumnElement[bool]] = []
    if choice.names:
        wanted.append(table.name.in_(sorted(choice.names)))
    if choice.origins:
        wanted.append(table.origin.in_(sorted(choice.origins)))
    if choice.only_anomalies:
        wanted.append(table.anomaly.is_not(None))
    if choice.before_seq is not None:
        wanted.append(table.seq < choice.before_seq)
    if choice.received_between is not None:
        wanted += _arrived(connection, *choice.received_between)
    return wanted


def hook_delays(connection: Connection, since: Micros, until: Micros, limit: int) -> list[Micros]:
    """How long hooks that arrived in this time had been on their way; of many the newest."""
    table = events.c
    newest_first = select(table.received_at - table.fired_at).order_by(table.seq.desc()).limit(limit)
    query = newest_first.where(table.origin == Origin.HOOK.value, *_arrived(connection, since, until))
    return [int(delay) for delay in connection.execute(query).scalars()]


def states_between(since: Micros, until: Micros) -> Select[Any]:
    """The states of a time, and for each agent the one that it was in when the time began."""
    table = states.c
    before = select(func.max(table.seq)).where(table.at < since).group_by(table.agent_id)
    wanted = table.at.between(since, until - 1) | table.seq.in_(before)
    return select(states).where(wanted).order_by(table.at, table.seq)


def commands_between(since: Micros, until: Micros) -> Select[Any]:
    """The commands that began in a time."""
    table = commands.c
    return select(table.body).where(table.started_at.between(since, until - 1)).order_by(table.started_at)


def _arrived(connection: Connection, since: Micros, until: Micros) -> list[ColumnElement[bool]]:
    table = events.c
    near = [table.seq >= _first_at(connection, since), table.seq < _first_at(connection, until)]
    return [*near, table.received_at >= since, table.received_at < until]


def _first_at(connection: Connection, moment: Micros) -> int:
    """The number of the first event that arrived then or later."""
    low, high = 0, int(connection.execute(select(func.max(events.c.seq))).scalar() or 0) + 1
    while low < high:
        middle = (low + high) // 2
        found = _next_from(connection, middle)
        if found is None or found[1] >= moment:
            high = middle
        else:
            low = found[0] + 1
    return low


def _next_from(connection: Connection, seq: int) -> tuple[int, Micros] | None:
    table = events.c
    query = select(table.seq, table.received_at).where(table.seq >= seq).order_by(table.seq).limit(1)
    row = connection.execute(query).first()
    return (row.seq, row.received_at) if row is not None else None
