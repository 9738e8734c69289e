"""Converts domain objects to table rows and back. Nothing else knows which column holds what."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec
from sqlalchemy import Table

from claude_headspace.journal import schema
from claude_headspace.journal.efforts import change_rows, task_row
from claude_headspace.journal.values import Row, body_row, encode_body, replace_nul
from claude_headspace.kernel import KERNEL_VERSION
from claude_headspace.kernel.agent import Agent, Command, Session, Turn, Wait
from claude_headspace.kernel.correlate import Identity, Strategy, is_free
from claude_headspace.kernel.effort.model import Effort, EffortChange
from claude_headspace.kernel.effort.snapshot import EffortsSnapshot
from claude_headspace.kernel.envelope import Envelope, Origin, decode_context, encode_context
from claude_headspace.kernel.evolve.change import Change, TurnPatch
from claude_headspace.kernel.react import Publish
from claude_headspace.kernel.snapshot import Snapshot
from claude_headspace.kernel.state_machine import Actor, Intent
from claude_headspace.ports import Record, StoredEvent, StreamMessage

decode_agent = msgspec.json.Decoder(Agent).decode
decode_command = msgspec.json.Decoder(Command).decode
decode_session = msgspec.json.Decoder(Session).decode
decode_wait = msgspec.json.Decoder(Wait).decode
decode_snapshot = msgspec.json.Decoder(Snapshot).decode


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


def make_stream_message(seq: int, publish: Publish) -> StreamMessage:
    """A stream message with its sequence number."""
    return StreamMessage(seq, publish.type, publish.agent_id, publish.project_id, msgspec.json.encode(publish.data))


def stream_row(message: StreamMessage) -> Row:
    """The row of a stream message."""
    return msgspec.structs.asdict(message) | {"data": message.data.decode()}


def stream_message_from_row(row: Mapping[str, Any]) -> StreamMessage:
    """The stream message of a row."""
    return StreamMessage(**{**row, "data": row["data"].encode()})


def agent_row(agent: Agent) -> Row:
    """The row of an agent: all of it as JSON."""
    return {"id": agent.id, "kernel_version": KERNEL_VERSION, "body": encode_body(agent)}


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


class Projection:
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
        for patch in change.patches:
            self._patch(patch)
        if change.state_changed:
            tables[schema.states][seq] = _state_row(seq, change)

    def add_effort_change(self, change: EffortChange) -> None:
        """Add the changes of one event to an effort."""
        self.efforts[change.effort.id] = change.effort
        for table, key, row in change_rows(change):
            self.tables[table][key] = row

    def add_efforts_snapshot(self, snapshot: EffortsSnapshot) -> None:
        """Add the rows of the efforts at the start of a pruned log."""
        self.tables[schema.tasks].update({task.id: task_row(task) for task in snapshot.tasks})
        for kept in snapshot.efforts:
            self.add_effort_change(kept.to_change())

    def _patch(self, patch: TurnPatch) -> None:
        row = self.tables[schema.turns].get(patch.id)
        if row is None:
            self.patches.append(patch)
        else:
            row.update(patch_values(patch))

    def table_rows(self, stored: Callable[[str], Agent | None]) -> list[tuple[Table, list[Row]]]:
        """The rows to write, by table. A roster row that equals the one of the `stored` agent is left out."""
        tables = self.tables
        for agent in self.agents.values():
            tables[schema.agents][agent.id] = agent_row(agent)
            before, row = stored(agent.id), roster_row(agent)
            if before is None or roster_row(before) != row:
                tables[schema.roster][agent.id] = row
        return [(table, list(rows.values())) for table, rows in tables.items() if rows]


def patch_values(patch: TurnPatch) -> Row:
    """The columns that a correction of a turn changes."""
    corrected = {"command_id": patch.command_id, "at": patch.at, "timestamp_source": patch.timestamp_source}
    return corrected | {"intent": patch.intent.value}
