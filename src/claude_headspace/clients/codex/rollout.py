"""Decode a line of a rollout into facts. Pure and total: nothing is raised, and unknown lines are reported.

Codex writes one file per thread; a sub-agent is a thread of its own. A line does not contain its thread, so it is
stored with the session and the sub-agent of its file (`WireStored`).

Rules
- Only `UserMessage` items are prompts. The conversation also contains injected texts.
- `task_complete` ends a turn: it has the API error that no hook reports. A plan was written before it, and is stored
  with it, because the client asks about the plan when the turn ended.
- How a command ended is read from its result in the conversation. The end of the command itself can be reported after
  the turn: a command goes on after Esc.
- The lines of a sub-agent's file are about the sub-agent.
- Older rollouts have `user_message` and `agent_message` events in place of items (not measured).
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from claude_headspace.clients.codex import tools
from claude_headspace.clients.codex.rollout_wire import (
    WireErrorBody,
    WireItem,
    WirePart,
    WirePayload,
    WireSessionMeta,
    WireSource,
    WireStored,
    WireTokenInfo,
    WireTurnContext,
)
from claude_headspace.clients.transcript_line import Line, parse_time
from claude_headspace.clients.unknown_lines import unknown
from claude_headspace.kernel import facts
from claude_headspace.kernel.act_events import bare_meta
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.facts import Event, Fact
from claude_headspace.kernel.text import one_line, short
from claude_headspace.kernel.tolerant_json import fit, parse
from claude_headspace.kernel.tools import ToolText
from claude_headspace.kernel.usage import ModelUsage, Tokens
from claude_headspace.kernel.wait.request import Ask

HEADLESS = "codex_exec"
"""The originator of a thread that a program started (`codex exec`)."""
_ABORTED = re.compile(r"aborted by user(?: after [\d.]+ ?s)?\s*$")
"""The result of a call that the user stopped, after the time that it took."""

_EXIT_CODE = re.compile(r"^(?:Process exited with code|Exit code:) (\d+)$", re.MULTILINE)


# --- a line -----------------------------------------------------------------------------------------------------------


def read_stored(raw: bytes, stored: WireStored) -> Line | None:
    """The line, if it has facts or is unknown. `raw` is the line as it is stored."""
    found = _facts(stored)
    problem = None if found else unknown_part(stored)
    if not (found or problem) or not stored.session_id:
        return None
    key = hashlib.blake2b(raw, digest_size=12).hexdigest()
    at, cwd = parse_time(stored.line.timestamp), _cwd(stored)
    return Line(at, stored.session_id, key, cwd, found, stored.subagent_id, anomaly=problem)


def decode_line(envelope: Envelope, body: object, anomaly: str | None) -> Event:
    """Decode a stored line. Never raises."""
    stored, misfit = fit(body, WireStored)
    found = _facts(stored)
    turn_id = fit(stored.line.payload, WirePayload)[0].turn_id
    meta = msgspec.structs.replace(
        bare_meta(envelope),
        session_id=stored.session_id,
        cwd=_cwd(stored),
        prompt_id=short(turn_id) if turn_id and not stored.subagent_id else None,
        subagent_id=short(stored.subagent_id),
    )
    fact = found[0] if len(found) == 1 else facts.Several(found) if found else facts.Observed()
    problem = misfit or anomaly or (None if found else unknown_part(stored))
    return Event(meta, fact, envelope.observations, envelope.decisions, problem, texts=_texts(stored))


def _cwd(stored: WireStored) -> str | None:
    return fit(stored.line.payload, WireTurnContext)[0].cwd or stored.cwd


def _facts(stored: WireStored) -> tuple[Fact, ...]:
    """The facts of a line: those of its type, and in a file of a sub-agent those about the sub-agent."""
    payload = fit(stored.line.payload, WirePayload)[0]
    kind = (stored.line.type, payload.type)
    reader = (_SUBAGENT_READERS if stored.subagent_id else _READERS).get(kind)
    reader = reader or _READERS_OF_CALLS.get(kind)
    return tuple(reader(payload, stored)) if reader is not None else ()


# --- the thread -------------------------------------------------------------------------------------------------------


def _session_meta(_payload: WirePayload, stored: WireStored) -> Iterator[Fact]:
    if fit(stored.line.payload, WireSessionMeta)[0].originator == HEADLESS:
        yield facts.ClientReported("", headless=True)


def _subagent_meta(_payload: WirePayload, stored: WireStored) -> Iterator[Fact]:
    """A sub-agent. Its type and its name are in the source of the thread."""
    known = fit(stored.line.payload, WireSessionMeta)[0]
    source = fit(known.source, WireSource)[0].subagent
    spawn = source.thread_spawn if source is not None else None
    role = known.agent_role or (spawn.agent_role if spawn else None) or "default"
    name = known.agent_nickname or (spawn.agent_nickname if spawn else None) or ""
    yield facts.SubagentStarted()
    yield facts.SubagentDescribed(one_line(role), one_line(name))


def _compacted(_payload: WirePayload, _stored: WireStored) -> Iterator[Fact]:
    yield facts.SessionStarted("compact")


def _usage(payload: WirePayload, stored: WireStored) -> Iterator[Fact]:
    info = payload.info
    tokens = info.last_token_usage.total_tokens if info is not None and info.last_token_usage is not None else None
    limits = tuple(_limits(payload))
    if tokens or limits:
        window = info.model_context_window if info is not None else None
        yield facts.UsageMeasured(
            model=short(stored.model) or None,
            tokens=tokens,
            window=window,
            cost_usd=stored.cost_usd,
            limits=limits,
            totals=tuple(_totals(info)),
        )


def _totals(info: WireTokenInfo | None) -> Iterator[ModelUsage]:
    """The tokens of all replies of the thread. They are not by model, and their input includes the cached ones."""
    used = info.total_token_usage if info is not None else None
    if used is not None and used.input_tokens + used.output_tokens > 0:
        fresh = max(used.input_tokens - used.cached_input_tokens, 0)
        yield ModelUsage(tokens=Tokens(fresh, used.cached_input_tokens, 0, used.output_tokens))


def _limits(payload: WirePayload) -> Iterator[facts.RateLimit]:
    limits = payload.rate_limits
    for name, limit in (("primary", limits.primary), ("secondary", limits.secondary)) if limits is not None else ():
        if limit is not None and limit.used_percent is not None:
            yield facts.RateLimit(name, limit.used_percent, limit.resets_at)


# --- turns ------------------------------------------------------------------------------------------------------------


def _task_complete(payload: WirePayload, stored: WireStored) -> Iterator[Fact]:
    if payload.error is not None:
        yield facts.TurnFailed(_error_kind(payload.error.codex_error_info), _error_text(payload.error.message))
        return
    ask = Ask("plan", stored.plan) if stored.plan else None
    yield facts.TurnClosed(end=facts.TurnStopped(payload.last_agent_message, leaves_subagents=True, ask=ask))


def _error_kind(info: object) -> str:
    """The kind of an error: a name, or an object with its name as the only key."""
    name = next(iter(info), "") if isinstance(info, dict) else info
    return short(name) if isinstance(name, str) and name not in ("", "other") else "api_error"


def _error_text(message: str) -> str:
    """The text of an error. Often it is the body of the model's reply."""
    body = fit(parse(message.encode("utf-8", "replace"))[0], WireErrorBody)[0] if message.startswith("{") else None
    return (body.error.message if body is not None else "") or message


