"""The tables, for SQLite and PostgreSQL. The Alembic migrations create exactly these.

`events` is the log; its rows never change. `stream` holds the published messages, so that clients can read them again.
`positions` is how far files were read, `tokens` the named API tokens, `snapshots` the state at the start of a pruned
log. All other tables are projections: they follow from `snapshots` and `events` and can be rebuilt at any time.
Timestamps are microseconds since 1970. Payloads and bodies are JSON texts that the database never parses.
"""

from typing import Any

from sqlalchemy import BigInteger, Column, ColumnElement, Index, Integer, MetaData, SmallInteger, Table, Text

metadata = MetaData(naming_convention={"ix": "ix_%(table_name)s_%(column_0_N_name)s", "pk": "pk_%(table_name)s"})

Timestamp = BigInteger
Sequence = BigInteger().with_variant(Integer, "sqlite")
"""On SQLite an INTEGER primary key is the row id itself and needs no separate index."""


def only(condition: ColumnElement[bool]) -> dict[str, Any]:
    """The options of an index that contains only the rows with a condition."""
    return {"sqlite_where": condition, "postgresql_where": condition}


counters = Table(
    "counters",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("seq", Sequence, primary_key=True, autoincrement=False),
    Column("id", Text, nullable=False),
    Column("delivery_id", Text),
    Column("agent_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("client", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("fired_at", Timestamp, nullable=False),
    Column("received_at", Timestamp, nullable=False),
    Column("strategy", Text, nullable=False),
    Column("context", Text, nullable=False),
    Column("payload", Text, nullable=False),
    Column("anomaly", Text),
)
Index(None, events.c.agent_id, events.c.seq)
Index("ix_events_delivery_id", events.c.delivery_id, unique=True, **only(events.c.delivery_id.is_not(None)))
Index("ix_events_anomaly", events.c.seq, **only(events.c.anomaly.is_not(None)))

stream = Table(
    "stream",
    metadata,
    Column("seq", Sequence, primary_key=True, autoincrement=False),
    Column("type", Text, nullable=False),
    Column("agent_id", Text, nullable=False),
    Column("project_id", Text, nullable=False),
    Column("data", Text, nullable=False),
)

positions = Table(
    "positions",
    metadata,
    Column("reader", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("offset", BigInteger, nullable=False),
    Column("at", Timestamp, nullable=False),
    sqlite_with_rowid=False,
)
positions.info["replaced"] = True

agents = Table(
    "agents",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kernel_version", SmallInteger, nullable=False),
    Column("body", Text, nullable=False),
)
"""Written with every event, so it has no index but its key: each would be another page to write."""

roster = Table(
    "roster",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("project_id", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("ended_at", Timestamp),
    Column("free", SmallInteger, nullable=False, server_default="1"),
)
"""The columns that agents are queried by; written only when one changes. `free`: a new session may continue it."""
Index(None, roster.c.project_id, roster.c.ended_at)
Index(None, roster.c.name)
Index(None, roster.c.ended_at)

identities = Table(
    "identities",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("agent_id", Text, nullable=False),
    sqlite_with_rowid=False,
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("agent_id", Text, nullable=False),
    Column("ordinal", Integer, nullable=False),
    Column("body", Text, nullable=False),
)
Index(None, sessions.c.agent_id, sessions.c.ordinal)

commands = Table(
    "commands",
    metadata,
    Column("id", Text, primary_key=True),
    Column("agent_id", Text, nullable=False),
    Column("started_at", Timestamp, nullable=False),
    Column("body", Text, nullable=False),
)
Index(None, commands.c.agent_id, commands.c.started_at)

turns = Table(
    "turns",
    metadata,
    Column("id", Text, primary_key=True),
    Column("agent_id", Text, nullable=False),
    Column("project_id", Text, nullable=False),
    Column("command_id", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("intent", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("at", Timestamp, nullable=False),
    Column("timestamp_source", Text, nullable=False),
    Column("reason", Text, nullable=False),
)
Index(None, turns.c.agent_id, turns.c.at)
Index(None, turns.c.command_id, turns.c.at)

waits = Table(
    "waits",
    metadata,
    Column("id", Text, primary_key=True),
    Column("agent_id", Text, nullable=False),
    Column("opened_at", Timestamp, nullable=False),
    Column("closed_at", Timestamp),
    Column("body", Text, nullable=False),
)
Index(None, waits.c.agent_id, waits.c.opened_at)
Index("ix_waits_open", waits.c.opened_at, **only(waits.c.closed_at.is_(None)))

states = Table(
    "states",
    metadata,
    Column("seq", Sequence, primary_key=True, autoincrement=False),
    Column("agent_id", Text, nullable=False),
    Column("at", Timestamp, nullable=False),
    Column("state", Text, nullable=False),
    Column("waiting_for", Text),
    Column("source", Text, nullable=False),
    Column("confidence", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("event", Text, nullable=False),
)
Index(None, states.c.agent_id, states.c.seq)
Index(None, states.c.agent_id, states.c.at)

usage = Table(
    "usage",
    metadata,
    Column("id", Text, primary_key=True),
    Column("agent_id", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("at", Timestamp, nullable=False),
    Column("model", Text, nullable=False),
    Column("input_tokens", BigInteger, nullable=False),
    Column("cache_read_tokens", BigInteger, nullable=False),
    Column("cache_write_tokens", BigInteger, nullable=False),
    Column("output_tokens", BigInteger, nullable=False),
    Column("unpriced_tokens", BigInteger, nullable=False),
    Column("cost_micros", BigInteger, nullable=False),
)
"""What agents used, by session, model and quarter of an hour. Costs are in millionths of a dollar."""
Index(None, usage.c.at)
Index(None, usage.c.agent_id, usage.c.at)

tasks = Table(
    "tasks",
    metadata,
    Column("id", Text, primary_key=True),
    Column("host", Text, nullable=False),
    Column("dir_path", Text, nullable=False),
    Column("body", Text, nullable=False),
)

efforts = Table(
    "efforts",
    metadata,
    Column("id", Text, primary_key=True),
    Column("task_id", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("lifecycle", Text, nullable=False),
    Column("started_at", Timestamp, nullable=False),
    Column("body", Text, nullable=False),
)
Index(None, efforts.c.lifecycle, efforts.c.host)
Index(None, efforts.c.started_at)

windows = Table(
    "windows",
    metadata,
    Column("effort_id", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("started_at", Timestamp, nullable=False),
    Column("ended_at", Timestamp),
    Column("body", Text, nullable=False),
)

messages = Table(
    "messages",
    metadata,
    Column("id", Text, primary_key=True),
    Column("effort_id", Text, nullable=False),
    Column("at", Timestamp, nullable=False),
    Column("kind", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("session_id", Text),
)
Index(None, messages.c.effort_id, messages.c.at)

documents = Table(
    "documents",
    metadata,
    Column("id", Sequence, primary_key=True, autoincrement=False),
    Column("seq", BigInteger, nullable=False),
    Column("agent_id", Text, nullable=False),
    Column("project_id", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("tool", Text),
    Column("at", Timestamp, nullable=False),
    Column("command_id", Text),
    Column("turn_id", Text),
)
"""Documents of the full-text search. Their words are in the table `words`, created by `search`."""

snapshots = Table(
    "snapshots",
    metadata,
    Column("agent_id", Text, primary_key=True),
    Column("seq", BigInteger, nullable=False),
    Column("at", Timestamp, nullable=False),
    Column("body", Text, nullable=False),
)
"""The state of each agent at the start of its pruned log."""
snapshots.info["replaced"] = True

tokens = Table(
    "tokens",
    metadata,
    Column("name", Text, primary_key=True),
    Column("digest", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("expires_at", Timestamp),
    Column("last_used_at", Timestamp),
)
"""Named API tokens. Only the hash of a token is stored."""
Index(None, tokens.c.digest, unique=True)

PROJECTIONS = (
    *(agents, roster, identities, sessions, commands, turns, waits, states, usage),
    *(tasks, efforts, windows, messages),
)
"""The tables that are derived from the log."""

for _table in PROJECTIONS:
    _table.info["projection"] = True
