"""Decode hooks and rollout lines of Codex into facts. Pure and total.

Rules
- An unknown event, a missing field or a field of the wrong type is data: it becomes `Observed`, or the field is left
  out, and the event's anomaly says so.
- A sub-agent's report (`agent_id`) never becomes a fact about the main thread's turn or session.
- Sub-agents run on after the turn of the main thread, and their end does not continue it.
- SessionStart comes with the first prompt of a session, so the agent works from then on.
- A permission of a patch is also reported if an earlier answer allows it: Codex then shows no dialog.
- A prompt that is typed during a turn is reported when the turn takes it in, with the id of that turn.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from claude_headspace.clients.codex import tools, wire
from claude_headspace.clients.codex.hook_kinds import KINDS
from claude_headspace.clients.codex.registry import decode_registry
from claude_headspace.clients.codex.rollout import decode_line
from claude_headspace.kernel import facts
from claude_headspace.kernel.act_events import bare_meta
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.facts import Event, Fact, Meta
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.text import short
from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.tools import ToolText, ToolUse
from claude_headspace.kernel.wait.request import Ask


def decode(envelope: Envelope, body: Any, anomaly: str | None) -> Event:
    """Decode an envelope. Never raises."""
    decoders = {Origin.TRANSCRIPT: decode_line, Origin.REGISTRY: decode_registry}
    return decoders.get(envelope.origin, decode_hook)(envelope, body, anomaly)


def decode_hook(envelope: Envelope, body: Any, anomaly: str | None) -> Event:
    """Decode a hook. Never raises."""
    known = wire.HOOKS.get(envelope.name)
    shape, misfit = fit(body, known or wire.WireHook)
    anomaly = misfit or anomaly or (f"unknown event {envelope.name}" if known is None else None)
    use: ToolUse | None = None
    texts: tuple[ToolText, ...] = ()
    if isinstance(shape, wire.WireTool):
        use = tools.tool_use(shape.tool_name, shape.tool_input, shape.tool_use_id, shape.tool_response)
        fact, texts = TOOL_FACTS[envelope.name](use, shape), _texts(KINDS.get(envelope.name), use)
    else:
        table = FACTS_IN_SUBAGENT if shape.agent_id else FACTS
        fact = table.get(envelope.name, _observed)(shape)
    return Event(
        _meta(envelope, shape),
        fact,
        envelope.observations,
        envelope.decisions,
        anomaly or envelope.observations.anomaly,
        hook=KINDS.get(envelope.name),
        tool=use,
        texts=texts,
    )


def _meta(envelope: Envelope, shape: wire.WireHook) -> Meta:
    return msgspec.structs.replace(
        bare_meta(envelope),
        session_id=shape.session_id,
        cwd=shape.cwd,
        transcript_path=None if shape.agent_id else shape.transcript_path,
        prompt_id=short(shape.turn_id) if shape.turn_id and not shape.agent_id else None,
        permission_mode=shape.permission_mode and short(shape.permission_mode),
        subagent_id=shape.agent_id and short(shape.agent_id),
        subagent_type=shape.agent_type and short(shape.agent_type),
    )


def _texts(kind: HookKind | None, use: ToolUse) -> tuple[ToolText, ...]:
    """What search finds of a call: the input when it begins, the result when it ended."""
    match kind:
        case HookKind.BEFORE_TOOL:
            return (ToolText("tool_input", use.name or None, use.input),)
        case HookKind.AFTER_TOOL:
            return (ToolText("tool_result", use.name or None, use.result),)
        case _:
            return ()


# --- tools ------------------------------------------------------------------------------------------------------------


def _permission_asked(use: ToolUse, _shape: wire.WireTool) -> Fact:
    summary, name = tools.summary_of(use), short(use.name)
    reason = use.input.get(tools.REASON) if isinstance(use.input, dict) else None
    text = "\n".join(part for part in (f"{name}: {summary}" if summary else name, reason) if isinstance(part, str))
    ask = use.ask or Ask("permission", text)
    return facts.PermissionAsked(name, tools.digest(use.input), summary, ask, may_be_granted=use.name == tools.PATCH)


def _tool_finished(use: ToolUse, shape: wire.WireTool) -> Fact:
    has_fields = tools.plain_name(use.name) in (tools.SPAWN, tools.QUESTION)
    result = tools.result_of(shape.tool_response) if has_fields else wire.WireResult()
    return facts.ToolFinished(
        short(use.id),
        short(use.name),
        tools.digest(use.input),
        tools.answer_of(result),
        background_subagent=short(result.agent_id) if result.agent_id else None,
    )


TOOL_FACTS: dict[str, Callable[[ToolUse, wire.WireTool], Fact]] = {
    "PreToolUse": lambda use, _shape: tools.tool_started(use),
    "PermissionRequest": _permission_asked,
    "PostToolUse": _tool_finished,
}
"""Hooks about a tool call."""


# --- turns ------------------------------------------------------------------------------------------------------------


def _stopped(shape: wire.WireStop) -> Fact:
    """A turn ended. Without a message it may have a plan to approve: the rollout shows it."""
    if shape.last_assistant_message is None:
        return facts.TurnEndReported()
    return facts.TurnStopped(
        shape.last_assistant_message, continued_before=shape.stop_hook_active, leaves_subagents=True
    )


def _subagent_stopped(shape: wire.WireStop) -> Fact:
    return facts.SubagentStopped(shape.last_assistant_message or "")


def _observed(_shape: wire.WireHook) -> Fact:
    return facts.Observed()


FACTS: dict[str, Callable[[Any], Fact]] = {
    "SessionStart": lambda shape: facts.SessionStarted(short(shape.source), short(shape.model), with_prompt=True),
    "SessionEnd": lambda shape: facts.SessionEnded(short(shape.reason)),
    "UserPromptSubmit": lambda shape: facts.PromptSubmitted(shape.prompt, joins_turn=True),
    "Stop": _stopped,
    "Interrupt": lambda _shape: facts.TurnInterrupted(),
    "PreCompact": lambda shape: facts.CompactionStarted(short(shape.trigger)),
    "PostCompact": lambda shape: facts.CompactionFinished(short(shape.trigger)),
}
"""Hooks of the main thread with a fact of their own. All others only show that the agent is alive."""

FACTS_IN_SUBAGENT: dict[str, Callable[[Any], Fact]] = {
    "SubagentStart": lambda _shape: facts.SubagentStarted(),
    "UserPromptSubmit": lambda _shape: facts.SubagentStarted(),
    "SubagentStop": _subagent_stopped,
    "Interrupt": lambda _shape: facts.TurnInterrupted(),
}
"""What hooks mean in a sub-agent. Its turn ends with SubagentStop, not with Stop."""
