"""Decode a line of `events.jsonl` into facts. Pure and total: nothing is raised, and unknown lines are reported.

Rules
- A line counts for its own time. It reaches the disk about 0.2 s later.
- Calls are identified by tool and input, as in hooks. A line that only has the id of its call is stored with the call.
- Headspace types a word into a refusal without a reason, because the client needs one. It is nobody's message.
- A dialog that was cancelled has no end of its own: the `abort` after it ends the turn.
- If a prompt is interrupted before the first word of the model, Copilot removes its lines and writes a checkpoint that
  names a rewind. That is an interrupt.
- `assistant.turn_end` ends one call of the model. It ends the turn if the model requested no call (`ends_turn`).
- Lines of sub-agents are in the file of the session, with an `agentId`.
"""

import hashlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

from claude_headspace.clients.copilot import tools
from claude_headspace.clients.copilot.transcript_wire import (
    WireCall,
    WireData,
    WireEvent,
    WireLine,
    WirePermission,
    WireUsage,
)
from claude_headspace.clients.dialog_answer import NO_REASON
from claude_headspace.clients.transcript_line import Line, parse_time
from claude_headspace.clients.unknown_lines import unknown
from claude_headspace.kernel import facts
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.facts import Event, Fact, Meta
from claude_headspace.kernel.text import one_line, short
from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.tools import ToolText, ToolUse
from claude_headspace.kernel.usage import ModelUsage, Tokens
from claude_headspace.kernel.wait.request import Ask

CANCELLED = "cancelled"
RESOLUTIONS = {"approved": "allowed", "denied-interactively-by-user": "denied"}
"""How a dialog ended, in the words of Headspace."""
REFUSALS = ("denied", "rejected")
"""Codes of calls that a person or a rule refused."""
REWIND = "rewind"
TOOLS_OF_PERMISSIONS = {"shell": "bash", "write": "edit", "read": "view", "url": "web_fetch"}
"""The tool of a dialog whose call is not known."""


class Decoded(NamedTuple):
    """A line with the shapes of all its parts."""

    stored: WireLine
    event: WireEvent
    data: WireData

    @property
    def call(self) -> WireCall:
        """The call that the line is about."""
        if self.data.tool_name:
            return WireCall(self.data.tool_name, self.data.arguments)
        return self.stored.call or WireCall()


# --- a line -----------------------------------------------------------------------------------------------------------


def read_stored(body: Any) -> Line | None:
    """The line, if it has facts or is unknown. `body` is the line as it is stored."""
    decoded, misfit = _shapes(body)
    found = _facts(decoded)
    problem = None if found else _unknown_part(decoded, misfit)
    if not (found or problem):
        return None
    stored, event = decoded.stored, decoded.event
    at, branch = parse_time(event.timestamp), decoded.data.context.branch
    subagent = short(event.agent_id) if event.agent_id else None
    key = short(event.id) if event.id else hashlib.blake2b(msgspec.json.encode(body), digest_size=12).hexdigest()
    return Line(at, stored.session_id, key, stored.cwd, found, subagent, branch and short(branch), problem)


def decode_line(envelope: Envelope, body: Any, anomaly: str | None) -> Event:
    """Decode a line. Never raises."""
    decoded, misfit = _shapes(body)
    found = _facts(decoded)
    meta = Meta(
        event_id=envelope.id,
        name=envelope.name,
        origin=envelope.origin,
        at=envelope.fired_at,
        received_at=envelope.received_at,
        session_id=decoded.stored.session_id,
        cwd=decoded.stored.cwd,
        subagent_id=short(decoded.event.agent_id) if decoded.event.agent_id else None,
    )
    fact = found[0] if len(found) == 1 else facts.Several(found) if found else facts.Observed()
    use = _use(decoded) if decoded.event.type in _ABOUT_CALLS else None
    texts = _texts(decoded, use) if use is not None else ()
    problem = misfit or anomaly or (None if found else _unknown_part(decoded, misfit))
    return Event(meta, fact, envelope.observations, envelope.decisions, problem, tool=use, texts=texts)


def _shapes(body: Any) -> tuple[Decoded, str | None]:
    stored, problem = fit(body, WireLine)
    event, of_event = fit(stored.line, WireEvent)
    data, of_data = fit(event.data if event.data is not None else {}, WireData)
    return Decoded(stored, event, data), problem or of_event or of_data


