"""An agent's log as a file: written here, brought in elsewhere, with the same states, commands and turns there.

JSON lines. The first says what it is, a second may be the snapshot where a pruned log begins, every other is one event
as the journal has it, in order, and the last says that it is whole. A payload stands in its line as the JSON that it
is, byte for byte; one that is no JSON, or spans lines, stands as a string.

Rules
- Events keep their ids, times and agent: bringing a file in twice changes nothing, a longer one adds what is new.
- Whose an event is was decided when it arrived: that is not asked again. Nothing is announced.
- Efforts stay where they are: what was done to one is not written, and no event counts for one elsewhere.
- An agent that was brought in says from which host, with the last line of its file. Its client does not run here, so it
  ended when the file was written, if it had not before.
"""

from collections.abc import Iterable, Iterator

import msgspec

from claude_headspace.clients.decode import decode
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.acts import AgentImported, wrap_act
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import Strategy, identities
from claude_headspace.kernel.effort.snapshot import EFFORTS_SNAPSHOT_ID
from claude_headspace.kernel.envelope import Envelope, Micros, Origin, decode_context, encode_context
from claude_headspace.kernel.replay import replay_event
from claude_headspace.kernel.snapshot import Snapshot
from claude_headspace.ports import LockScope, Reader, Record, StoredEvent, Transaction

FORMAT = "headspace-log"
VERSION = 1
PAGE = 1_000
END = b'{"end":'
"""How the last line begins."""


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What the file is, and where it is from."""

    format: str
    version: int
    host: str
    exported_at: Micros
    agent_id: str
    name: str


class LineOfLog(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One event, as it is written."""

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


class BroughtIn(msgspec.Struct, frozen=True):
    """What came of a file: the agent, how many events were new, and how many were there already."""

    agent_id: str
    events: int
    known: int


# --- writing ----------------------------------------------------------------------------------------------------------


def log_lines(reader: Reader, agent: Agent, session_id: str | None, host: str, now: Micros) -> Iterator[bytes]:
    """The log of an agent, or of one of its sessions, line by line."""
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
    """All events of an agent in their order."""
    while page := reader.events(agent_id=agent_id, after=after, limit=PAGE):
        yield from page
        after = page[-1].seq


def _line(stored: StoredEvent) -> bytes:
    return msgspec.json.encode(_as_line(stored.envelope, stored.agent_id, stored.strategy, stored.anomaly)) + b"\n"


def _as_line(envelope: Envelope, agent_id: str, strategy: Strategy, anomaly: str | None = None) -> LineOfLog:
    return LineOfLog(
        id=envelope.id,
        agent_id=agent_id,
        name=envelope.name,
        origin=envelope.origin,
        client=envelope.client,
        host=envelope.host,
        fired_at=envelope.fired_at,
        received_at=envelope.received_at,
        strategy=strategy,
        payload=_written(envelope.payload),
        context=msgspec.Raw(encode_context(envelope)),
        delivery_id=envelope.delivery_id,
        anomaly=anomaly,
    )


def _written(payload: bytes) -> msgspec.Raw:
    """A payload inside its line, so that `_read` gives it back byte for byte."""
    try:
        msgspec.json.decode(payload)
        fits = payload.startswith(b"{") and b"\n" not in payload and b"\r" not in payload
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        fits = False
    return msgspec.Raw(payload if fits else msgspec.json.encode(payload.decode("utf-8", "replace")))


# --- bringing in ------------------------------------------------------------------------------------------------------


def _bad(number: int, why: str) -> BadRequest:
    return BadRequest("bad_log", f"Line {number} cannot be brought in: {why}.", "Use a file of `headspace export`.")


def read_header(line: bytes) -> Header:
    """The first line, if it is one of ours."""
    try:
        header = msgspec.json.decode(line, type=FirstLine).header
    except (msgspec.DecodeError, UnicodeError) as error:
        raise _bad(1, "it is not the beginning of an exported log") from error
    if not header.agent_id or header.agent_id == EFFORTS_SNAPSHOT_ID:
        raise _bad(1, "it names no agent")
    if (header.format, header.version) != (FORMAT, VERSION):
        raise BadRequest(
            "bad_log",
            f"The file has the format {header.format[:40]} {header.version}.",
            f"This version of Headspace reads {FORMAT} {VERSION}.",
        )
    return header


