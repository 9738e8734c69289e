"""Decode a message of opencode's database into facts. Pure and total: unknown messages are reported.

A stored line is one message with its texts: `{"session_id", "cwd", "id", "message", "texts"}`. The client's own row is
in `message`. A message with calls that the user rejected also has `rejected`, one with questions `asked`. If the client
knows prices, `session_cost` is what the session and its sub-agents had cost by then.
"""

from collections.abc import Iterator

import msgspec

from claude_headspace.clients.opencode import wire
from claude_headspace.clients.opencode.messages import FEEDBACK
from claude_headspace.clients.opencode.questions import questions_answered, questions_asked
from claude_headspace.clients.opencode.usage import usage_of
from claude_headspace.clients.transcript_line import Line
from claude_headspace.clients.unknown_lines import unknown
from claude_headspace.kernel import facts
from claude_headspace.kernel.envelope import Envelope, Micros
from claude_headspace.kernel.facts import Event, Fact, Meta
from claude_headspace.kernel.text import short
from claude_headspace.kernel.tolerant_json import fit, tolerant

MILLISECOND: Micros = 1_000
ABORTED = "MessageAbortedError"


class WireTime(msgspec.Struct, frozen=True):
    """When a message began and ended, in milliseconds since 1970."""

    created: int | None = None
    completed: int | None = None


class WireMessage(msgspec.Struct, frozen=True):
    """A message as the database has it."""

    role: str = ""
    time: WireTime = WireTime()
    finish: str | None = None
    error: wire.WireError | None = None
    model_id: str = msgspec.field(default="", name="modelID")
    tokens: wire.WireTokens = wire.WireTokens()
    cost: float | None = None
    summary: object = None
    """True for the summary that a compaction wrote."""


class WireText(msgspec.Struct, frozen=True):
    """A text of a message."""

    text: str = ""


class WireRejectedCall(msgspec.Struct, frozen=True):
    """A call that the user rejected, and what the model was told."""

    id: str | None = None
    error: str = ""


class WireAskedCall(msgspec.Struct, frozen=True):
    """A call that asked the user questions, and the answers."""

    id: str = ""
    questions: list[wire.WireQuestion] = []
    answers: list[list[str]] = []


class WireLine(msgspec.Struct, frozen=True):
    """A message with its session, its texts, its questions, and its calls that the user rejected."""

    session_id: str = ""
    cwd: str | None = None
    id: str = ""
    message: WireMessage = WireMessage()
    session_cost: float | None = None
    texts: list[WireText] = []
    rejected: list[WireRejectedCall] = []
    asked: list[WireAskedCall] = []


def read_line(raw: bytes) -> Line | None:
    """The line, if it has facts or is unknown."""
    shape = tolerant(raw, WireLine)[0]
    found = _facts(shape)
    problem = None if found else _unknown_part(shape)
    if not (found or problem) or not shape.session_id:
        return None
    return Line(_time(shape.message), shape.session_id, shape.id, shape.cwd, found, anomaly=problem)


def decode_line(envelope: Envelope, body: object, anomaly: str | None) -> Event:
    """Decode a line. Never raises."""
    shape, misfit = fit(body, WireLine)
    found = _facts(shape)
    meta = Meta(
        event_id=envelope.id,
        name=envelope.name,
        origin=envelope.origin,
        at=envelope.fired_at,
        received_at=envelope.received_at,
        session_id=shape.session_id,
        cwd=shape.cwd,
    )
    fact = found[0] if len(found) == 1 else facts.Several(found) if found else facts.Observed()
    problem = misfit or anomaly or (None if found else _unknown_part(shape))
    return Event(meta, fact, envelope.observations, envelope.decisions, problem)


def is_message(owner: dict[object, object], key: object) -> bool:
    """Whether a string in a line is a message for people."""
    return key == "text" and len(owner) == 1


def _time(message: WireMessage) -> Micros | None:
    at = message.time.created if message.role == "user" else message.time.completed or message.time.created
    return at * MILLISECOND if at else None


def _unknown_part(line: WireLine) -> str | None:
    """What is not known of a message without facts: its role."""
    role = line.message.role
    return None if role in ("user", "assistant") else unknown("message", role or "without a role")


def _facts(line: WireLine) -> tuple[Fact, ...]:
    message, text = line.message, "\n".join(each.text for each in line.texts if each.text.strip())
    if message.role == "user":
        return (facts.UserWrote(text),) if text else ()
    if message.role != "assistant" or message.summary is True:
        return ()
    is_final = message.finish == "stop"
    found: list[Fact] = [facts.AgentWrote(text, is_final)] if text else []
    found += (fact for call in line.asked for fact in _question_facts(call))
    if message.error is not None:
        found.append(_failure(message.error))
    elif is_final:
        found.append(facts.TurnStopped(text))
    found += (facts.ToolRejected(call.id, call.error.partition(FEEDBACK)[2]) for call in line.rejected)
    return (*found, *_usage(line))


def _question_facts(call: WireAskedCall) -> Iterator[Fact]:
    """The questions, and their answers. A question that the user dismissed is a rejected call, too."""
    if call.questions:
        yield questions_asked(call.questions, call.id, call_id=call.id)
        if call.answers:
            yield questions_answered(call.id, call.answers)


def _failure(error: wire.WireError) -> Fact:
    if error.name == ABORTED:
        return facts.TurnInterrupted()
    return facts.TurnFailed(short(error.name) or "error", error.data.message)


def _usage(line: WireLine) -> Iterator[Fact]:
    message = line.message
    found = usage_of(message.model_id, message.tokens, message.cost, session_cost=line.session_cost)
    if found.added is not None or found.cost_usd is not None:
        yield found