def _facts(decoded: Decoded) -> tuple[Fact, ...]:
    reader = READERS.get(decoded.event.type)
    return tuple(reader(decoded)) if reader is not None else ()


def _unknown_part(decoded: Decoded, misfit: str | None) -> str | None:
    """What is not known of a line without facts: its type, or the type of a field."""
    name = decoded.event.type
    if name in READERS:
        return misfit
    is_known = name in KNOWN or name.startswith(KNOWN_GROUPS)
    return None if is_known else unknown(name or "without a type")


# --- messages and turns -----------------------------------------------------------------------------------------------


def _session_started(decoded: Decoded) -> Iterator[Fact]:
    model = decoded.data.selected_model
    yield facts.SessionStarted("startup", short(model) if model else None)


def _user(decoded: Decoded) -> Iterator[Fact]:
    """A prompt. Messages with a source are from Copilot itself or from another agent."""
    if decoded.data.content and not decoded.data.source and not decoded.event.agent_id:
        yield facts.UserWrote(decoded.data.content)


def _assistant(decoded: Decoded) -> Iterator[Fact]:
    if decoded.data.content and not decoded.event.agent_id:
        yield facts.AgentWrote(decoded.data.content, final=not decoded.data.tool_requests)


def _turn_end(decoded: Decoded) -> Iterator[Fact]:
    if decoded.stored.ends_turn and not decoded.event.agent_id:
        yield facts.TurnClosed()


def _abort(decoded: Decoded) -> Iterator[Fact]:
    yield facts.TurnInterrupted()


def _checkpoint(decoded: Decoded) -> Iterator[Fact]:
    if any(REWIND in state.pending_rewrite_sources for state in decoded.data.prompt_cache_break_state):
        yield facts.TurnInterrupted()


def _error(decoded: Decoded) -> Iterator[Fact]:
    if not decoded.event.agent_id:
        data = decoded.data
        yield facts.TurnFailed(one_line(data.message or data.error_type or "error"), data.message)


def _usage(decoded: Decoded) -> Iterator[Fact]:
    """The tokens of one call of the model. Those of a sub-agent are not in the agent's context."""
    usage = decoded.data.usage
    if usage.input_tokens is None:
        return
    added = ModelUsage(model=short(usage.model), tokens=_tokens(usage, usage.input_tokens))
    if decoded.event.agent_id:
        yield facts.UsageMeasured(added=added)
    else:
        window = usage.max_prompt_tokens
        yield facts.UsageMeasured(model=added.model or None, tokens=usage.input_tokens, window=window, added=added)


def _tokens(usage: WireUsage, all_input: int) -> Tokens:
    fresh = max(all_input - usage.cache_read_tokens - usage.cache_write_tokens, 0)
    return Tokens(fresh, usage.cache_read_tokens, usage.cache_write_tokens, usage.output_tokens)


def _model_changed(decoded: Decoded) -> Iterator[Fact]:
    if decoded.data.new_model and not decoded.event.agent_id:
        yield facts.ModelSwitched(short(decoded.data.new_model))


def _compacted(decoded: Decoded) -> Iterator[Fact]:
    if not decoded.event.agent_id:
        yield facts.CompactionFinished(short(decoded.data.trigger))


def _subagent_started(decoded: Decoded) -> Iterator[Fact]:
    if decoded.event.agent_id:
        yield facts.SubagentStarted()
        yield facts.SubagentDescribed(short(decoded.data.agent_name), one_line(decoded.data.agent_description))


def _subagent_stopped(decoded: Decoded) -> Iterator[Fact]:
    if decoded.event.agent_id:
        yield facts.SubagentStopped()


# --- calls and dialogs ------------------------------------------------------------------------------------------------


def _use(decoded: Decoded) -> ToolUse:
    call = decoded.call
    if not call.name and decoded.event.type == "permission.requested":
        call = _call_of_permission(decoded.data.permission_request)
    result = None
    if decoded.event.type == "tool.execution_complete":
        result = decoded.data.result.content if decoded.data.success else decoded.data.error.message
    return tools.tool_use(tools.own_name(call.name), call.arguments, result)