def import_lines(
    transaction: Transaction, header: Header, lines: Iterable[bytes], first: int, new_id: str, now: Micros
) -> BroughtIn:
    """Import lines, in one transaction. `first` is the number of the first line, for error messages."""
    snapshot, events, is_last = _read(header, lines, first)
    mark = _mark(header, new_id, now)
    transaction.lock(_touched(header, events, mark))
    known = transaction.stored_event_ids(header.agent_id, [line.id for line in events])
    delivered = transaction.find_deliveries([line.delivery_id for line in events if line.delivery_id])
    fresh = [line for line in events if line.id not in known and line.delivery_id not in delivered]
    agent = transaction.agents_by_id([header.agent_id]).get(header.agent_id)
    restored = snapshot if agent is None else None
    if restored is not None:
        transaction.restore(restored)
        agent = restored.agent
    records = list(_retold(agent, fresh))
    if is_last and (fresh or restored) and not transaction.find_deliveries([mark.delivery_id or ""]):
        records += _retold(_last(records) or agent, [_as_line(mark, header.agent_id, Strategy.ADDRESSED)])
    if records:
        transaction.write(records)
    return BroughtIn(header.agent_id, len(fresh), len(events) - len(fresh))


def _read(header: Header, lines: Iterable[bytes], first: int) -> tuple[Snapshot | None, list[LineOfLog], bool]:
    """The snapshot if there is one, the events, and whether the file ends with them."""
    snapshot, is_last = None, False
    events: dict[str, LineOfLog] = {}
    for number, line in enumerate(lines, first):
        if line.startswith(END):
            is_last = True
            continue
        try:
            if line.startswith(b'{"snapshot":'):
                snapshot = msgspec.json.decode(line, type=SnapshotLine).snapshot
                owner = snapshot.agent.id
            else:
                event = msgspec.json.decode(line, type=LineOfLog)
                decode_context(bytes(event.context))
                owner = event.agent_id
                if event.strategy is not Strategy.EFFORT:
                    events[event.id] = event
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise _bad(number, f"{error}") from error
        if owner != header.agent_id:
            raise _bad(number, "it belongs to another agent than the first line says")
    return snapshot, list(events.values()), is_last


def _touched(header: Header, lines: Iterable[LineOfLog], mark: Envelope) -> LockScope:
    """What others must keep away from meanwhile; the mark keeps two from bringing in the same agent at once."""
    known = [identities(envelope, decode(envelope)).values() for envelope in map(_envelope, lines)]
    return LockScope(
        delivery_ids=frozenset({line.delivery_id for line in lines if line.delivery_id} | {mark.delivery_id or ""}),
        identities=frozenset(identity for some in known for identity in some),
        agent_ids=frozenset({header.agent_id}),
    )


def _retold(agent: Agent | None, lines: Iterable[LineOfLog]) -> Iterator[Record]:
    for line in lines:
        envelope = _envelope(line)
        event = decode(envelope)
        retold = replay_event(agent, line.agent_id, envelope, event, line.strategy, line.anomaly)
        agent = retold.change.agent if retold else agent
        yield Record(
            envelope=envelope,
            agent_id=line.agent_id,
            strategy=line.strategy,
            anomaly=line.anomaly,
            change=retold.change if retold else None,
            claims=retold.claims if retold else (),
            publish=(),
            event=event,
        )


def _last(records: list[Record]) -> Agent | None:
    return next((record.change.agent for record in reversed(records) if record.change), None)


def _envelope(line: LineOfLog) -> Envelope:
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


def _mark(header: Header, new_id: str, now: Micros) -> Envelope:
    """Says that the agent was brought in, as it was when the file was written, and from where; once for each file."""
    act = AgentImported(host=header.host, exported_at=header.exported_at)
    delivery_id = f"import:{header.exported_at}:{header.agent_id}:{header.host}"[:200]
    at = min(header.exported_at, now)
    wrapped = wrap_act(act, new_id, header.host, at, delivery_id=delivery_id)
    return msgspec.structs.replace(wrapped, received_at=now)
