"""An agent's tool calls with input and result, assembled from its hooks.

Events are matched by the id of the call. Start or end may be missing. A call without an end that the agent no longer
has open is `unknown`, never assumed to be done. Long texts are truncated.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from claude_headspace.clients.claude_code.tools import read_input, summary_of
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.views import Time, iso
from claude_headspace.ports import EventFilter, Reader, StoredEvent

MAX_TEXT_LENGTH = 20_000
MAX_DEPTH = 12
EVENTS_PER_CALL = 2
OUTCOMES = {
    "PreToolUse": None,
    "PostToolUse": "done",
    "PostToolUseFailure": "failed",
    "PermissionDenied": "refused",
}
"""The outcome that each event reports; None: the call started."""


class ToolCallView(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call: running, done, failed, refused or unknown."""

    id: str
    tool: str
    summary: str
    subagent_id: str | None
    subagent_type: str | None
    started_at: Time
    ended_at: Time | None
    outcome: str
    input: Any
    result: Any


class WireToolCall(msgspec.Struct):
    """The fields of a tool hook that are read here."""

    tool_name: str = ""
    tool_use_id: str = ""
    agent_id: str | None = None
    agent_type: str | None = None
    tool_input: Any = None
    tool_response: Any = None
    error: Any = None
    reason: Any = None


def tool_calls(reader: Reader, agent: Agent, limit: int) -> list[ToolCallView]:
    """The newest tool calls of an agent, the oldest of them first."""
    tool_events = EventFilter(names=frozenset(OUTCOMES))
    events = reader.events(agent_id=agent.id, limit=limit * EVENTS_PER_CALL, matching=tool_events)
    running = {call.id for call in agent.calls}
    return list(_assemble(events, running).values())[-limit:]


def _assemble(events: Iterable[StoredEvent], running: set[str]) -> dict[str, ToolCallView]:
    calls: dict[str, ToolCallView] = {}
    for stored in events:
        reported = _decode(stored)
        if reported is None:
            continue
        key = reported.tool_use_id or f"{reported.tool_name}:{stored.seq}"
        calls[key] = _merge(calls.get(key), key, reported, stored, running)
    return calls


def _decode(stored: StoredEvent) -> WireToolCall | None:
    try:
        return msgspec.json.decode(stored.envelope.payload, type=WireToolCall)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _merge(
    known: ToolCallView | None, key: str, reported: WireToolCall, stored: StoredEvent, running: set[str]
) -> ToolCallView:
    at, outcome = iso(stored.envelope.fired_at), OUTCOMES[stored.envelope.name]
    unfinished = "running" if key in running else "unknown"
    results = (reported.error, reported.reason, reported.tool_response)
    if known is not None and outcome is None:
        return msgspec.structs.replace(known, started_at=min(known.started_at, at))
    return ToolCallView(
        id=key,
        tool=reported.tool_name,
        summary=_summary(reported.tool_input),
        subagent_id=reported.agent_id,
        subagent_type=reported.agent_type if reported.agent_id else None,
        started_at=known.started_at if known else at,
        ended_at=at if outcome else None,
        outcome=outcome or unfinished,
        input=truncated(reported.tool_input),
        result=truncated(next((part for part in results if part is not None), None)),
    )


def _summary(tool_input: Any) -> str:
    return summary_of(read_input(tool_input))


def truncated(value: Any, depth: int = MAX_DEPTH) -> Any:
    """A JSON value with long texts truncated and nested values below a depth left out."""
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT_LENGTH else f"{value[:MAX_TEXT_LENGTH]}… ({len(value):,} characters)"
    if isinstance(value, dict | list) and depth == 0:
        return "…"
    if isinstance(value, dict):
        return {name: truncated(part, depth - 1) for name, part in value.items()}
    return [truncated(part, depth - 1) for part in value] if isinstance(value, list) else value
