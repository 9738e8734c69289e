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

from typing import Any

import msgspec

from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.evolve.change import Change
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.search_terms import truncate_middle
from claude_headspace.kernel.state_machine import Actor
from claude_headspace.kernel.tools import strings_in

KINDS = ("prompt", "answer", "tool_input", "tool_result")

MAX_TURN_CHARACTERS = 64 * 1024
MAX_CALL_CHARACTERS = 4 * 1024
"""Characters of a turn, and of a call's input or result."""

IDS_PER_EVENT = 16
"""A document's number is its event's number times this, and its place in the event."""
FIRST_CALL_POSITION = 8


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


def event_documents(seq: int, event: Event, change: Change) -> list[tuple[Document, str]]:
    """What one event adds to what can be found, each with its text."""
    agent = change.agent
    found: list[tuple[Document, str]] = []
    for place, turn in enumerate(change.turns[:FIRST_CALL_POSITION]):
        kind = "prompt" if turn.actor is Actor.USER else "answer"
        document = Document(
            id=seq * IDS_PER_EVENT + place,
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
    for place, call in enumerate(call_texts(event)):
        document = Document(
            id=seq * IDS_PER_EVENT + FIRST_CALL_POSITION + place,
            seq=seq,
            agent_id=agent.id,
            project_id=agent.project.id,
            kind=call.kind,
            actor=Actor.AGENT.value,
            tool=call.tool,
            at=event.meta.at,
            command_id=agent.command.id if agent.command else None,
            turn_id=None,
        )
        found.append((document, call.text))
    return found


def turn_text(text: str) -> str:
    """What a turn is found by."""
    return truncate_middle(text, MAX_TURN_CHARACTERS)


def call_text(document_id: int, event: Event) -> str:
    """The text of a tool document, read again from its event."""
    place, texts = document_id % IDS_PER_EVENT - FIRST_CALL_POSITION, call_texts(event)
    return texts[place].text if 0 <= place < len(texts) else ""


def call_texts(event: Event) -> list[CallText]:
    """The inputs and results of an event, without empty ones."""
    if not event.texts:
        return []
    found = [CallText(each.kind, each.tool, join_strings(each.value)) for each in event.texts]
    return [call for call in found if call.text.strip()][: IDS_PER_EVENT - FIRST_CALL_POSITION]


def join_strings(value: Any) -> str:
    """The strings of a JSON value, one per line, up to the bound."""
    return truncate_middle("\n".join(strings_in(value)), MAX_CALL_CHARACTERS)
