"""An agent's tool calls with input and result, assembled from its hooks.

Events are matched by the id of the call. Start or end may be missing. A call without an end that the agent no longer
has open is `unknown`, never assumed to be done. Long texts are truncated.
"""

from collections.abc import Iterable
from typing import Any

import msgspec

from claude_headspace.clients.decode import decode
from claude_headspace.clients.hooks import hook_names
from claude_headspace.clients.tools import summarize_call
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.text import Time, iso
from claude_headspace.kernel.tools import ToolUse
from claude_headspace.ports import EventFilter, Reader, StoredEvent

MAX_TEXT_LENGTH = 20_000
MAX_DEPTH = 12
EVENTS_PER_CALL = 2
OUTCOMES: dict[HookKind, str | None] = {
    HookKind.BEFORE_TOOL: None,
    HookKind.AFTER_TOOL: "done",
    HookKind.TOOL_FAILED: "failed",
    HookKind.TOOL_REFUSED: "refused",
}
"""The outcome that each hook reports; None: the call started."""


class ToolCallView(msgspec.Struct, frozen=True, kw_only=True):
    """One tool call: running, done, failed, refused or unknown."""

    id: str
    tool: str
    summary: str
    subagent_id: str | None
    subagent_type: str | None
    subagent_description: str | None = None
    started_at: Time
    ended_at: Time | None
    outcome: str
    input: Any
    result: Any


def tool_calls(reader: Reader, agent: Agent, limit: int) -> list[ToolCallView]:
    """The newest tool calls of an agent, the oldest of them first."""
    tool_events = EventFilter(names=hook_names(OUTCOMES))
    events = reader.events(agent_id=agent.id, limit=limit * EVENTS_PER_CALL, matching=tool_events)
    return assemble(events, agent)[-limit:]


def assemble(events: Iterable[StoredEvent], agent: Agent) -> list[ToolCallView]:
    """The tool calls that these events of an agent report."""
    calls = _assemble(events, {call.id for call in agent.calls}).values()
    tasks = {sub.id: sub.description for sub in agent.subagents if sub.description}
    return [msgspec.structs.replace(call, subagent_description=tasks.get(call.subagent_id or "")) for call in calls]


def _assemble(events: Iterable[StoredEvent], running: set[str]) -> dict[str, ToolCallView]:
    calls: dict[str, ToolCallView] = {}
    for stored in events:
        event = decode(stored.envelope)
        if event.tool is not None and event.hook in OUTCOMES:
            key = event.tool.id or f"{event.tool.name}:{stored.seq}"
            unfinished = "running" if key in running else "unknown"
            calls[key] = _merge(calls.get(key), key, event, event.tool, OUTCOMES[event.hook] or unfinished)
    return calls


def _merge(known: ToolCallView | None, key: str, event: Event, tool: ToolUse, outcome: str) -> ToolCallView:
    at, is_start = iso(event.meta.at), event.hook is HookKind.BEFORE_TOOL
    if known is not None and is_start:
        return msgspec.structs.replace(known, started_at=min(known.started_at, at))
    return ToolCallView(
        id=key,
        tool=tool.name,
        summary=summarize_call(tool),
        subagent_id=event.meta.subagent_id,
        subagent_type=event.meta.subagent_type if event.meta.subagent_id else None,
        started_at=known.started_at if known else at,
        ended_at=None if is_start else at,
        outcome=outcome,
        input=truncated(tool.input),
        result=truncated(tool.result),
    )


def truncated(value: Any, depth: int = MAX_DEPTH) -> Any:
    """A JSON value with long texts truncated and nested values below a depth left out."""
    if isinstance(value, str):
        return value if len(value) <= MAX_TEXT_LENGTH else f"{value[:MAX_TEXT_LENGTH]}… ({len(value):,} characters)"
    if isinstance(value, dict | list) and depth == 0:
        return "…"
    if isinstance(value, dict):
        return {name: truncated(part, depth - 1) for name, part in value.items()}
    return [truncated(part, depth - 1) for part in value] if isinstance(value, list) else value
