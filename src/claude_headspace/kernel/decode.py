"""Foreign words become our facts. Total: whatever arrives, an `Event` comes out.

Rules
- An unknown event, a missing field or one of the wrong type is data: it becomes `Observed`, or the field is left out,
  and the oddity is noted as the event's anomaly.
- What a sub-agent reports never becomes a fact of the main thread's turn or session.
- Decoding runs again at every replay, so it depends on the envelope alone.
- Nothing outside this module knows how Claude Code spells things.
"""

import hashlib
import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from claude_headspace.kernel import facts, wire
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.facts import Ask, Event, Fact, Meta

ASKING_TOOLS = {"AskUserQuestion": "question", "ExitPlanMode": "plan", "EnterPlanMode": "plan"}
"""The tools that are themselves a question to the human, and what they wait for."""

ATTENTION = {
    "permission_prompt": "permission",
    "agent_needs_input": "dialog",
    "elicitation_dialog": "elicitation",
}
"""Notifications that imply an open dialog. All others (`idle_prompt`, `auth_success`, …) imply none."""

REGISTRY_WAITS = {"permission prompt": "permission", "input needed": "question", "dialog open": "dialog"}

SUMMARY_LIMIT = 300

_SUMMARY_FIELDS = (
    "command",
    "file_path",
    "notebook_path",
    "pattern",
    "url",
    "query",
    "skill",
    "subject",
    "description",
    "prompt",
    "path",
)
_TASK_ID = re.compile(r"<task-id>([^<]{1,200})</task-id>")
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""An escape in a JSON text: a whole pair of surrogates, half of one (the group), or any other."""

_UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeError)

_T = TypeVar("_T")
_Shape = TypeVar("_Shape", bound=msgspec.Struct)


def decode(envelope: Envelope) -> Event:
    """Give the envelope its meaning. Never raises."""
    match envelope.origin:
        case Origin.REGISTRY:
            return _decode_registry(envelope)
        case Origin.OPERATOR:
            return _decode_operator(envelope)
        case Origin.PROCESS:
            return Event(_bare_meta(envelope), facts.ClientVanished(envelope.context.client_pid), envelope.context)
        case Origin.HOOK | Origin.TRANSCRIPT | Origin.STATUS_LINE | Origin.TIMER:
            return _decode_hook(envelope)


def _decode_hook(envelope: Envelope) -> Event:
    known = wire.HOOKS.get(envelope.name)
    shape, anomaly = tolerant(envelope.payload, known or wire.WireHook)
    if known is None:
        fact: Fact = facts.Observed()
        anomaly = anomaly or f"unknown event {envelope.name}"
    elif shape.agent_id and envelope.name in FACTS_IN_SUBAGENT:
        fact = FACTS_IN_SUBAGENT[envelope.name](shape)
    else:
        fact = FACTS.get(envelope.name, _observed)(shape)
    return Event(_meta(envelope, shape), fact, envelope.context, anomaly)


def tolerant(payload: bytes | msgspec.Raw, shape: type[_Shape]) -> tuple[_Shape, str | None]:
    """Read a payload into a shape; leave out what does not fit and say so."""
    try:
        return msgspec.json.decode(payload, type=shape), None
    except _UNREADABLE:
        return _salvaged(bytes(payload), shape)


def _salvaged(payload: bytes, shape: type[_Shape]) -> tuple[_Shape, str]:
    """Keep the fields that fit, be it after mending."""
    members = None
    if payload.lstrip()[:1] == b"{":
        members = _read(payload, dict[str, msgspec.Raw]) or _read(_mended(payload), dict[str, msgspec.Raw])
    if members is None:
        return shape(), "payload is not a JSON object"
    kept: dict[str, object] = {}
    dropped: list[str] = []
    for field in msgspec.structs.fields(shape):
        if field.encode_name in members:
            member = b'{"%s":%s}' % (field.encode_name.encode(), bytes(members[field.encode_name]))
            fitting = _read(member, shape) or _read(_mended(member), shape)
            if fitting is None:
                dropped.append(field.encode_name)
            else:
                kept[field.name] = getattr(fitting, field.name)
    return shape(**kept), f"unexpected type of {', '.join(sorted(dropped))}" if dropped else "text is not Unicode"


def _read(payload: bytes, shape: type[_T]) -> _T | None:
    try:
        return msgspec.json.decode(payload, type=shape)
    except _UNREADABLE:
        return None


def _mended(payload: bytes) -> bytes:
    """Replace what is no text: half an emoji (a cut in JavaScript leaves one) or bytes that are not UTF-8."""
    whole = _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], payload)
    return whole.decode("utf-8", "replace").encode()


def _meta(envelope: Envelope, shape: wire.WireHook) -> Meta:
    return Meta(
        event_id=envelope.id,
        name=envelope.name,
        origin=envelope.origin,
        at=envelope.fired_at,
        received_at=envelope.received_at,
        session_id=shape.session_id,
        cwd=shape.cwd or shape.working_directory,
        transcript_path=shape.transcript_path,
        prompt_id=shape.prompt_id,
        permission_mode=shape.permission_mode,
        subagent_id=shape.agent_id,
        subagent_type=shape.agent_type,
    )


def _bare_meta(envelope: Envelope) -> Meta:
    return Meta(
        event_id=envelope.id,
        name=envelope.name,
        origin=envelope.origin,
        at=envelope.fired_at,
        received_at=envelope.received_at,
    )


# --- tools ------------------------------------------------------------------------------------------------------------


def digest(raw: msgspec.Raw) -> str:
    """Tell inputs apart: the dialog of a call repeats its input but not its id."""
    return hashlib.blake2b(bytes(raw), digest_size=8).hexdigest()


def one_line(text: str, limit: int = SUMMARY_LIMIT) -> str:
    """Fold white space and cut at a word's end."""
    folded = " ".join(text[: limit * 4].split())
    if len(folded) <= limit:
        return folded
    return folded[: limit - 1].rsplit(" ", 1)[0] + "…"