def _call_of_permission(asked: WirePermission) -> WireCall:
    """The call that a dialog is about, as far as the dialog tells."""
    if asked.tool_name:
        return WireCall(asked.tool_name, asked.tool_args)
    fields = {"command": asked.full_command_text, "path": asked.path or asked.file_name, "url": asked.url}
    known = {name: value for name, value in fields.items() if value}
    return WireCall(TOOLS_OF_PERMISSIONS.get(asked.kind, asked.kind), known)


def _texts(decoded: Decoded, use: ToolUse) -> tuple[ToolText, ...]:
    if decoded.event.type == "tool.execution_start":
        return (ToolText("tool_input", use.name or None, use.input),)
    if decoded.event.type == "tool.execution_complete":
        return (ToolText("tool_result", use.name or None, use.result),)
    return ()


def _tool_started(decoded: Decoded) -> Iterator[Fact]:
    yield tools.tool_started(_use(decoded))


def _tool_ended(decoded: Decoded) -> Iterator[Fact]:
    if not decoded.call.name:
        return
    use, data = _use(decoded), decoded.data
    mark = tools.digest(use.input)
    if data.success:
        answer = tools.answer_of(data.result.content) if use.ask is not None else ""
        yield facts.ToolFinished(use.id, use.name, mark, answer)
    elif data.error.code in REFUSALS:
        yield facts.ToolRefused(use.id, use.name, mark, one_line(data.error.message))
    else:
        yield facts.ToolFailed(use.id, use.name, mark, one_line(data.error.message))


def _permission_asked(decoded: Decoded) -> Iterator[Fact]:
    if not decoded.data.request_id:
        return
    use = _use(decoded)
    summary = tools.summary_of(use.input)
    yield facts.PermissionAsked(
        use.name,
        tools.digest(use.input),
        summary,
        Ask("permission", f"{use.name}: {summary}" if summary else use.name),
        call_id=use.id or "",
        request_id=short(decoded.data.request_id),
    )


def _permission_ended(decoded: Decoded) -> Iterator[Fact]:
    result = decoded.data.result
    if decoded.data.request_id and result.kind and result.kind != CANCELLED:
        resolution = RESOLUTIONS.get(result.kind) or short(result.kind)
        words = "" if result.feedback == NO_REASON else one_line(result.feedback)
        yield facts.DialogClosed(short(decoded.data.request_id), resolution, words)


READERS: dict[str, Callable[[Decoded], Iterator[Fact]]] = {
    "session.start": _session_started,
    "user.message": _user,
    "assistant.message": _assistant,
    "assistant.turn_end": _turn_end,
    "tool.execution_start": _tool_started,
    "tool.execution_complete": _tool_ended,
    "permission.requested": _permission_asked,
    "permission.completed": _permission_ended,
    "abort": _abort,
    "session.error": _error,
    "session.usage_record": _usage,
    "session.usage_checkpoint": _checkpoint,
    "session.model_change": _model_changed,
    "session.compaction_complete": _compacted,
    "subagent.started": _subagent_started,
    "subagent.completed": _subagent_stopped,
    "subagent.failed": _subagent_stopped,
}
"""The lines with facts, by type."""

KNOWN_GROUPS = ("hook.", "model.", "system.", "user_input.", "elicitation.", "external_tool.", "exit_plan_mode.")
"""Groups of lines without use."""
KNOWN = frozenset(
    {
        *("assistant.turn_start", "assistant.intent", "assistant.reasoning", "assistant.usage", "command.execute"),
        *("session.resume", "session.shutdown", "session.compaction_start", "session.idle", "session.info"),
        *("session.warning", "session.mode_changed", "session.plan_changed", "session.title_changed"),
        *("session.context_changed", "session.truncation", "session.handoff", "session.snapshot_rewind"),
        *("session.workspace_file_changed", "session.usage_info", "session.task_complete", "human_response.recorded"),
        *("subagent.configured", "subagent.selected", "subagent.deselected", "skill.invoked", "tool.user_requested"),
    }
)
"""Lines without use. Those not in the recordings are documented events of the client."""

_ABOUT_CALLS = ("tool.execution_start", "tool.execution_complete", "permission.requested")


def is_message(owner: dict[object, object], key: object) -> bool:
    """Whether a string of a line is a message: what the user or the agent wrote, or the feedback of a refusal."""
    return (key == "content" and "messageId" in owner) or key == "feedback"
