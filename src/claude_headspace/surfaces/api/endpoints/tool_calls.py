"""An agent's tool calls, with what went in and what came out, put together from its hooks.

A call is known by its id. Its start, its end, or both may be missing: a call without an end that the agent does not
have open any more is `unknown`, never guessed to be done. Very long texts are cut, so a page of calls stays a page.
"""

import asyncio
from collections.abc import Iterable
from typing import Any

import msgspec
from starlette.requests import Request

from claude_headspace.clients.claude_code.tools import read_input, summary_of
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.views import Time, iso
from claude_headspace.ports import EventFilter, Reader, StoredEvent
from claude_headspace.surfaces.api import parameters
from claude_headspace.surfaces.api.openapi import Endpoint
from claude_headspace.surfaces.api.services import Serving

LONGEST_TEXT = 20_000
DEEPEST = 12
EVENTS_PER_CALL = 2
OUTCOMES = {
    "PreToolUse": None,
    "PostToolUse": "done",
    "PostToolUseFailure": "failed",
    "PermissionDenied": "refused",
}
"""What each event says of how the call ended."""


class CallView(msgspec.Struct, frozen=True, kw_only=True):
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


class WireCall(msgspec.Struct):
    """What a hook tells of a call."""

    tool_name: str = ""
    tool_use_id: str = ""
    agent_id: str | None = None
    agent_type: str | None = None
    tool_input: Any = None
    tool_response: Any = None
    error: Any = None
    reason: Any = None


def calls_of(agent: Agent, reader: Reader, limit: int) -> list[CallView]:
    """The newest calls of an agent, oldest of them first."""
    choice = EventFilter(names=frozenset(OUTCOMES))
    events = reader.events(agent_id=agent.id, limit=limit * EVENTS_PER_CALL, matching=choice)
    running = {call.id for call in agent.calls}
    return list(_put_together(events, running).values())[-limit:]


def _put_together(events: Iterable[StoredEvent], running: set[str]) -> dict[str, CallView]:
    calls: dict[str, CallView] = {}
    for stored in events:
        told = _told(stored)
        if told is None:
            continue
        key = told.tool_use_id or f"{told.tool_name}:{stored.seq}"
        calls[key] = _merged(calls.get(key), key, told, stored, running)
    return calls


def _told(stored: StoredEvent) -> WireCall | None:
    try:
        return msgspec.json.decode(stored.envelope.payload, type=WireCall)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _merged(known: CallView | None, key: str, told: WireCall, stored: StoredEvent, running: set[str]) -> CallView:
    at, outcome = iso(stored.envelope.fired_at), OUTCOMES[stored.envelope.name]
    unfinished = "running" if key in running else "unknown"
    result = next((part for part in (told.error, told.reason, told.tool_response) if part is not None), None)
    if known is not None and outcome is None:
        return msgspec.structs.replace(known, started_at=min(known.started_at, at))
    return CallView(
        id=key,
        tool=told.tool_name,
        summary=_summary(told.tool_input),
        subagent_id=told.agent_id,
        subagent_type=told.agent_type if told.agent_id else None,
        started_at=known.started_at if known else at,
        ended_at=at if outcome else None,
        outcome=outcome or unfinished,
        input=bounded(told.tool_input),
        result=bounded(result),
    )


def _summary(tool_input: Any) -> str:
    return summary_of(read_input(tool_input))


def bounded(value: Any, depth: int = DEEPEST) -> Any:
    """A value with its long texts cut, and nothing below a certain depth."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST_TEXT else f"{value[:LONGEST_TEXT]}… ({len(value):,} characters)"
    if isinstance(value, dict | list) and depth == 0:
        return "…"
    if isinstance(value, dict):
        return {name: bounded(part, depth - 1) for name, part in value.items()}
    return [bounded(part, depth - 1) for part in value] if isinstance(value, list) else value


async def calls(api: Serving, request: Request) -> list[CallView]:
    """The tool calls of an agent."""
    agent = await asyncio.to_thread(api.services.model.resolve, request.path_params["agent"])
    return await asyncio.to_thread(calls_of, agent, api.services.journal, parameters.read_limit(request))


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/agents/{agent}/calls",
        "The agent's tool calls, with input and result.",
        calls,
        list[CallView],
        parameters=(parameters.LIMIT,),
    ),
)
