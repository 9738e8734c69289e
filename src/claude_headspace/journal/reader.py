"""The reading side of the journal on SQL. Its connections see committed batches only.

The log has no index by time, because every insert would pay for it. Sequence numbers are in order of arrival, so the
first event of a time range is found by binary search.
"""

import json
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Executable, Select, func, or_, select, union_all

from claude_headspace.journal import rows, schema
from claude_headspace.journal.dialects import Dialect, translate_errors
from claude_headspace.journal.rows import Row, replace_nul
from claude_headspace.kernel.agent import Agent, Command, Session, Turn, Wait
from claude_headspace.kernel.effort.model import Effort, Lifecycle, Message, Task, Window
from claude_headspace.kernel.envelope import Micros, Origin
from claude_headspace.kernel.hooks import PROBE
from claude_headspace.kernel.usage import Bucket
from claude_headspace.ports import (
    ALL_EVENTS,
    EventFilter,
    JournalCounts,
    Position,
    StateRow,
    StoredEvent,
    StreamMessage,
)

SEQUENCE_COUNTER = "journal"

IS_ACTIVE = schema.efforts.c.lifecycle == Lifecycle.ACTIVE.value

AGENT_BODIES = select(schema.agents.c.body).join(schema.roster, schema.roster.c.id == schema.agents.c.id)
"""Agents, to be filtered by columns of the roster."""


