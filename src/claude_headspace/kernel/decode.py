"""Foreign words become our facts. Total: whatever arrives, an `Event` comes out.

Rules
- An unknown event, a missing field or one of the wrong type is data: it becomes `Observed`, or the field is left out,
  and the oddity is noted as the event's anomaly.
- What a sub-agent reports never becomes a fact of the main thread's turn or session.
- Decoding runs again at every replay, so it depends on the envelope alone.
- Nothing outside this module, `transcript` and `reading` knows how Claude Code spells things.
"""

from collections.abc import Callable
from itertools import islice
from typing import Any

import msgspec

from claude_headspace.kernel import facts, wire
from claude_headspace.kernel.acts import decode_act
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.facts import Event, Fact, Meta
from claude_headspace.kernel.forms import form_of
from claude_headspace.kernel.reading import (
    answer_of,
    ask_of,
    digest,
    one_line,
    short,
    summary_of,
    task_that_came_back,
    tolerant,
    tool_started,
)
from claude_headspace.kernel.transcript import decode_line
from claude_headspace.kernel.wait_request import Ask

ATTENTION = {
    "permission_prompt": "permission",
    "agent_needs_input": "dialog",
    "elicitation_dialog": "elicitation",
}
"""Notifications that imply an open dialog. All others (`idle_prompt`, `auth_success`, …) imply none."""

MOST_LIMITS = 8
"""How many limits of an account are looked at; there are two."""

REGISTRY_WAITS = {"permission prompt": "permission", "input needed": "question", "dialog open": "dialog"}


def decode(envelope: Envelope) -> Event:
    """Give the envelope its meaning. Never raises."""
    match envelope.origin:
        case Origin.REGISTRY:
            return _decode_registry(envelope)
        case Origin.OPERATOR:
            return decode_act(envelope)
        case Origin.PROCESS:
            return Event(_bare_meta(envelope), _vanished(envelope), envelope.context)
        case Origin.TRANSCRIPT:
            return decode_line(envelope)
        case Origin.STATUS_LINE:
            return _decode_status_line(envelope)
        case Origin.HOOK | Origin.TIMER:
            return _decode_hook(envelope)


def _decode_hook(envelope: Envelope) -> Event:
    known = SHAPES.get(envelope.name)
    shape, anomaly = tolerant(envelope.payload, known or wire.WireHook)
    if known is None:
        fact: Fact = facts.Observed()
        anomaly = anomaly or f"unknown event {envelope.name}"
    elif shape.agent_id and envelope.name in FACTS_IN_SUBAGENT:
        fact = FACTS_IN_SUBAGENT[envelope.name](shape)
    else:
        fact = (FACTS.get(envelope.name) or PLATE_FACTS.get(envelope.name, _observed))(shape)
    return Event(_meta(envelope, shape), fact, envelope.context, anomaly or envelope.context.flaw)


def _meta(envelope: Envelope, shape: wire.WireHook) -> Meta:
    return Meta(
        event_id=envelope.id,
        name=envelope.name,
        origin=envelope.origin,
        at=envelope.fired_at,
        received_at=envelope.received_at,
        host=envelope.host,
        session_id=shape.session_id,
        cwd=shape.directory,
        transcript_path=shape.transcript_path,
        prompt_id=short(shape.prompt_id),
        permission_mode=short(shape.permission_mode),
        subagent_id=short(shape.agent_id),
        subagent_type=short(shape.agent_type),
    )


def _bare_meta(envelope: Envelope) -> Meta:
    return Meta(
        event_id=envelope.id,
        name=envelope.name,
        origin=envelope.origin,
        at=envelope.fired_at,
        received_at=envelope.received_at,
        host=envelope.host,
    )


# --- tools ------------------------------------------------------------------------------------------------------------


def _permission_asked(shape: wire.WirePermissionRequest) -> Fact:
    body = tolerant(shape.tool_input, wire.WireToolInput)[0]
    summary, tool = summary_of(body), short(shape.tool_name)
    ask = ask_of(tool, body) or Ask("permission", f"{tool}: {summary}" if summary else tool)
    suggestions = msgspec.json.encode(shape.permission_suggestions).decode() if shape.permission_suggestions else ""
    return facts.PermissionAsked(tool, digest(shape.tool_input), summary, ask, suggestions)


