"""What can be found: prompts, answers, what tools were given and what they gave back.

A document has no text of its own: a turn's words stand in the turn, a tool's in the event. So nothing is stored
twice, and `text_of` reads again what `documents` had indexed.

Rules
- An utterance is one document, as it is one turn, whoever told it.
- Only the strings of an input or result count. What is too long is found by its beginning and its end, where a
  test run tells what failed.
- Whoever changes what is indexed raises `KERNEL_VERSION`: an index that another version made is made anew.
- It follows from the event and the agent after it, so a replay gives the same documents.
"""

from collections.abc import Iterator, Sequence

import msgspec

from claude_headspace.kernel.envelope import Envelope, Micros
from claude_headspace.kernel.evolve.change import Change
from claude_headspace.kernel.reading import tolerant
from claude_headspace.kernel.search_terms import ends
from claude_headspace.kernel.state_machine import Actor
from claude_headspace.kernel.transcript import LINE, blocks_of, message_of
from claude_headspace.kernel.wire import RAW_NULL
from claude_headspace.kernel.wire_transcript import WireLine

KINDS = ("prompt", "answer", "tool_input", "tool_result")

LONGEST_TURN = 64 * 1024
LONGEST_CALL = 4 * 1024
"""Characters of a turn, and of a call's input or result."""

SPREAD = 16
"""A document's number is its event's number times this, and its place in the event."""
FIRST_CALL = 8
MOST_NESTED = 64
PACKING = ("type", "text")
"""A member that only says that its neighbour is a text."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """Something that can be found, and where it belongs."""

    id: int
    seq: int
    agent_id: str
    project_id: str
    kind: str
    actor: str
    tool: str | None
    at: Micros
    command_id: str | None
    turn_id: str | None


class CallText(msgspec.Struct, frozen=True):
    """What a tool was given, or gave back."""

    kind: str
    tool: str | None
    text: str


class WireCall(msgspec.Struct):
    """The part of a tool hook that is searched."""

    tool_name: str = ""
    tool_input: msgspec.Raw = RAW_NULL
    tool_response: msgspec.Raw = RAW_NULL
    error: str = ""


def documents(seq: int, envelope: Envelope, change: Change) -> list[tuple[Document, str]]:
    """What one event adds to what can be found, each with its text."""
    agent = change.agent
    found: list[tuple[Document, str]] = []
    for place, turn in enumerate(change.turns[:FIRST_CALL]):
        kind = "prompt" if turn.actor is Actor.USER else "answer"
        document = Document(
            id=seq * SPREAD + place,
            seq=seq,
            agent_id=turn.agent_id,
            project_id=turn.project_id,
            kind=kind,
            actor=turn.actor.value,
            tool=None,
            at=turn.at,
            command_id=turn.command_id,
            turn_id=turn.id,
        )
        found.append((document, turn_text(turn.text)))
    for place, call in enumerate(call_texts(envelope)):
        document = Document(
            id=seq * SPREAD + FIRST_CALL + place,
            seq=seq,
            agent_id=agent.id,
            project_id=agent.project.id,
            kind=call.kind,
            actor=Actor.AGENT.value,
            tool=call.tool,
            at=envelope.fired_at,
            command_id=agent.command.id if agent.command else None,
            turn_id=None,
        )
        found.append((document, call.text))
    return found


def turn_text(text: str) -> str:
    """What a turn is found by."""
    return ends(text, LONGEST_TURN)


def call_text(document_id: int, envelope: Envelope) -> str:
    """The text of a call's document, read again from its event."""
    place, texts = document_id % SPREAD - FIRST_CALL, call_texts(envelope)
    return texts[place].text if 0 <= place < len(texts) else ""


def call_texts(envelope: Envelope) -> list[CallText]:
    """What the calls of an event say, those that say nothing left out."""
    if envelope.name in HOOKS:
        kind, field = HOOKS[envelope.name]
        call = tolerant(envelope.payload, WireCall)[0]
        value = getattr(call, field)
        text = ends(value, LONGEST_CALL) if isinstance(value, str) else strings_of(value)
        told = [CallText(kind, call.tool_name or None, text)]
    elif envelope.name == LINE and (b'"tool_use"' in envelope.payload or b'"tool_result"' in envelope.payload):
        told = list(_in_line(envelope.payload))
    else:
        return []
    return [call for call in told if call.text.strip()][: SPREAD - FIRST_CALL]


HOOKS = {
    "PreToolUse": ("tool_input", "tool_input"),
    "PostToolUse": ("tool_result", "tool_response"),
    "PostToolUseFailure": ("tool_result", "error"),
}
"""The hooks that tell of calls: the kind of document, and the field that holds its text."""


def _in_line(payload: bytes) -> Iterator[CallText]:
    for block in blocks_of(message_of(tolerant(payload, WireLine)[0])):
        if block.type == "tool_use":
            yield CallText("tool_input", block.name or None, strings_of(block.input))
        elif block.type == "tool_result":
            yield CallText("tool_result", None, strings_of(block.content))


def strings_of(raw: msgspec.Raw) -> str:
    """The strings of a JSON value in their order, one below the other, up to the bound."""
    try:
        return ends("\n".join(_strings(msgspec.json.decode(raw))), LONGEST_CALL)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return ""


def _strings(value: object, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < MOST_NESTED and isinstance(value, dict | list):
        members: Sequence[object] = (
            value if isinstance(value, list) else [m for n, m in value.items() if (n, m) != PACKING]
        )
        for member in members:
            yield from _strings(member, depth + 1)
