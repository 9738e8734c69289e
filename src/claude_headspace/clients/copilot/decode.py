"""Decode hooks, lock files and lines of Copilot CLI into facts. Pure and total.

Rules
- A hook of a sub-agent has its own session id; its session is that of its parent. It never becomes a fact about the
  turn or the session of the main thread. `Stop` also fires for sub-agents.
- Permissions come from the lines alone: they report the dialog and its end with an id. The hook PermissionRequest fires
  before the dialog, also if there will be none, and names another tool than the call.
- `Stop` has no last message; the lines have it.
- The end of a turn in an error comes from the lines: the hook also fires for errors after which Copilot tries again.
- `SessionEnd` does not say whether the client exits or a new conversation begins.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from claude_headspace.clients.copilot import tools, wire
from claude_headspace.clients.copilot.hook_kinds import KINDS
from claude_headspace.clients.copilot.transcript import decode_line
from claude_headspace.kernel import facts
from claude_headspace.kernel.act_events import bare_meta
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.facts import Event, Fact, Meta
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.text import one_line, short
from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.tools import ToolText, ToolUse

SOURCES = {"new": "startup"}
END_REASONS = {"user_exit": "closed"}
"""Words of Copilot and of the kernel."""
SUCCESS = "success"


def decode(envelope: Envelope, body: Any, anomaly: str | None) -> Event:
    """Decode an envelope of any source. Never raises."""
    return DECODERS.get(envelope.origin, decode_hook)(envelope, body, anomaly)


def decode_hook(envelope: Envelope, body: Any, anomaly: str | None) -> Event:
    """Decode a hook. Never raises."""
    name = wire.event_of(envelope.name, body)
    shape, misfit = fit(wire.in_snake_case(body), wire.WireTool if name in wire.TOOL_HOOKS else wire.WireHook)
    anomaly = misfit or anomaly or (f"unknown event {short(envelope.name)}" if name not in wire.HOOKS else None)
    use: ToolUse | None = None
    texts: tuple[ToolText, ...] = ()
    if isinstance(shape, wire.WireTool):
        use, texts = _use(name, shape)
        fact = TOOL_FACTS[name](use, shape)
    elif shape.agent_id:
        fact = FACTS_IN_SUBAGENT.get(name, _observed)(shape)
    else:
        fact = FACTS.get(name, _observed)(shape)
    return Event(
        _hook_meta(envelope, shape),
        fact,
        envelope.observations,
        envelope.decisions,
        anomaly or envelope.observations.anomaly,
        hook=KINDS.get(name),
        tool=use,
        texts=texts,
    )


def _hook_meta(envelope: Envelope, shape: wire.WireHook) -> Meta:
    return msgspec.structs.replace(
        bare_meta(envelope),
        session_id=_session_of(shape),
        cwd=shape.cwd,
        transcript_path=shape.transcript_path,
        subagent_id=shape.agent_id and short(shape.agent_id),
        subagent_type=(shape.agent_type or shape.agent_name) and short(shape.agent_type or shape.agent_name),
    )


def _session_of(shape: wire.WireHook) -> str:
    """The session of the main thread. The transcript of a sub-agent is that of its session."""
    if not shape.agent_id or shape.session_id != shape.agent_id:
        return shape.session_id
    parts = (shape.transcript_path or "").rsplit("/", 2)
    return parts[1] if len(parts) == 3 else shape.parent_agent_id or shape.session_id


# --- tools ------------------------------------------------------------------------------------------------------------


def _use(name: str, shape: wire.WireTool) -> tuple[ToolUse, tuple[ToolText, ...]]:
    result = {"PostToolUse": shape.tool_result, "PostToolUseFailure": shape.error}.get(name)
    use = tools.tool_use(tools.own_name(shape.tool_name), shape.tool_input, result)
    kind, text = ("tool_input", use.input) if KINDS[name] is HookKind.BEFORE_TOOL else ("tool_result", use.result)
    return use, (ToolText(kind, use.name or None, text),)


def _tool_started(use: ToolUse, _shape: wire.WireTool) -> Fact:
    return tools.tool_started(use)


def _tool_finished(use: ToolUse, shape: wire.WireTool) -> Fact:
    result = fit(wire.in_snake_case(shape.tool_result), wire.WireToolResult)[0]
    if result.result_type != SUCCESS:
        return facts.ToolFailed(use.id, use.name, tools.digest(use.input), one_line(result.text_result_for_llm))
    answer = tools.answer_of(result.text_result_for_llm) if use.ask is not None else ""
    return facts.ToolFinished(use.id, use.name, tools.digest(use.input), answer)


def _tool_failed(use: ToolUse, shape: wire.WireTool) -> Fact:
    error = one_line(shape.error if isinstance(shape.error, str) else "")
    return facts.ToolFailed(use.id, use.name, tools.digest(use.input), error)


TOOL_FACTS: dict[str, Callable[[ToolUse, wire.WireTool], Fact]] = {
    "PreToolUse": _tool_started,
    "PostToolUse": _tool_finished,
    "PostToolUseFailure": _tool_failed,
}
"""Hooks about a tool call."""


# --- turns, sessions, sub-agents --------------------------------------------------------------------------------------


def _observed(_shape: wire.WireHook) -> Fact:
    return facts.Observed()


FACTS: dict[str, Callable[[wire.WireHook], Fact]] = {
    "SessionStart": lambda shape: facts.SessionStarted(short(SOURCES.get(shape.source, shape.source))),
    "SessionEnd": lambda shape: facts.SessionEnded(short(END_REASONS.get(shape.reason, shape.reason))),
    "UserPromptSubmit": lambda shape: facts.PromptSubmitted(shape.prompt),
    "Stop": lambda shape: facts.TurnStopped(shape.last_assistant_message, continued_before=shape.stop_hook_active),
    "PreCompact": lambda shape: facts.CompactionStarted(short(shape.trigger)),
}
"""Hooks with a fact of their own. All others only show that the agent is alive."""

FACTS_IN_SUBAGENT: dict[str, Callable[[wire.WireHook], Fact]] = {
    "SubagentStart": lambda _shape: facts.SubagentStarted(),
    "SubagentStop": lambda shape: facts.SubagentStopped(shape.last_assistant_message or ""),
}
"""Hooks of a sub-agent with a fact of their own."""


# --- lock files -------------------------------------------------------------------------------------------------------


def _decode_lock(envelope: Envelope, body: Any, anomaly: str | None) -> Event:
    lock, misfit = fit(body, wire.WireLock)
    meta = msgspec.structs.replace(bare_meta(envelope), session_id=lock.session_id, cwd=lock.cwd)
    fact = facts.ClientReported("") if lock.session_id else facts.Observed()
    return Event(meta, fact, envelope.observations, envelope.decisions, misfit or anomaly)


DECODERS: dict[Origin, Callable[[Envelope, Any, str | None], Event]] = {
    Origin.REGISTRY: _decode_lock,
    Origin.TRANSCRIPT: decode_line,
}
"""The decoders of everything but hooks."""