class SqlReader:
    """The queries of `ports.Reader`, except search."""

    def __init__(self, engine: Engine, dialect: Dialect) -> None:
        self._engine = engine
        self._dialect = dialect

    def agents(self, *, ended_after: Micros | None = None) -> list[Agent]:
        table = schema.roster.c
        running = table.ended_at.is_(None)
        return self._agents(
            AGENT_BODIES.where(running if ended_after is None else or_(running, table.ended_at > ended_after))
        )

    def agent(self, agent_id: str) -> Agent | None:
        found = self._agents(select(schema.agents.c.body).where(schema.agents.c.id == agent_id))
        return found[0] if found else None

    def agents_by_name(self, name: str) -> list[Agent]:
        table = schema.roster.c
        query = (
            AGENT_BODIES.where(table.name == name)
            .order_by(table.ended_at.is_not(None), table.ended_at.desc())
            .limit(10)
        )
        return sorted(self._agents(query), key=lambda agent: (agent.ended_at is not None, -agent.last_active_at))

    def agents_by_id_prefix(self, prefix: str) -> list[Agent]:
        table = schema.agents.c
        return self._agents(select(table.body).where(table.id.startswith(prefix, autoescape=True)).limit(10))

    def agent_by_session(self, session_id: str) -> Agent | None:
        return self._owner("session", session_id)

    def agent_by_wrapper(self, wrapper_id: str) -> Agent | None:
        return self._owner("headspace", wrapper_id)

    def _owner(self, kind: str, key: str) -> Agent | None:
        table = schema.identities.c
        owner = select(table.agent_id).where(table.kind == kind, table.key == replace_nul(key))
        found = self._agents(select(schema.agents.c.body).where(schema.agents.c.id.in_(owner)))
        return found[0] if found else None

    def turns(self, *, agent_id: str | None = None, command_id: str | None = None, limit: int = 100) -> list[Turn]:
        table = schema.turns.c
        query = select(schema.turns).order_by(table.at.desc(), table.id.desc()).limit(limit)
        if agent_id is not None:
            query = query.where(table.agent_id == agent_id)
        if command_id is not None:
            query = query.where(table.command_id == command_id)
        return [rows.turn_from_row(row) for row in reversed(self._rows(query))]

    def turn(self, turn_id: str) -> Turn | None:
        found = self._rows(select(schema.turns).where(schema.turns.c.id == replace_nul(turn_id)))
        return rows.turn_from_row(found[0]) if found else None

    def turns_between(
        self, agent_id: str, since: Micros | None, until: Micros | None, limit: int, *, newest: bool
    ) -> list[Turn]:
        table = schema.turns.c
        query = select(schema.turns).where(table.agent_id == agent_id).limit(limit)
        if since is not None:
            query = query.where(table.at >= since)
        if until is not None:
            query = query.where(table.at < until)
        order = (table.at.desc(), table.id.desc()) if newest else (table.at, table.id)
        found = self._rows(query.order_by(*order))
        return [rows.turn_from_row(row) for row in (reversed(found) if newest else found)]

    def commands(self, agent_id: str, limit: int = 100) -> list[Command]:
        table = schema.commands.c
        query = select(table.body).where(table.agent_id == agent_id).order_by(table.started_at.desc()).limit(limit)
        return [rows.decode_command(row["body"]) for row in reversed(self._rows(query))]

    def command(self, command_id: str) -> Command | None:
        found = self._rows(select(schema.commands.c.body).where(schema.commands.c.id == command_id))
        return rows.decode_command(found[0]["body"]) if found else None

    def sessions(self, agent_id: str) -> list[Session]:
        table = schema.sessions.c
        query = select(table.body).where(table.agent_id == agent_id).order_by(table.ordinal)
        return [rows.decode_session(row["body"]) for row in self._rows(query)]

    def waits(self, *, agent_id: str | None = None, only_open: bool = True) -> list[Wait]:
        table = schema.waits.c
        query = select(table.body).order_by(table.opened_at)
        if only_open:
            query = query.where(table.closed_at.is_(None))
        if agent_id is not None:
            query = query.where(table.agent_id == agent_id)
        return [rows.decode_wait(row["body"]) for row in self._rows(query.limit(1_000))]

    def wait(self, wait_id: str) -> Wait | None:
        found = self._rows(select(schema.waits.c.body).where(schema.waits.c.id == wait_id))
        return rows.decode_wait(found[0]["body"]) if found else None

    def events(
        self,
        *,
        agent_id: str | None = None,
        after: int | None = None,
        limit: int = 100,
        matching: EventFilter = ALL_EVENTS,
    ) -> list[StoredEvent]:
        query, newest_first = event_query(agent_id, after, limit)
        with translate_errors(self._dialect), self._engine.connect() as connection:
            query = query.where(*_event_conditions(connection, matching))
            found = [dict(row) for row in connection.execute(query).mappings()]
        return [rows.event_from_row(row) for row in (reversed(found) if newest_first else found)]

    def event(self, agent_id: str, event_id: str) -> StoredEvent | None:
        table = schema.events.c
        query = select(schema.events).where(table.agent_id == agent_id, table.id == event_id)
        found = self._rows(query.order_by(table.seq.desc()).limit(1))
        return rows.event_from_row(found[0]) if found else None

    def event_by_delivery(self, delivery_id: str) -> StoredEvent | None:
        found = self._rows(select(schema.events).where(schema.events.c.delivery_id == delivery_id))
        return rows.event_from_row(found[0]) if found else None

    def log_range(
        self, agent_id: str, since: Micros | None, until: Micros | None, margin: int
    ) -> tuple[int | None, int | None]:
        with translate_errors(self._dialect), self._engine.connect() as connection:
            first = _agent_seq_at(connection, agent_id, since) if since is not None else None
            after = _agent_seq_at(connection, agent_id, until) if until is not None else None
            return (
                _neighbour(connection, agent_id, first, -margin) if first is not None else None,
                _neighbour(connection, agent_id, after, margin) if after is not None else None,
            )

    def hook_delays(self, since: Micros, until: Micros, limit: int) -> list[Micros]:
        table = schema.events.c
        newest_first = select(table.received_at - table.fired_at).order_by(table.seq.desc()).limit(limit)
        with translate_errors(self._dialect), self._engine.connect() as connection:
            in_range = _received_between(connection, since, until)
            query = newest_first.where(table.origin == Origin.HOOK.value, *in_range)
            return [int(delay) for delay in connection.execute(query).scalars()]

    def states_between(self, since: Micros, until: Micros) -> list[StateRow]:
        table, earlier = schema.states.c, schema.states.alias("earlier").c
        newest = select(earlier.seq).where(earlier.agent_id == schema.roster.c.id, earlier.at < since)
        newest = newest.order_by(earlier.at.desc(), earlier.seq.desc()).limit(1)
        began = select(newest.scalar_subquery()).where(_present(since))
        entered = select(schema.states).where(_is_of_present_agent(table.agent_id, since))
        both = union_all(
            select(schema.states).where(table.seq.in_(began)), entered.where(table.at.between(since, until - 1))
        )
        return [StateRow(**row) for row in self._rows(both.order_by("at", "seq"))]

    def commands_between(self, since: Micros, until: Micros) -> list[Command]:
        table = schema.commands.c
        started = select(table.body).where(_is_of_present_agent(table.agent_id, since))
        query = started.where(table.started_at.between(since, until - 1)).order_by(table.started_at)
        return [rows.decode_command(row["body"]) for row in self._rows(query)]

    def usage_between(self, since: Micros | None, until: Micros | None, agent_id: str | None = None) -> list[Bucket]:
        table = schema.usage.c
        query = select(schema.usage).order_by(table.at, table.id)
        if since is not None:
            query = query.where(table.at >= since)
        if until is not None:
            query = query.where(table.at < until)
        if agent_id is not None:
            query = query.where(table.agent_id == agent_id)
        return [rows.bucket_from_row(row) for row in self._rows(query)]

    def states(self, agent_id: str, limit: int = 50) -> list[StateRow]:
        table = schema.states.c
        query = select(schema.states).where(table.agent_id == agent_id).order_by(table.seq.desc()).limit(limit)
        return [StateRow(**row) for row in reversed(self._rows(query))]

    def stream(self, after: int, limit: int) -> list[StreamMessage]:
        table = schema.stream.c
        query = select(schema.stream).where(table.seq > after).order_by(table.seq).limit(limit)
        return [rows.stream_message_from_row(row) for row in self._rows(query)]

    def stream_bounds(self) -> tuple[int, int]:
        oldest, newest = (self._scalar(select(edge(schema.stream.c.seq))) for edge in (func.min, func.max))
        return oldest or 0, newest or 0

    def last_seq(self) -> int:
        counter = schema.counters.c
        return self._scalar(select(counter.value).where(counter.name == SEQUENCE_COUNTER)) or 0

    def last_hook_at(self, host: str) -> Micros | None:
        table = schema.events.c
        ours = select(table.received_at).where(table.origin == Origin.HOOK.value, table.host == host)
        ours = ours.where(table.name != PROBE)
        return self._scalar(ours.order_by(table.seq.desc()).limit(1))

    def efforts(self, *, only_active: bool = True, limit: int = 200) -> list[Effort]:
        query = select(schema.efforts.c.body).order_by(schema.efforts.c.started_at.desc()).limit(limit)
        return [rows.decode_effort(row["body"]) for row in self._rows(query.where(IS_ACTIVE) if only_active else query)]

    def effort(self, effort_id: str) -> Effort | None:
        found = self._rows(select(schema.efforts.c.body).where(schema.efforts.c.id == effort_id))
        return rows.decode_effort(found[0]["body"]) if found else None

    def tasks(self, limit: int = 200) -> list[Task]:
        return [rows.decode_task(row["body"]) for row in self._rows(select(schema.tasks.c.body).limit(limit))]

    def effort_windows(self, effort_id: str) -> list[Window]:
        table = schema.windows.c
        query = select(table.body).where(table.effort_id == effort_id).order_by(table.started_at, table.id)
        return [rows.decode_window(row["body"]) for row in self._rows(query)]

    def effort_messages(self, effort_id: str, limit: int = 100) -> list[Message]:
        table = schema.messages.c
        query = select(schema.messages).where(table.effort_id == effort_id)
        found = self._rows(query.order_by(table.at.desc(), table.id.desc()).limit(limit))
        return [Message(**row) for row in reversed(found)]

    def counts(self) -> JournalCounts:
        by_state = select(schema.roster.c.state, func.count().label("agents")).group_by(schema.roster.c.state)
        events = schema.events.c
        odd = select(events.client, func.count().label("events")).where(events.anomaly.is_not(None))
        anomalies = {row["client"]: row["events"] for row in self._rows(odd.group_by(events.client))}
        return JournalCounts(
            events=self._scalar(select(func.count()).select_from(schema.events)) or 0,
            agents=self._scalar(select(func.count()).select_from(schema.roster)) or 0,
            anomalies=sum(anomalies.values()),
            anomalies_by_client=anomalies,
            last_seq=self.last_seq(),
            by_state={row["state"]: row["agents"] for row in self._rows(by_state)},
            probes=self._scalar(select(func.count()).where(events.agent_id == "", events.name == PROBE)) or 0,
        )

    def _agents(self, query: Select[Any]) -> list[Agent]:
        return [rows.decode_agent(row["body"]) for row in self._rows(query)]

    def _rows(self, query: Executable) -> list[Row]:
        with translate_errors(self._dialect), self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def _scalar(self, query: Select[Any]) -> int | None:
        with translate_errors(self._dialect), self._engine.connect() as connection:
            found: int | None = connection.execute(query).scalar()
            return found

    def positions(self, reader: str) -> dict[str, Position]:
        table = schema.positions.c
        found = self._rows(select(table.path, table.offset, table.at).where(table.reader == reader))
        return {row["path"]: Position(row["offset"], row["at"]) for row in found}


