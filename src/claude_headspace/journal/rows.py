"""The rows of all tables: converts domain objects to rows and back, and inserts rows.

Nothing else knows which column holds what.

Inserts use few statements. SQLAlchemy compiles each statement once; the rows go directly to the driver, many in one
statement. That avoids SQLAlchemy's parameter processing per row. On SQLite it also avoids releasing the interpreter
lock for every row, which the writer would have to win back from other threads (`docs/decisions/0003-one-writer.md`).
PostgreSQL receives one array per column: one statement and one round trip for any number of rows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any, TypeVar

import msgspec
from sqlalchemy import Connection, Dialect, Table, update
from sqlalchemy.dialects import postgresql, sqlite

from claude_headspace.journal import schema
from claude_headspace.kernel import KERNEL_VERSION
from claude_headspace.kernel.agent import Agent, Command, Session, Turn, Wait
from claude_headspace.kernel.correlate import Identity, Strategy, is_free
from claude_headspace.kernel.effort.model import Effort, EffortChange, Task, Window
from claude_headspace.kernel.effort.snapshot import EffortsSnapshot
from claude_headspace.kernel.envelope import Envelope, Origin, decode_context, encode_context
from claude_headspace.kernel.evolve.change import Change, TurnPatch
from claude_headspace.kernel.snapshot import Snapshot
from claude_headspace.kernel.state_machine import Actor, Intent
from claude_headspace.kernel.usage import Bucket, Tokens
from claude_headspace.ports import Record, StoredEvent, StreamMessage

Row = dict[str, Any]
"""The values of a table row, by column name."""

Value = TypeVar("Value")

MICRODOLLARS = 1_000_000
MAX_ROWS_PER_STATEMENT = 256
"""Statements have 2ⁿ rows, so that few different statements are compiled."""

_encode = msgspec.json.Encoder().encode

decode_agent = msgspec.json.Decoder(Agent).decode
decode_command = msgspec.json.Decoder(Command).decode
decode_session = msgspec.json.Decoder(Session).decode
decode_wait = msgspec.json.Decoder(Wait).decode
decode_snapshot = msgspec.json.Decoder(Snapshot).decode
decode_effort = msgspec.json.Decoder(Effort).decode
decode_task = msgspec.json.Decoder(Task).decode
decode_window = msgspec.json.Decoder(Window).decode


def replace_nul(value: Value) -> Value:
    """Replace NUL characters in a text, which PostgreSQL does not accept; other values stay as they are."""
    return value.replace("\0", "\ufffd") if isinstance(value, str) and "\0" in value else value  # type: ignore[return-value]


def body_row(value: msgspec.Struct, *columns: str) -> Row:
    """A row with some fields of a value as columns, and all of it as JSON in `body`. JSON escapes NUL."""
    return {name: replace_nul(getattr(value, name)) for name in columns} | {"body": _encode(value).decode()}


# --- events and the stream --------------------------------------------------------------------------------------------


def event_row(seq: int, record: Record) -> Row:
    """The row of an event."""
    envelope = record.envelope
    return {
        "seq": seq,
        "id": envelope.id,
        "delivery_id": replace_nul(envelope.delivery_id),
        "agent_id": record.agent_id,
        "name": envelope.name,
        "origin": envelope.origin.value,
        "client": envelope.client,
        "host": envelope.host,
        "fired_at": envelope.fired_at,
        "received_at": envelope.received_at,
        "strategy": record.strategy.value,
        "context": encode_context(envelope).decode(),
        "payload": envelope.payload.decode("utf-8", "replace"),
        "anomaly": record.anomaly,
    }


def event_from_row(row: Mapping[str, Any]) -> StoredEvent:
    """The event of a row."""
    observations, decisions = decode_context(row["context"])
    envelope = Envelope(
        id=row["id"],
        delivery_id=row["delivery_id"],
        name=row["name"],
        origin=Origin(row["origin"]),
        client=row["client"],
        host=row["host"],
        fired_at=row["fired_at"],
        received_at=row["received_at"],
        payload=row["payload"].encode(),
        observations=observations,
        decisions=decisions,
    )
    return StoredEvent(
        seq=row["seq"],
        envelope=envelope,
        agent_id=row["agent_id"],
        strategy=Strategy(row["strategy"]),
        anomaly=row["anomaly"],
    )


def stream_message_from_row(row: Mapping[str, Any]) -> StreamMessage:
    """The stream message of a row."""
    return StreamMessage(**{**row, "data": row["data"].encode()})


# --- agents -----------------------------------------------------------------------------------------------------------


def roster_row(agent: Agent) -> Row:
    """The row of the columns that agents are queried by."""
    return {
        "id": agent.id,
        "name": replace_nul(agent.name),
        "project_id": agent.project.id,
        "state": agent.state.value,
        "ended_at": agent.ended_at,
        "free": int(is_free(agent)),
    }


def snapshot_row(snapshot: Snapshot) -> Row:
    """The row of a snapshot: all of it as JSON."""
    return {"agent_id": snapshot.agent.id} | body_row(snapshot, "seq", "at")


def turn_from_row(row: Mapping[str, Any]) -> Turn:
    """The turn of a row."""
    return Turn(**{**row, "actor": Actor(row["actor"]), "intent": Intent(row["intent"])})


def identity_row(identity: Identity, agent_id: str) -> Row:
    """The row that says which agent owns an identity."""
    return {"kind": identity.kind, "key": replace_nul(identity.key), "agent_id": agent_id}


def _session_row(session: Session) -> Row:
    return body_row(session, "id", "agent_id", "ordinal")


def _command_row(command: Command) -> Row:
    return body_row(command, "id", "agent_id", "started_at")


def _wait_row(wait: Wait) -> Row:
    return body_row(wait, "id", "agent_id", "opened_at", "closed_at")


def _usage_row(bucket: Bucket) -> Row:
    tokens = bucket.tokens
    return {
        "id": bucket.id,
        "agent_id": bucket.agent_id,
        "session_id": replace_nul(bucket.session_id),
        "at": bucket.at,
        "model": replace_nul(bucket.model),
        "input_tokens": tokens.input,
        "cache_read_tokens": tokens.cache_read,
        "cache_write_tokens": tokens.cache_write,
        "output_tokens": tokens.output,
        "unpriced_tokens": bucket.unpriced_tokens,
        "cost_micros": round(bucket.cost_usd * MICRODOLLARS),
    }


def bucket_from_row(row: Mapping[str, Any]) -> Bucket:
    """The usage of a row."""
    return Bucket(
        id=row["id"],
        agent_id=row["agent_id"],
        session_id=row["session_id"],
        at=row["at"],
        model=row["model"],
        tokens=Tokens(row["input_tokens"], row["cache_read_tokens"], row["cache_write_tokens"], row["output_tokens"]),
        unpriced_tokens=row["unpriced_tokens"],
        cost_usd=row["cost_micros"] / MICRODOLLARS,
    )


def _turn_row(turn: Turn) -> Row:
    converted = {"actor": turn.actor.value, "intent": turn.intent.value, "text": replace_nul(turn.text)}
    return msgspec.structs.asdict(turn) | converted


def _state_row(seq: int, change: Change) -> Row:
    agent, evidence = change.agent, change.agent.evidence
    return {
        "seq": seq,
        "agent_id": agent.id,
        "at": agent.state_since,
        "state": agent.state.value,
        "waiting_for": agent.waiting_for,
        "source": evidence.source if evidence else "",
        "confidence": evidence.confidence.value if evidence else "",
        "why": replace_nul(evidence.why) if evidence else "",
        "event": change.meta.name,
    }


# --- efforts ----------------------------------------------------------------------------------------------------------


def _task_row(task: Task) -> Row:
    return body_row(task, "id", "host", "dir_path")


def _effort_rows(change: EffortChange) -> Iterable[tuple[Table, Any, Row]]:
    """The rows of a change, each with its table and key."""
    effort = change.effort
    effort_row = body_row(effort, "id", "task_id", "host", "started_at") | {"lifecycle": effort.lifecycle.value}
    yield schema.efforts, effort.id, effort_row
    if change.task is not None:
        yield schema.tasks, change.task.id, _task_row(change.task)
    for window in change.windows:
        key = window.effort_id, window.id
        yield schema.windows, key, body_row(window, "effort_id", "id", "started_at", "ended_at")
    for message in change.messages:
        yield schema.messages, message.id, msgspec.structs.asdict(message) | {"text": replace_nul(message.text)}


# --- projections ------------------------------------------------------------------------------------------------------


class RowChanges:
    """Collects changes and gives the rows to write: the last value of each row."""

    def __init__(self) -> None:
        self.tables: dict[Table, dict[Any, Row]] = {table: {} for table in schema.PROJECTIONS}
        self.agents: dict[str, Agent] = {}
        self.efforts: dict[str, Effort] = {}
        self.patches: list[TurnPatch] = []

    def add_snapshot(self, snapshot: Snapshot) -> None:
        """Add the rows of an agent whose log starts with a snapshot."""
        tables, agent = self.tables, snapshot.agent
        self.agents[agent.id] = agent
        for identity in snapshot.identities:
            tables[schema.identities][identity.kind, identity.key] = identity_row(identity, agent.id)
        tables[schema.sessions].update({key: _session_row(each) for key, each in snapshot.sessions.items()})
        tables[schema.commands].update({key: _command_row(each) for key, each in snapshot.commands.items()})
        tables[schema.turns].update({key: _turn_row(each) for key, each in snapshot.turns.items()})
        tables[schema.waits].update({key: _wait_row(each) for key, each in snapshot.waits.items()})
        tables[schema.usage].update({key: _usage_row(each) for key, each in snapshot.usage.items()})

    def add_change(self, seq: int, change: Change, claims: Iterable[Identity]) -> None:
        """Add the changes of one event."""
        tables = self.tables
        self.agents[change.agent.id] = change.agent
        for identity in claims:
            tables[schema.identities][identity.kind, identity.key] = identity_row(identity, change.agent.id)
        for session in change.sessions:
            tables[schema.sessions][session.id] = _session_row(session)
        for command in change.commands.values():
            tables[schema.commands][command.id] = _command_row(command)
        for turn in change.turns:
            tables[schema.turns][turn.id] = _turn_row(turn)
        for wait in change.waits.values():
            tables[schema.waits][wait.id] = _wait_row(wait)
        for bucket in change.usage.values():
            tables[schema.usage][bucket.id] = _usage_row(bucket)
        for patch in change.patches:
            self._patch(patch)
        if change.state_changed:
            tables[schema.states][seq] = _state_row(seq, change)

    def add_effort_change(self, change: EffortChange) -> None:
        """Add the changes of one event to an effort."""
        self.efforts[change.effort.id] = change.effort
        for table, key, row in _effort_rows(change):
            self.tables[table][key] = row

    def add_efforts_snapshot(self, snapshot: EffortsSnapshot) -> None:
        """Add the rows of the efforts at the start of a pruned log."""
        self.tables[schema.tasks].update({task.id: _task_row(task) for task in snapshot.tasks})
        for kept in snapshot.efforts:
            self.add_effort_change(kept.to_change())

    def _patch(self, patch: TurnPatch) -> None:
        row = self.tables[schema.turns].get(patch.id)
        if row is None:
            self.patches.append(patch)
        else:
            row.update(_patched_columns(patch))

    def add_agent_rows(self, stored_roster: Mapping[str, Row]) -> None:
        """Add the rows of the agents. A roster row that equals the stored one is left out."""
        for agent in self.agents.values():
            self.tables[schema.agents][agent.id] = body_row(agent, "id") | {"kernel_version": KERNEL_VERSION}
            row = roster_row(agent)
            if stored_roster.get(agent.id) != row:
                self.tables[schema.roster][agent.id] = row

    def write(self, connection: Connection, stored_roster: Mapping[str, Row]) -> None:
        """Write the rows; `stored_roster` has the roster rows that are known to be stored, by agent."""
        self.add_agent_rows(stored_roster)
        for table, values in self.tables.items():
            if values:
                insert_rows(connection, table, list(values.values()))
        for patch in self.patches:
            turns = schema.turns
            connection.execute(update(turns).where(turns.c.id == patch.id).values(_patched_columns(patch)))


def _patched_columns(patch: TurnPatch) -> Row:
    """The columns that a correction of a turn changes."""
    corrected = {"command_id": patch.command_id, "at": patch.at, "timestamp_source": patch.timestamp_source}
    return corrected | {"intent": patch.intent.value}


# --- inserting --------------------------------------------------------------------------------------------------------


def insert_rows(connection: Connection, table: Table, values: Sequence[Row]) -> None:
    """Insert rows. In projections and other replaceable tables a row replaces the one with the same key."""
    if not values:
        return
    cursor, start = connection.connection.cursor(), 0
    if connection.dialect.name != "sqlite":
        statement, names = _insert_arrays(table)
        cursor.execute(statement, [[replace_nul(row[name]) for row in values] for name in names])
        return
    for size in _sizes(len(values)):
        statement, arrange = _insert_values(connection.dialect, table, size)
        cursor.execute(statement, tuple(chain.from_iterable(map(arrange, values[start : start + size]))))
        start += size


@lru_cache
def _sizes(count: int) -> list[int]:
    """A number as a sum of powers of two: 300 → 256, 32, 8, 4."""
    powers = [1 << bit for bit in reversed(range(MAX_ROWS_PER_STATEMENT.bit_length() - 1))]
    return [MAX_ROWS_PER_STATEMENT] * (count // MAX_ROWS_PER_STATEMENT) + [size for size in powers if count & size]


@cache
def _insert_values(dialect: Dialect, table: Table, size: int) -> tuple[str, Callable[[Row], tuple[Any, ...]]]:
    """The statement for `size` rows, and a function that gives the values of a row in its order."""
    insert = sqlite.insert(table)
    names = [column.name for column in table.c]
    statement: Any = insert.values([dict.fromkeys(names)] * size) if size > 1 else insert
    if _is_replaced(table):
        others = {column.name: insert.excluded[column.name] for column in table.c if not column.primary_key}
        statement = statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=others)
    return str(statement.compile(dialect=dialect, column_keys=names)), itemgetter(*names)


@cache
def _insert_arrays(table: Table) -> tuple[str, list[str]]:
    """The statement for any number of rows, and its columns in order."""
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    quoted = {each.name: dialect.identifier_preparer.quote(each.name) for each in table.c}
    arrays = ", ".join(f"%s::{each.type.compile(dialect)}[]" for each in table.c)
    columns = ", ".join(quoted.values())
    statement = f"INSERT INTO {table.name} ({columns}) SELECT * FROM unnest({arrays})"  # noqa: S608  # constant names
    if _is_replaced(table):
        keys = ", ".join(quoted[each.name] for each in table.primary_key)
        others = [quoted[each.name] for each in table.c if not each.primary_key]
        statement += f" ON CONFLICT ({keys}) DO UPDATE SET {', '.join(f'{name}=excluded.{name}' for name in others)}"
    return statement, list(quoted)


def _is_replaced(table: Table) -> bool:
    return bool(table.info.get("projection") or table.info.get("replaced"))