def _tool_finished(shape: wire.WirePostToolUse) -> Fact:
    response = tolerant(shape.tool_response, wire.WireToolResponse)[0]
    body = tolerant(shape.tool_input, wire.WireToolInput)[0]
    background = None
    if response.background_task_id:
        background = facts.Task(id=short(response.background_task_id), kind="shell", description=summary_of(body))
    return facts.ToolFinished(
        short(shape.tool_use_id),
        short(shape.tool_name),
        digest(shape.tool_input),
        answer_of(response.answers or body.answers),
        background,
        short(response.agent_id) if response.status == "async_launched" else None,
    )


def _tool_failed(shape: wire.WirePostToolUseFailure) -> Fact:
    return facts.ToolFailed(
        short(shape.tool_use_id), short(shape.tool_name), digest(shape.tool_input), one_line(shape.error)
    )


def _tool_refused(shape: wire.WirePermissionDenied) -> Fact:
    return facts.ToolRefused(
        short(shape.tool_use_id), short(shape.tool_name), digest(shape.tool_input), one_line(shape.reason)
    )


def _step_finished(shape: wire.WirePostToolBatch) -> Fact:
    return facts.StepFinished(tuple(short(call.tool_use_id) for call in shape.tool_calls if call.tool_use_id))


# --- turns ------------------------------------------------------------------------------------------------------------


def _prompt(shape: wire.WirePrompt) -> Fact:
    return facts.PromptSubmitted(shape.prompt, task_that_came_back(shape.prompt))


def _stopped(shape: wire.WireStop) -> Fact:
    if shape.error:
        return facts.TurnFailed(short(shape.error), shape.last_assistant_message or "")
    if shape.background_tasks is None:
        return facts.TurnStopped(shape.last_assistant_message, kept_on=shape.stop_hook_active)
    return facts.TurnStopped(
        shape.last_assistant_message,
        tuple(
            facts.Task(
                id=short(task.id),
                kind=short(task.type),
                description=one_line(task.command or task.description or ""),
                subagent_type=short(task.agent_type or ""),
            )
            for task in shape.background_tasks
            if task.id and task.status == "running"
        ),
        kept_on=shape.stop_hook_active,
    )


def _failed(shape: wire.WireStopFailure) -> Fact:
    return facts.TurnFailed(short(shape.error), shape.last_assistant_message or "")


def _notification(shape: wire.WireNotification) -> Fact:
    kind = ATTENTION.get(shape.notification_type)
    return facts.AttentionCalled(shape.notification_type, shape.message, Ask(kind, shape.message) if kind else None)


def _elicitation(shape: wire.WireElicitation) -> Fact:
    name = shape.elicitation_id or shape.mcp_server_name or ""
    text = "\n\n".join(part for part in (shape.message, shape.url) if part)
    return facts.ElicitationAsked(short(name), Ask("elicitation", text, form=form_of(shape.requested_schema)))


def _elicitation_answered(shape: wire.WireElicitation) -> Fact:
    return facts.ElicitationAnswered(
        short(shape.elicitation_id or shape.mcp_server_name or ""), short(shape.action or "")
    )


def _subagent_started(shape: wire.WireHook) -> Fact:
    return facts.SubagentStarted() if shape.agent_id else facts.Observed()


def _subagent_stopped(shape: wire.WireStop | wire.WireStopFailure) -> Fact:
    """Compaction and prompt suggestions stop a "sub-agent" without a type that never started: not one of ours."""
    if not shape.agent_id or not shape.agent_type:
        return facts.Observed()
    return facts.SubagentStopped(shape.last_assistant_message or "")


def _observed(_shape: wire.WireHook) -> Fact:
    return facts.Observed()


# --- plate-spinner ----------------------------------------------------------------------------------------------------


def _plate_tool_called(shape: wire.WirePlate) -> Fact:
    return facts.ToolFinished(shape.tool_use_id, shape.tool_name, digest(shape.input))


def _plate_stopped(shape: wire.WirePlate) -> Fact:
    """Its error rule: a stop that names an error is one."""
    return facts.TurnFailed(short(shape.error)) if shape.error else facts.TurnStopped()


