"""Export and import: the log of an agent as a file, with the same states, commands and turns after the import.

JSON lines. The first line is the header. The second may be the snapshot where a pruned log begins. Every other line is
one event as the journal has it, in order. The last line shows that the file is complete. A payload is included as JSON,
byte for byte; a payload that is not a JSON object, or has line breaks, is included as a string.

Rules
- Events keep their ids, times and agent: importing a file again changes nothing, and a longer file adds what is new.
- Events keep the agent that was assigned when they arrived. Nothing is published.
- Efforts are not exported, and imported events belong to no effort.
- When the last line is imported, an `AgentImported` act records the host that the agent was imported from. Its client
  does not run here, so the agent ended when the file was written, unless it had ended before.
"""

from collections.abc import Iterable, Iterator

import msgspec

from claude_headspace.clients.decode import decode
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.act_events import wrap_act
from claude_headspace.kernel.acts import AgentImported
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import Strategy, identities
from claude_headspace.kernel.effort.snapshot import EFFORTS_SNAPSHOT_ID
from claude_headspace.kernel.envelope import Envelope, Micros, Origin, decode_context, encode_context
from claude_headspace.kernel.replay import replay_event
from claude_headspace.kernel.snapshot import Snapshot
from claude_headspace.ports import LockScope, Reader, Record, StoredEvent, Transaction

FORMAT = "headspace-log"
VERSION = 1
PAGE_SIZE = 1_000
END_PREFIX = b'{"end":'
"""Prefix of the last line."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """The header: the format, and the origin of the log."""

    format: str
    version: int
    host: str
    exported_at: Micros
    agent_id: str
    name: str


class EventLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One event in its line."""

    id: str
    agent_id: str
    name: str
    origin: Origin
    client: str
    host: str
    fired_at: Micros
    received_at: Micros
    strategy: Strategy
    payload: msgspec.Raw
    context: msgspec.Raw = msgspec.Raw(b"{}")
    delivery_id: str | None = None
    anomaly: str | None = None


class FirstLine(msgspec.Struct, frozen=True):
    """The header in its line."""

    header: Header


class SnapshotLine(msgspec.Struct, frozen=True):
    """A snapshot in its line."""

    snapshot: Snapshot


class ImportedLog(msgspec.Struct, frozen=True):
    """The result: the agent, the number of new events, and the number of events that were stored before."""

    agent_id: str
    events: int
    known: int


# --- export -----------------------------------------------------------------------------------------------------------


def log_lines(reader: Reader, agent: Agent, session_id: str | None, host: str, now: Micros) -> Iterator[bytes]:
    """The lines of an agent's log, or of one of its sessions."""
    header = Header(format=FORMAT, version=VERSION, host=host, exported_at=now, agent_id=agent.id, name=agent.name)
    yield msgspec.json.encode(FirstLine(header)) + b"\n"
    if (snapshot := reader.snapshot(agent.id)) is not None:
        yield msgspec.json.encode(SnapshotLine(snapshot)) + b"\n"
    count = 0
    for stored in events_of(reader, agent.id):
        if stored.strategy is Strategy.EFFORT:
            continue
        if session_id is None or decode(stored.envelope).meta.session_id in ("", session_id):
            count += 1
            yield _line(stored)
    yield msgspec.json.encode({"end": count}) + b"\n"


def events_of(reader: Reader, agent_id: str, after: int = 0) -> Iterator[StoredEvent]:
    """All events of an agent, in order."""
    while page := reader.events(agent_id=agent_id, after=after, limit=PAGE_SIZE):
        yield from page
        after = page[-1].seq


def _line(stored: StoredEvent) -> bytes:
    return msgspec.json.encode(_as_line(stored.envelope, stored.agent_id, stored.strategy, stored.anomaly)) + b"\n"


def _as_line(envelope: Envelope, agent_id: str, strategy: Strategy, anomaly: str | None = None) -> EventLine:
    return EventLine(
        id=envelope.id,
        agent_id=agent_id,
        name=envelope.name,
        origin=envelope.origin,
        client=envelope.client,
        host=envelope.host,
        fired_at=envelope.fired_at,
        received_at=envelope.received_at,
        strategy=strategy,
        payload=_encode_payload(envelope.payload),
        context=msgspec.Raw(encode_context(envelope)),
        delivery_id=envelope.delivery_id,
        anomaly=anomaly,
    )


def _encode_payload(payload: bytes) -> msgspec.Raw:
    """Encode a payload so that `_envelope` restores it byte for byte."""
    try:
        msgspec.json.decode(payload)
        fits = payload.startswith(b"{") and b"\n" not in payload and b"\r" not in payload
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        fits = False
    return msgspec.Raw(payload if fits else msgspec.json.encode(payload.decode("utf-8", "replace")))


# --- import -----------------------------------------------------------------------------------------------------------


def _line_error(number: int, why: str) -> BadRequest:
    return BadRequest(
        "bad_log", f"Line {number} cannot be imported: {why}.", "Use a file written by `headspace export`."
    )