def _turn_aborted(_payload: WirePayload, _stored: WireStored) -> Iterator[Fact]:
    yield facts.TurnInterrupted()


def _subagent_complete(payload: WirePayload, _stored: WireStored) -> Iterator[Fact]:
    yield facts.SubagentStopped(payload.last_agent_message or "")


def _item(payload: WirePayload, _stored: WireStored) -> Iterator[Fact]:
    item = fit(payload.item, WireItem)[0]
    if item.type == "UserMessage" and (text := _text(item.content)).strip():
        yield facts.UserWrote(text, joins_turn=True)
    elif item.type == "AgentMessage" and (text := _text(item.content)).strip():
        yield facts.AgentWrote(text)
    elif (child := _spawned(item)) is not None:
        yield facts.ToolFinished(short(item.id), tools.SPAWN, background_subagent=short(child))


def _spawned(item: WireItem) -> str | None:
    """The thread of the sub-agent that a call started, in both versions of sub-agents."""
    if item.type == "SubAgentActivity":
        return item.agent_thread_id if item.kind == "started" else None
    is_spawn = item.type == "CollabAgentToolCall" and item.tool == tools.SPAWN
    return next(iter(item.receiver_thread_ids), None) if is_spawn else None


def _user_message(payload: WirePayload, _stored: WireStored) -> Iterator[Fact]:
    if payload.message.strip():
        yield facts.UserWrote(payload.message, joins_turn=True)


def _agent_message(payload: WirePayload, _stored: WireStored) -> Iterator[Fact]:
    if payload.message.strip():
        yield facts.AgentWrote(payload.message)


def _text(content: object) -> str:
    parts = [fit(part, WirePart)[0].text for part in content] if isinstance(content, list) else []
    return "\n".join(part for part in parts if part)


# --- calls ------------------------------------------------------------------------------------------------------------


def _call(payload: WirePayload, _stored: WireStored) -> Iterator[Fact]:
    if payload.call_id:
        name, given = _normalized(payload)
        yield tools.tool_started(tools.tool_use(name, given, payload.call_id))


def _normalized(payload: WirePayload) -> tuple[str, Any]:
    given = payload.arguments if payload.arguments is not None else payload.input
    return tools.normalize_call(payload.name, payload.namespace or "", given)


