"""The documents of the search index: prompts, answers, tool inputs and tool results. Pure.

A document does not contain its text: the text of a turn is stored in the turn, that of a tool call in the event
(`call_text` extracts it again). So nothing is stored twice.

Rules
- Each turn is one document, no matter how many sources reported it.
- Of a tool input or result only the strings are indexed. Of a long text the beginning and the end are indexed: the end
  of a test run shows what failed.
- A change of what is indexed requires a new `KERNEL_VERSION`: an index of another version is rebuilt.
- Documents follow from the event and the agent after it, so a replay gives the same documents.
"""

import msgspec

from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.evolve.change import Change
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.search_terms import MAX_WORD_CHARACTERS
from claude_headspace.kernel.state_machine import Actor
from claude_headspace.kernel.text import strings_in

KINDS = ("prompt", "answer", "tool_input", "tool_result")

MAX_TURN_CHARACTERS = 64 * 1024
MAX_CALL_CHARACTERS = 4 * 1024
"""Indexed characters of a turn, and of a tool input or result."""

GAP = "\n⋯\n"
"""Between the two ends of a long text. It counts as a word, so that no phrase matches across it."""

IDS_PER_EVENT = 16
"""The id of a document is the `seq` of its event times this, plus its position in the event."""
FIRST_CALL_POSITION = 8
"""Turns have the positions before this one, tool calls those from it on."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of the search index, without its text."""

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
    """The text of a tool input or a tool result."""

    kind: str
    tool: str | None
    text: str


def event_documents(seq: int, event: Event, change: Change) -> list[tuple[Document, str]]:
    """The documents of one event, each with its text."""
    agent = change.agent
    documents: list[tuple[Document, str]] = []
    for position, turn in enumerate(change.turns[:FIRST_CALL_POSITION]):
        kind = "prompt" if turn.actor is Actor.USER else "answer"
        document = Document(
            id=seq * IDS_PER_EVENT + position,
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
        documents.append((document, turn_text(turn.text)))
    for position, call in enumerate(call_texts(event)):
        document = Document(
            id=seq * IDS_PER_EVENT + FIRST_CALL_POSITION + position,
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
        documents.append((document, call.text))
    return documents


def turn_text(text: str) -> str:
    """The indexed text of a turn."""
    return truncate_middle(text, MAX_TURN_CHARACTERS)


def call_text(document_id: int, event: Event) -> str:
    """The text of a tool document, extracted from its event; empty if there is none."""
    index, calls = document_id % IDS_PER_EVENT - FIRST_CALL_POSITION, call_texts(event)
    return calls[index].text if 0 <= index < len(calls) else ""


def call_texts(event: Event) -> list[CallText]:
    """The tool inputs and results of an event, without empty ones."""
    calls = [
        CallText(each.kind, each.tool, truncate_middle("\n".join(strings_in(each.value)), MAX_CALL_CHARACTERS))
        for each in event.texts
    ]
    return [call for call in calls if call.text.strip()][: IDS_PER_EVENT - FIRST_CALL_POSITION]


def truncate_middle(text: str, limit: int) -> str:
    """The beginning and the end of a long text, equal parts, cut between words."""
    if len(text) <= limit:
        return text
    half = (limit - len(GAP)) // 2
    head = _nearest_boundary(text, half, -1)
    tail = _nearest_boundary(text, len(text) - half, 1)
    return text[:head] + GAP + text[tail:]


def _nearest_boundary(text: str, at: int, step: int) -> int:
    """The nearest boundary between words in one direction; `at` if there is none nearby."""
    positions = range(at, at + step * MAX_WORD_CHARACTERS, step)
    return next((position for position in positions if not text[position - 1 : position + 1].isalnum()), at)