def _summary(tool_input: wire.WireToolInput) -> str:
    found = next((value for name in _SUMMARY_FIELDS if (value := getattr(tool_input, name))), "")
    return one_line(found)


def _ask(tool: str, tool_input: wire.WireToolInput) -> Ask | None:
    kind = ASKING_TOOLS.get(tool)
    if kind is None:
        return None
    questions = tuple(
        facts.Question(
            question.question,
            question.header,
            tuple(facts.Option(option.label, option.description) for option in question.options),
            question.multi_select,
        )
        for question in tool_input.questions
    )
    text = "\n".join(question.text for question in questions) or tool_input.plan or ""
    return Ask(kind, text, questions)


def _tool_input(shape: wire.WireTool) -> wire.WireToolInput:
    return tolerant(shape.tool_input, wire.WireToolInput)[0]


def _tool_started(shape: wire.WireTool) -> Fact:
    body = _tool_input(shape)
    mark = digest(shape.tool_input)
    return facts.ToolStarted(
        shape.tool_use_id or f"{shape.tool_name}:{mark}",
        shape.tool_name,
        mark,
        _summary(body),
        _ask(shape.tool_name, body),
    )


def _permission_asked(shape: wire.WirePermissionRequest) -> Fact:
    body = _tool_input(shape)
    summary = _summary(body)
    ask = _ask(shape.tool_name, body) or Ask(
        "permission", f"{shape.tool_name}: {summary}" if summary else shape.tool_name
    )
    suggestions = msgspec.json.encode(shape.permission_suggestions).decode() if shape.permission_suggestions else ""
    return facts.PermissionAsked(shape.tool_name, digest(shape.tool_input), summary, ask, suggestions)


def _tool_finished(shape: wire.WirePostToolUse) -> Fact:
    response = tolerant(shape.tool_response, wire.WireToolResponse)[0]
    body = _tool_input(shape)
    background = None
    if response.background_task_id:
        background = facts.Task(id=response.background_task_id, kind="shell", description=_summary(body))
    return facts.ToolFinished(
        shape.tool_use_id,
        shape.tool_name,
        digest(shape.tool_input),
        _answer(response.answers or body.answers),
        background,
        response.agent_id if response.status == "async_launched" else None,
    )


def _answer(answers: dict[str, object]) -> str:
    return "\n".join(f"{question} {answer}" for question, answer in answers.items() if isinstance(answer, str))


def _tool_failed(shape: wire.WirePostToolUseFailure) -> Fact:
    return facts.ToolFailed(shape.tool_use_id, shape.tool_name, digest(shape.tool_input), one_line(shape.error))


def _tool_refused(shape: wire.WirePermissionDenied) -> Fact:
    return facts.ToolRefused(shape.tool_use_id, shape.tool_name, digest(shape.tool_input), one_line(shape.reason))


def _step_finished(shape: wire.WirePostToolBatch) -> Fact:
    return facts.StepFinished(tuple(call.tool_use_id for call in shape.tool_calls if call.tool_use_id))