PLATE_FACTS: dict[str, Callable[[Any], Fact]] = {
    "PlateSessionStart": lambda _shape: facts.SessionStarted("startup"),
    "PlatePromptSubmit": lambda shape: facts.PromptSubmitted(shape.prompt, task_that_came_back(shape.prompt)),
    "PlateToolStart": lambda shape: tool_started(shape.tool_use_id, shape.tool_name, shape.input),
    "PlateToolCall": _plate_tool_called,
    "PlateStop": _plate_stopped,
}
"""plate-spinner's events; all others of its own are only a sign of life."""

SHAPES: dict[str, type[wire.WireHook]] = {**wire.HOOKS, **dict.fromkeys(PLATE_FACTS, wire.WirePlate)}
"""Every event that is understood, with the shape of its payload."""

FACTS: dict[str, Callable[[Any], Fact]] = {
    "SessionStart": lambda shape: facts.SessionStarted(short(shape.source), short(shape.model)),
    "SessionEnd": lambda shape: facts.SessionEnded(short(shape.reason)),
    "UserPromptSubmit": _prompt,
    "PreToolUse": lambda shape: tool_started(shape.tool_use_id, shape.tool_name, shape.tool_input),
    "PermissionRequest": _permission_asked,
    "PermissionDenied": _tool_refused,
    "PostToolUse": _tool_finished,
    "PostToolUseFailure": _tool_failed,
    "PostToolBatch": _step_finished,
    "Notification": _notification,
    "SubagentStart": _subagent_started,
    "SubagentStop": _subagent_stopped,
    "TaskCreated": lambda shape: facts.TodoAdded(short(shape.task_id)),
    "TaskCompleted": lambda shape: facts.TodoDone(short(shape.task_id)),
    "Stop": _stopped,
    "StopFailure": _failed,
    "PreCompact": lambda shape: facts.CompactionStarted(short(shape.trigger)),
    "PostCompact": lambda shape: facts.CompactionFinished(short(shape.trigger)),
    "PostModelSwitch": lambda shape: facts.ModelSwitched(short(shape.to_model)),
    "CwdChanged": lambda shape: facts.DirectoryChanged(shape.new_cwd),
    "Elicitation": _elicitation,
    "ElicitationResult": _elicitation_answered,
}
"""Hooks with a meaning of their own; all others only tell that the agent is there."""

FACTS_IN_SUBAGENT: dict[str, Callable[[Any], Fact]] = {
    "SessionStart": _observed,
    "SessionEnd": _observed,
    "UserPromptSubmit": _observed,
    "Stop": _subagent_stopped,
    "StopFailure": _subagent_stopped,
    "PreCompact": _observed,
    "PostCompact": _observed,
    "CwdChanged": _observed,
}
"""What these mean when a sub-agent fires them: its turn, its context and its directory are not those of the agent."""


# --- other sources ----------------------------------------------------------------------------------------------------


def _vanished(envelope: Envelope) -> Fact:
    kind = facts.WrapperVanished if envelope.name == "WrapperVanished" else facts.ClientVanished
    return kind(envelope.context.client_pid)


def _decode_registry(envelope: Envelope) -> Event:
    entry, anomaly = tolerant(envelope.payload, wire.WireRegistryEntry)
    meta = msgspec.structs.replace(_bare_meta(envelope), session_id=entry.session_id, cwd=entry.cwd)
    if not entry.session_id:
        return Event(meta, facts.Observed(), envelope.context, anomaly)
    kind = REGISTRY_WAITS.get(entry.waiting_for or "", "dialog")
    ask = Ask(kind, entry.waiting_for or "") if entry.status == "waiting" else None
    fact = facts.ClientReported(entry.status or "", ask, entry.entrypoint == wire.HEADLESS)
    return Event(meta, fact, envelope.context, anomaly)


def _decode_status_line(envelope: Envelope) -> Event:
    shape, anomaly = tolerant(envelope.payload, wire.WireStatusLine)
    usage = shape.context_window.current_usage
    measured = facts.UsageMeasured(
        model=short(shape.model.id),
        tokens=_taken_in(usage) if usage is not None else None,
        window=shape.context_window.context_window_size,
        cost_usd=shape.cost.total_cost_usd,
        limits=tuple(
            facts.RateLimit(short(name), limit.used_percentage, limit.resets_at)
            for name, limit in islice(shape.rate_limits.items(), MOST_LIMITS)
            if limit.used_percentage is not None
        ),
    )
    return Event(_meta(envelope, shape), measured, envelope.context, anomaly)


def _taken_in(usage: wire.WireUsage) -> int:
    return usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens
