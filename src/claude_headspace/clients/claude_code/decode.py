"""Decode hooks, registry entries and the status line of Claude Code into facts. Pure and total.

Rules
- An unknown event, a missing field or a field of the wrong type is data: it becomes `Observed`, or the field is left
  out, and the event's anomaly says so.
- A sub-agent's report never becomes a fact about the main thread's turn or session.
"""

from collections.abc import Callable
from itertools import islice
from typing import Any

import msgspec

from claude_headspace.clients.claude_code import tools, wire
from claude_headspace.clients.claude_code.hook_kinds import KINDS
from claude_headspace.clients.claude_code.messages import HEADLESS, finished_task
from claude_headspace.clients.claude_code.transcript import decode_line
from claude_headspace.kernel import facts
from claude_headspace.kernel.act_events import bare_meta
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.facts import Event, Fact, Meta, TeamSignal
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.text import one_line, short
from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.tools import ToolText, ToolUse
from claude_headspace.kernel.wait.forms import parse_form
from claude_headspace.kernel.wait.request import Ask

ATTENTION = {
    "permission_prompt": "permission",
    "agent_needs_input": "dialog",
    "elicitation_dialog": "elicitation",
}
"""Notifications that imply an open dialog. All others (`idle_prompt`, `auth_success`, …) imply none."""

TEAM_HOOKS = (HookKind.TEAMMATE_IDLE, HookKind.TASK_COMPLETED)

MAX_LIMITS = 8
"""How many rate limits of an account are read; there are two."""

REGISTRY_WAITS = {"permission prompt": "permission", "input needed": "question", "dialog open": "dialog"}


RESULT_FIELDS = {"PermissionDenied": "reason", "PostToolUse": "tool_response", "PostToolUseFailure": "error"}
"""The field that has the result of an ended call, by hook."""

TEXT_KINDS = {
    HookKind.BEFORE_TOOL: "tool_input",
    HookKind.AFTER_TOOL: "tool_result",
    HookKind.TOOL_FAILED: "tool_result",
}
"""What search finds of a call: the input when it begins, the result when it ended."""


def decode(envelope: Envelope, body: Any, anomaly: str | None) -> Event:
    """Decode an envelope of any source. Never raises."""
    return DECODERS.get(envelope.origin, decode_hook)(envelope, body, anomaly)


def decode_hook(envelope: Envelope, body: Any, anomaly: str | None) -> Event:
    """Decode a hook. Never raises."""
    known = wire.HOOKS.get(envelope.name)
    shape, misfit = fit(body, known or wire.WireHook)
    anomaly = misfit or anomaly or (f"unknown event {envelope.name}" if known is None else None)
    kind = KINDS.get(envelope.name)
    use: ToolUse | None = None
    texts: tuple[ToolText, ...] = ()
    if isinstance(shape, wire.WireTool):
        given, result = fit(shape.tool_input, wire.WireToolInput)[0], RESULT_FIELDS.get(envelope.name)
        outcome = getattr(shape, result) if result else None
        use = tools.tool_use(shape.tool_name, shape.tool_input, shape.tool_use_id, given, outcome)
        fact = TOOL_FACTS[envelope.name](use, given, shape)
        if kind in TEXT_KINDS:
            text = use.input if kind is HookKind.BEFORE_TOOL else use.result
            texts = (ToolText(TEXT_KINDS[kind], use.name or None, text),)
    elif shape.agent_id and envelope.name in FACTS_IN_SUBAGENT:
        fact = FACTS_IN_SUBAGENT[envelope.name](shape)
    else:
        fact = FACTS.get(envelope.name, _observed)(shape)
    return Event(
        hook_meta(envelope, shape),
        fact,
        envelope.observations,
        envelope.decisions,
        anomaly or envelope.observations.anomaly,
        hook=kind,
        tool=use,
        texts=texts,
        team_signal=_team_signal(kind, body) if kind in TEAM_HOOKS else None,
    )


def hook_meta(envelope: Envelope, shape: wire.WireHook) -> Meta:
    """What the envelope and the common fields of a hook say."""
    return Meta(
        event_id=envelope.id,
        name=envelope.name,
        origin=envelope.origin,
        at=envelope.fired_at,
        received_at=envelope.received_at,
        host=envelope.host,
        session_id=shape.session_id,
        cwd=shape.cwd or shape.working_directory,
        transcript_path=shape.transcript_path,
        prompt_id=shape.prompt_id and short(shape.prompt_id),
        permission_mode=shape.permission_mode and short(shape.permission_mode),
        subagent_id=shape.agent_id and short(shape.agent_id),
        subagent_type=shape.agent_type and short(shape.agent_type),
    )


def _team_signal(kind: HookKind | None, body: Any) -> TeamSignal:
    team = fit(body, wire.WireTeam)[0]
    task = (team.task_subject or team.task_id or "") if kind is HookKind.TASK_COMPLETED else None
    return TeamSignal(team.teammate_name, team.team_name, task)


# --- tools ------------------------------------------------------------------------------------------------------------


def _permission_asked(use: ToolUse, body: wire.WireToolInput, shape: wire.WirePermissionRequest) -> Fact:
    summary, tool = tools.summary_of(body), short(shape.tool_name)
    ask = use.ask or Ask("permission", f"{tool}: {summary}" if summary else tool)
    suggestions = msgspec.json.encode(shape.permission_suggestions).decode() if shape.permission_suggestions else ""
    return facts.PermissionAsked(tool, tools.digest(shape.tool_input), summary, ask, suggestions)


def _tool_finished(_use: ToolUse, body: wire.WireToolInput, shape: wire.WirePostToolUse) -> Fact:
    response = fit(shape.tool_response, wire.WireToolResponse)[0]
    background = None
    if response.background_task_id:
        summary = tools.summary_of(body)
        background = facts.Task(id=short(response.background_task_id), kind="shell", description=summary)
    return facts.ToolFinished(
        short(shape.tool_use_id),
        short(shape.tool_name),
        tools.digest(shape.tool_input),
        tools.answer_of(response.answers or body.answers),
        background,
        short(response.agent_id) if response.status == "async_launched" else None,
    )


def _tool_failed(_use: ToolUse, _body: wire.WireToolInput, shape: wire.WirePostToolUseFailure) -> Fact:
    return facts.ToolFailed(
        short(shape.tool_use_id), short(shape.tool_name), tools.digest(shape.tool_input), one_line(shape.error)
    )


def _tool_refused(_use: ToolUse, _body: wire.WireToolInput, shape: wire.WirePermissionDenied) -> Fact:
    return facts.ToolRefused(
        short(shape.tool_use_id), short(shape.tool_name), tools.digest(shape.tool_input), one_line(shape.reason)
    )


def _step_finished(shape: wire.WirePostToolBatch) -> Fact:
    return facts.StepFinished(tuple(short(call.tool_use_id) for call in shape.tool_calls if call.tool_use_id))


# --- turns ------------------------------------------------------------------------------------------------------------


def _prompt(shape: wire.WirePrompt) -> Fact:
    return facts.PromptSubmitted(shape.prompt, finished_task(shape.prompt))


def _stopped(shape: wire.WireStop) -> Fact:
    if shape.error:
        return facts.TurnFailed(short(shape.error), shape.last_assistant_message or "")
    if shape.background_tasks is None:
        return facts.TurnStopped(shape.last_assistant_message, continued_before=shape.stop_hook_active)
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
        continued_before=shape.stop_hook_active,
    )


def _failed(shape: wire.WireStopFailure) -> Fact:
    return facts.TurnFailed(short(shape.error), shape.last_assistant_message or "")


def _notification(shape: wire.WireNotification) -> Fact:
    kind = ATTENTION.get(shape.notification_type)
    return facts.AttentionRequested(shape.notification_type, shape.message, Ask(kind, shape.message) if kind else None)


def _elicitation(shape: wire.WireElicitation) -> Fact:
    name = shape.elicitation_id or shape.mcp_server_name or ""
    text = "\n\n".join(part for part in (shape.message, shape.url) if part)
    return facts.ElicitationAsked(short(name), Ask("elicitation", text, form=parse_form(shape.requested_schema)))


def _elicitation_answered(shape: wire.WireElicitation) -> Fact:
    return facts.ElicitationAnswered(
        short(shape.elicitation_id or shape.mcp_server_name or ""), short(shape.action or "")
    )


def _subagent_started(shape: wire.WireHook) -> Fact:
    return facts.SubagentStarted() if shape.agent_id else facts.Observed()


def _subagent_stopped(shape: wire.WireStop | wire.WireStopFailure) -> Fact:
    """Compaction and prompt suggestions stop a "sub-agent" without a type that never started. It is ignored."""
    if not shape.agent_id or not shape.agent_type:
        return facts.Observed()
    return facts.SubagentStopped(shape.last_assistant_message or "")


def _teammate_stopped(shape: wire.WireTeammate) -> Fact:
    """A client that leads a team names it after its session. Its teammates are its sub-agents."""
    leads = bool(shape.session_id) and shape.team_name == f"session-{shape.session_id[:8]}"
    return facts.TeammateStopped(short(shape.teammate_name), leads or bool(shape.agent_id))


def _observed(_shape: wire.WireHook) -> Fact:
    return facts.Observed()


TOOL_FACTS: dict[str, Callable[[ToolUse, wire.WireToolInput, Any], Fact]] = {
    "PreToolUse": tools.tool_started,
    "PermissionRequest": _permission_asked,
    "PermissionDenied": _tool_refused,
    "PostToolUse": _tool_finished,
    "PostToolUseFailure": _tool_failed,
}
"""Hooks about a tool call."""

FACTS: dict[str, Callable[[Any], Fact]] = {
    "SessionStart": lambda shape: facts.SessionStarted(short(shape.source), short(shape.model)),
    "SessionEnd": lambda shape: facts.SessionEnded(short(shape.reason)),
    "UserPromptSubmit": _prompt,
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
    "TeammateIdle": _teammate_stopped,
}
"""Hooks with a fact of their own. All others only show that the agent is alive."""

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
"""What these hooks mean in a sub-agent, whose turn, context and directory are not the agent's."""


# --- other sources ----------------------------------------------------------------------------------------------------


def _decode_registry(envelope: Envelope, body: Any, anomaly: str | None) -> Event:
    entry, misfit = fit(body, wire.WireRegistryEntry)
    anomaly = misfit or anomaly
    meta = msgspec.structs.replace(bare_meta(envelope), session_id=entry.session_id, cwd=entry.cwd)
    if not entry.session_id:
        return Event(meta, facts.Observed(), envelope.observations, envelope.decisions, anomaly)
    kind = REGISTRY_WAITS.get(entry.waiting_for or "", "dialog")
    ask = Ask(kind, entry.waiting_for or "") if entry.status == "waiting" else None
    fact = facts.ClientReported(entry.status or "", ask, entry.entrypoint == HEADLESS)
    return Event(meta, fact, envelope.observations, envelope.decisions, anomaly)


def _decode_status_line(envelope: Envelope, body: Any, anomaly: str | None) -> Event:
    shape, misfit = fit(body, wire.WireStatusLine)
    usage = shape.context_window.current_usage
    measured = facts.UsageMeasured(
        model=short(shape.model.id),
        tokens=_input_tokens(usage) if usage is not None else None,
        window=shape.context_window.context_window_size,
        cost_usd=shape.cost.total_cost_usd,
        limits=tuple(
            facts.RateLimit(short(name), limit.used_percentage, limit.resets_at)
            for name, limit in islice(shape.rate_limits.items(), MAX_LIMITS)
            if limit.used_percentage is not None
        ),
    )
    return Event(hook_meta(envelope, shape), measured, envelope.observations, envelope.decisions, misfit or anomaly)


def _input_tokens(usage: wire.WireUsage) -> int:
    return usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens


DECODERS: dict[Origin, Callable[[Envelope, Any, str | None], Event]] = {
    Origin.REGISTRY: _decode_registry,
    Origin.STATUS_LINE: _decode_status_line,
    Origin.TRANSCRIPT: decode_line,
}
"""The decoders of everything but hooks."""