# --- turns ------------------------------------------------------------------------------------------------------------


def _prompt(shape: wire.WirePrompt) -> Fact:
    if shape.prompt.lstrip().startswith("<task-notification>"):
        found = _TASK_ID.search(shape.prompt)
        return facts.PromptSubmitted(shape.prompt, found.group(1) if found else "")
    return facts.PromptSubmitted(shape.prompt)


def _stopped(shape: wire.WireStop) -> Fact:
    if shape.background_tasks is None:
        return facts.TurnStopped(shape.last_assistant_message)
    return facts.TurnStopped(
        shape.last_assistant_message,
        tuple(
            facts.Task(
                id=task.id,
                kind=task.type,
                description=one_line(task.command or task.description or ""),
                subagent_type=task.agent_type or "",
            )
            for task in shape.background_tasks
            if task.id and task.status == "running"
        ),
    )


def _failed(shape: wire.WireStopFailure) -> Fact:
    return facts.TurnFailed(shape.error, shape.last_assistant_message or "")


def _notification(shape: wire.WireNotification) -> Fact:
    kind = ATTENTION.get(shape.notification_type)
    return facts.AttentionCalled(shape.notification_type, shape.message, Ask(kind, shape.message) if kind else None)


def _elicitation(shape: wire.WireElicitation) -> Fact:
    name = shape.elicitation_id or shape.mcp_server_name or ""
    return facts.ElicitationAsked(name, Ask("elicitation", shape.message))


def _elicitation_answered(shape: wire.WireElicitation) -> Fact:
    return facts.ElicitationAnswered(shape.elicitation_id or shape.mcp_server_name or "", shape.action or "")


def _subagent_started(shape: wire.WireHook) -> Fact:
    return facts.SubagentStarted() if shape.agent_id else facts.Observed()


def _subagent_stopped(shape: wire.WireStop | wire.WireStopFailure) -> Fact:
    """Compaction and prompt suggestions stop a "sub-agent" without a type that never started: not one of ours."""
    if not shape.agent_id or not shape.agent_type:
        return facts.Observed()
    return facts.SubagentStopped(shape.last_assistant_message or "")


def _observed(_shape: wire.WireHook) -> Fact:
    return facts.Observed()


FACTS: dict[str, Callable[[Any], Fact]] = {
    "SessionStart": lambda shape: facts.SessionStarted(shape.source, shape.model),
    "SessionEnd": lambda shape: facts.SessionEnded(shape.reason),
    "UserPromptSubmit": _prompt,
    "PreToolUse": _tool_started,
    "PermissionRequest": _permission_asked,
    "PermissionDenied": _tool_refused,
    "PostToolUse": _tool_finished,
    "PostToolUseFailure": _tool_failed,
    "PostToolBatch": _step_finished,
    "Notification": _notification,
    "SubagentStart": _subagent_started,
    "SubagentStop": _subagent_stopped,
    "TaskCreated": lambda shape: facts.TodoAdded(shape.task_id),
    "TaskCompleted": lambda shape: facts.TodoDone(shape.task_id),
    "Stop": _stopped,
    "StopFailure": _failed,
    "PreCompact": lambda shape: facts.CompactionStarted(shape.trigger),
    "PostCompact": lambda _shape: facts.CompactionFinished(),
    "PostModelSwitch": lambda shape: facts.ModelSwitched(shape.to_model),
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


def _decode_registry(envelope: Envelope) -> Event:
    entry, anomaly = tolerant(envelope.payload, wire.WireRegistryEntry)
    meta = msgspec.structs.replace(_bare_meta(envelope), session_id=entry.session_id, cwd=entry.cwd)
    if not entry.status:
        return Event(meta, facts.Observed(), envelope.context, anomaly)
    kind = REGISTRY_WAITS.get(entry.waiting_for or "", "dialog")
    ask = Ask(kind, entry.waiting_for or "") if entry.status == "waiting" else None
    return Event(meta, facts.ClientReported(entry.status, ask), envelope.context, anomaly)


class _Renaming(msgspec.Struct):
    name: str = ""


def _decode_operator(envelope: Envelope) -> Event:
    if envelope.name == "AgentRenamed":
        shape, anomaly = tolerant(envelope.payload, _Renaming)
        return Event(_bare_meta(envelope), facts.AgentRenamed(shape.name), envelope.context, anomaly)
    return Event(_bare_meta(envelope), facts.Observed(), envelope.context, f"unknown act {envelope.name}")