def read_header(line: bytes) -> Header:
    """Parse the first line."""
    try:
        header = msgspec.json.decode(line, type=FirstLine).header
    except (msgspec.DecodeError, UnicodeError) as error:
        raise _line_error(1, "it is not the header of an exported log") from error
    if not header.agent_id or header.agent_id == EFFORTS_SNAPSHOT_ID:
        raise _line_error(1, "the header has no agent id")
    if (header.format, header.version) != (FORMAT, VERSION):
        raise BadRequest(
            "bad_log",
            f"The file has the format {header.format[:40]} {header.version}.",
            f"This version of Headspace reads {FORMAT} {VERSION}.",
        )
    return header


def import_lines(
    transaction: Transaction, header: Header, lines: Iterable[bytes], first: int, new_id: str, now: Micros
) -> ImportedLog:
    """Import lines, in one transaction. `first` is the number of the first line, for error messages."""
    snapshot, events, is_last = _parse(header, lines, first)
    import_act = _make_import_act(header, new_id, now)
    transaction.lock(_lock_scope(header, events, import_act))
    stored_ids = transaction.stored_event_ids(header.agent_id, [line.id for line in events])
    delivered = transaction.find_deliveries([line.delivery_id for line in events if line.delivery_id])
    fresh = [line for line in events if line.id not in stored_ids and line.delivery_id not in delivered]
    agent = transaction.agents_by_id([header.agent_id]).get(header.agent_id)
    restored = snapshot if agent is None else None
    if restored is not None:
        transaction.restore(restored)
        agent = restored.agent
    records = list(_replay_lines(agent, fresh))
    if is_last and (fresh or restored) and not transaction.find_deliveries([import_act.delivery_id or ""]):
        records += _replay_lines(
            _last_agent(records) or agent, [_as_line(import_act, header.agent_id, Strategy.ADDRESSED)]
        )
    if records:
        transaction.write(records)
    return ImportedLog(header.agent_id, len(fresh), len(events) - len(fresh))


def _parse(header: Header, lines: Iterable[bytes], first: int) -> tuple[Snapshot | None, list[EventLine], bool]:
    """Parse lines: the snapshot if there is one, the events, and whether the file ends with them."""
    snapshot, is_last = None, False
    events: dict[str, EventLine] = {}
    for number, line in enumerate(lines, first):
        if line.startswith(END_PREFIX):
            is_last = True
            continue
        try:
            if line.startswith(b'{"snapshot":'):
                snapshot = msgspec.json.decode(line, type=SnapshotLine).snapshot
                owner = snapshot.agent.id
            else:
                event = msgspec.json.decode(line, type=EventLine)
                decode_context(bytes(event.context))
                owner = event.agent_id
                if event.strategy is not Strategy.EFFORT:
                    events[event.id] = event
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise _line_error(number, f"{error}") from error
        if owner != header.agent_id:
            raise _line_error(number, "its agent is not the agent in the header")
    return snapshot, list(events.values()), is_last


def _lock_scope(header: Header, lines: Iterable[EventLine], import_act: Envelope) -> LockScope:
    """Everything that the import reads or changes. The delivery id of the act prevents two imports at once."""
    identity_groups = [identities(envelope, decode(envelope)).values() for envelope in map(_envelope, lines)]
    return LockScope(
        delivery_ids=frozenset(
            {line.delivery_id for line in lines if line.delivery_id} | {import_act.delivery_id or ""}
        ),
        identities=frozenset(identity for group in identity_groups for identity in group),
        agent_ids=frozenset({header.agent_id}),
    )


def _replay_lines(agent: Agent | None, lines: Iterable[EventLine]) -> Iterator[Record]:
    for line in lines:
        envelope = _envelope(line)
        event = decode(envelope)
        replayed = replay_event(agent, line.agent_id, envelope, event, line.strategy, line.anomaly)
        agent = replayed.change.agent if replayed else agent
        yield Record(
            envelope=envelope,
            agent_id=line.agent_id,
            strategy=line.strategy,
            anomaly=line.anomaly,
            change=replayed.change if replayed else None,
            claims=replayed.claims if replayed else (),
            publish=(),
            event=event,
        )


def _last_agent(records: list[Record]) -> Agent | None:
    return next((record.change.agent for record in reversed(records) if record.change), None)


def _envelope(line: EventLine) -> Envelope:
    payload = bytes(line.payload)
    observations, decisions = decode_context(bytes(line.context))
    return Envelope(
        id=line.id,
        name=line.name,
        origin=line.origin,
        client=line.client,
        host=line.host,
        fired_at=line.fired_at,
        received_at=line.received_at,
        payload=msgspec.json.decode(payload, type=str).encode() if payload.startswith(b'"') else payload,
        observations=observations,
        decisions=msgspec.structs.replace(decisions, effort_id=None),
        delivery_id=line.delivery_id,
    )


def _make_import_act(header: Header, new_id: str, now: Micros) -> Envelope:
    """Make the act that records the import and its host, once per file."""
    act = AgentImported(host=header.host, exported_at=header.exported_at)
    delivery_id = f"import:{header.exported_at}:{header.agent_id}:{header.host}"[:200]
    at = min(header.exported_at, now)
    wrapped = wrap_act(act, new_id, header.host, at, delivery_id=delivery_id)
    return msgspec.structs.replace(wrapped, received_at=now)
