"""Queries for time ranges and event filters.

The log has no index by time, because every insert would pay for it. Sequence numbers are in order of arrival, so the
first event of a time range is found by binary search.
"""

from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select

from claude_headspace.journal.schema import commands, events, states
from claude_headspace.kernel.envelope import Micros, Origin
from claude_headspace.ports import EventFilter


def event_conditions(connection: Connection, matching: EventFilter) -> list[ColumnElement[bool]]:
    """The SQL conditions of an event filter."""
    table = events.c
    conditions: list[ColumnElement[bool]] = []
    if matching.names:
        conditions.append(table.name.in_(sorted(matching.names)))
    if matching.origins:
        conditions.append(table.origin.in_(sorted(matching.origins)))
    if matching.only_anomalies:
        conditions.append(table.anomaly.is_not(None))
    if matching.before_seq is not None:
        conditions.append(table.seq < matching.before_seq)
    if matching.received_between is not None:
        conditions += _received_between(connection, *matching.received_between)
    return conditions


def hook_delays(connection: Connection, since: Micros, until: Micros, limit: int) -> list[Micros]:
    """How long the newest hooks of a time range took from the client to the daemon."""
    table = events.c
    newest_first = select(table.received_at - table.fired_at).order_by(table.seq.desc()).limit(limit)
    query = newest_first.where(table.origin == Origin.HOOK.value, *_received_between(connection, since, until))
    return [int(delay) for delay in connection.execute(query).scalars()]


def states_between(since: Micros, until: Micros) -> Select[Any]:
    """States entered in a time range, and the state of each agent when it begins."""
    table = states.c
    before = select(func.max(table.seq)).where(table.at < since).group_by(table.agent_id)
    wanted = table.at.between(since, until - 1) | table.seq.in_(before)
    return select(states).where(wanted).order_by(table.at, table.seq)


def commands_between(since: Micros, until: Micros) -> Select[Any]:
    """Commands started in a time range."""
    table = commands.c
    return select(table.body).where(table.started_at.between(since, until - 1)).order_by(table.started_at)


def _received_between(connection: Connection, since: Micros, until: Micros) -> list[ColumnElement[bool]]:
    table = events.c
    near = [table.seq >= _first_seq_at(connection, since), table.seq < _first_seq_at(connection, until)]
    return [*near, table.received_at >= since, table.received_at < until]


def _first_seq_at(connection: Connection, time: Micros) -> int:
    """The sequence number of the first event received at a time or later."""
    low, high = 0, int(connection.execute(select(func.max(events.c.seq))).scalar() or 0) + 1
    while low < high:
        middle = (low + high) // 2
        found = _first_event_from(connection, middle)
        if found is None or found[1] >= time:
            high = middle
        else:
            low = found[0] + 1
    return low


def _first_event_from(connection: Connection, seq: int) -> tuple[int, Micros] | None:
    table = events.c
    query = select(table.seq, table.received_at).where(table.seq >= seq).order_by(table.seq).limit(1)
    row = connection.execute(query).first()
    return (row.seq, row.received_at) if row is not None else None