def _present(since: Micros) -> ColumnElement[bool]:
    """Agents that had not ended at a time. The newest time of an agent is its end."""
    ended_at = schema.roster.c.ended_at
    return or_(ended_at.is_(None), ended_at >= since)


def _is_of_present_agent(agent_id: ColumnElement[str], since: Micros) -> ColumnElement[bool]:
    """Whether a row is of an agent that had not ended at a time. Indexes by agent and time find such rows."""
    return agent_id.in_(select(schema.roster.c.id).where(_present(since)))


def event_query(agent_id: str | None, after: int | None, limit: int) -> tuple[Select[Any], bool]:
    """The query for events, and whether it returns the newest first."""
    table = schema.events.c
    query = select(schema.events).limit(limit)
    if agent_id is not None:
        query = query.where(table.agent_id == agent_id)
    if after is None:
        return query.order_by(table.seq.desc()), True
    later = query.where(table.seq > after) if after else query  # SQLite uses one lower bound of an index only
    return later.order_by(table.seq), False


def _event_conditions(connection: Connection, matching: EventFilter) -> list[ColumnElement[bool]]:
    """The SQL conditions of an event filter."""
    table = schema.events.c
    conditions: list[ColumnElement[bool]] = []
    if matching.names:
        conditions.append(table.name.in_(sorted(matching.names)))
    if matching.origins:
        conditions.append(table.origin.in_(sorted(matching.origins)))
    if matching.clients:
        conditions.append(table.client.in_(sorted(matching.clients)))
    if matching.only_anomalies:
        conditions.append(table.anomaly.is_not(None))
    if matching.before_seq is not None:
        conditions.append(table.seq < matching.before_seq)
    if matching.from_seq is not None:
        conditions.append(table.seq >= matching.from_seq)
    if matching.received_between is not None:
        conditions += _received_between(connection, *matching.received_between)
    conditions += [_contains(word) for word in matching.words]
    return conditions