def _result(payload: WirePayload, _stored: WireStored) -> Iterator[Fact]:
    """How a call ended, as the model sees it. The result names the call, never the tool."""
    text = payload.output if isinstance(payload.output, str) else ""
    header = text.partition("Output:\n")[0]
    code = _EXIT_CODE.search(header)
    if header == text and _ABORTED.search(text):
        yield facts.TurnInterrupted()
    elif code is not None and code[1] != "0":
        yield facts.ToolFailed(short(payload.call_id), "", error=f"exit code {code[1]}")
    elif payload.call_id:
        answer = tools.answer_of(tools.result_of(text)) if text.startswith("{") else ""
        yield facts.ToolFinished(short(payload.call_id), "", answer=answer)


# --- unknown lines ----------------------------------------------------------------------------------------------------


def unknown_part(stored: WireStored) -> str | None:
    """What is not known of a line without facts: its type, that of its item, or the type of a field."""
    payload, misfit = fit(stored.line.payload, WirePayload)
    kind = (stored.line.type, payload.type)
    if stored.line.type in KNOWN_TYPES or kind in KNOWN:
        return None
    if kind not in _READERS and kind not in _READERS_OF_CALLS:
        return unknown(*kind) if any(kind) else unknown("without a type")
    item = fit(payload.item, WireItem)[0] if payload.type == ITEM else None
    if item is not None and item.type not in KNOWN_ITEMS:
        return unknown(*kind, item.type)
    return misfit


ITEM = "item_completed"
KNOWN_TYPES = frozenset({"turn_context", "world_state", "retained_context", "token_usage_record"})
"""Types of lines without use, whatever they contain."""
KNOWN = frozenset(
    {
        *(("event_msg", name) for name in ("task_started", "item_started", "thread_settings_applied", "turn_diff")),
        *(("event_msg", f"agent_reasoning{end}") for end in ("", "_raw_content", "_section_break")),
        *(("event_msg", name) for name in ("context_compacted", "thread_rolled_back", "thread_goal_updated")),
        *(("event_msg", name) for name in ("thread_queue_changed", "plan_update", "undo_completed")),
        *(("event_msg", f"{name}_review_mode") for name in ("entered", "exited")),
        *(("event_msg", f"{name}_end") for name in ("exec_command", "patch_apply", "mcp_tool_call", "web_search")),
        *(("event_msg", name) for name in ("image_generation_end", "view_image_tool_call", "warning")),
        *(("response_item", name) for name in ("message", "agent_message", "reasoning", "additional_tools")),
        *(("response_item", f"{name}_call") for name in ("web_search", "image_generation", "tool_search")),
        *(("response_item", name) for name in ("tool_search_output", "local_shell_call", "ghost_snapshot")),
        *(("response_item", name) for name in ("compaction", "context_compaction", "configuration_update")),
    }
)
"""Lines without use, by their type and that of their payload. Those not in the recordings are names in the program."""
KNOWN_ITEMS = frozenset(
    {
        *("UserMessage", "AgentMessage", "Reasoning", "Plan", "HookPrompt", "ContextCompaction", "Sleep", "Extension"),
        *("CommandExecution", "FileChange", "FunctionCallOutput", "McpToolCall", "DynamicToolCall", "WebSearch"),
        *("CollabAgentToolCall", "SubAgentActivity", "ImageView", "ImageGeneration"),
        *("EnteredReviewMode", "ExitedReviewMode"),
    }
)


Reader = Callable[[WirePayload, WireStored], Iterator[Fact]]

_READERS: dict[tuple[str, str], Reader] = {
    ("session_meta", ""): _session_meta,
    ("compacted", ""): _compacted,
    ("event_msg", "token_count"): _usage,
    ("event_msg", "task_complete"): _task_complete,
    ("event_msg", "turn_aborted"): _turn_aborted,
    ("event_msg", "item_completed"): _item,
    ("event_msg", "user_message"): _user_message,
    ("event_msg", "agent_message"): _agent_message,
}
"""The lines of a main thread that have facts."""

_SUBAGENT_READERS: dict[tuple[str, str], Reader] = {
    ("session_meta", ""): _subagent_meta,
    ("event_msg", "task_complete"): _subagent_complete,
    ("event_msg", "turn_aborted"): _turn_aborted,
}
"""The lines of a sub-agent that have facts."""

_READERS_OF_CALLS: dict[tuple[str, str], Reader] = {
    ("response_item", "function_call"): _call,
    ("response_item", "custom_tool_call"): _call,
    ("response_item", "function_call_output"): _result,
    ("response_item", "custom_tool_call_output"): _result,
}
"""Calls, of all threads."""


def _texts(stored: WireStored) -> tuple[ToolText, ...]:
    """The input or the result of the call in a line."""
    payload = fit(stored.line.payload, WirePayload)[0]
    reader = _READERS_OF_CALLS.get((stored.line.type, payload.type))
    if reader is _call:
        name, given = _normalized(payload)
        return (ToolText("tool_input", name or None, given),)
    return (ToolText("tool_result", None, payload.output),) if reader is _result else ()


# --- truncation -------------------------------------------------------------------------------------------------------


def is_message(owner: dict[object, object], key: object) -> bool:
    """Whether a string of a line is a message: a text of an item, the last message of a turn, or a plan."""
    return key in ("last_agent_message", "plan") or (key == "text" and owner.get("type") in ("text", "Text"))