def _contains(word: str) -> ColumnElement[bool]:
    """Whether a word occurs in an event or in the name of its agent. JSON may escape other scripts."""
    table = schema.events.c
    named = select(schema.roster.c.id).where(schema.roster.c.name.icontains(word, autoescape=True))
    texts = {word, *(json.dumps(word, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False))}
    return or_(
        *(column.icontains(word, autoescape=True) for column in (table.name, table.origin, table.anomaly)),
        *(table.payload.icontains(text, autoescape=True) for text in sorted(texts)),
        table.agent_id.in_(named),
    )


def _received_between(connection: Connection, since: Micros, until: Micros) -> list[ColumnElement[bool]]:
    table = schema.events.c
    near = [table.seq >= _first_seq_at(connection, since), table.seq < _first_seq_at(connection, until)]
    return [*near, table.received_at >= since, table.received_at < until]


def _first_seq_at(connection: Connection, time: Micros) -> int:
    """The sequence number of the first event received at a time or later."""
    table = schema.events.c
    return _bisect(connection, select(table.seq, table.received_at.label("at")), time)


def _agent_seq_at(connection: Connection, agent_id: str, time: Micros) -> int:
    """The sequence number of an agent's first event that was sent at a time or later."""
    table = schema.events.c
    query = select(table.seq, table.fired_at.label("at")).where(table.agent_id == agent_id)
    return _bisect(connection, query, time)


def _bisect(connection: Connection, events: Select[Any], time: Micros) -> int:
    """The first sequence number from which these events, whose times ascend, have a time or a later one."""
    table = schema.events.c
    low, high = 0, int(connection.execute(select(func.max(table.seq))).scalar() or 0) + 1
    while low < high:
        middle = (low + high) // 2
        found = connection.execute(events.where(table.seq >= middle).order_by(table.seq).limit(1)).first()
        if found is None or found.at >= time:
            high = middle
        else:
            low = int(found.seq) + 1
    return low


def _neighbour(connection: Connection, agent_id: str, seq: int, distance: int) -> int | None:
    """The sequence number of the event that many events after an agent's position, or before; None if there is none."""
    table = schema.events.c
    query = select(table.seq).where(table.agent_id == agent_id).offset(abs(distance)).limit(1)
    if distance < 0:
        query = query.where(table.seq < seq).order_by(table.seq.desc())
    else:
        query = query.where(table.seq >= seq).order_by(table.seq)
    found: int | None = connection.execute(query).scalar()
    return found
