"""Decode the reports of opencode's plugin, and rows of its database, into facts. Pure and total.

Rules
- An unknown event, a missing field or a field of the wrong type is data: it becomes `Observed`, or the field is left
  out, and the event's anomaly says so.
- A sub-agent's report never becomes a fact about the main thread's turn or session.
- A rejected permission ends the turn: the rejected call says so, not the reply to the dialog.
- After an abort the client ends its calls when the turn is over already. They are no signs of work.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from claude_headspace.clients.claude_code.tools import digest
from claude_headspace.clients.opencode import tools, wire
from claude_headspace.clients.opencode.hook_kinds import KINDS
from claude_headspace.clients.opencode.messages import FEEDBACK, REFUSED, REJECTED
from claude_headspace.clients.opencode.questions import questions_answered, questions_asked
from claude_headspace.clients.opencode.suggestions import as_suggestions
from claude_headspace.clients.opencode.transcript import ABORTED, decode_line
from claude_headspace.clients.opencode.usage import usage_of
from claude_headspace.kernel import facts
from claude_headspace.kernel.act_events import bare_meta
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.facts import Event, Fact, Meta
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.text import one_line, short
from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.tools import ToolText, ToolUse
from claude_headspace.kernel.wait.request import Ask

RESOLUTIONS = {"once": "allowed", "always": "allowed always"}

TEXT_KINDS = {
    HookKind.BEFORE_TOOL: "tool_input",
    HookKind.AFTER_TOOL: "tool_result",
    HookKind.TOOL_FAILED: "tool_result",
}
"""What search finds of a call: the input when it begins, the result when it ended."""


def decode(envelope: Envelope, body: Any, anomaly: str | None) -> Event:
    """Decode an envelope. Never raises."""
    if envelope.origin is Origin.TRANSCRIPT:
        return decode_line(envelope, body, anomaly)
    report, misfit = fit(body, wire.WireReport)
    decode_fact = (SUBAGENT_FACTS if report.agent_id else FACTS).get(envelope.name)
    known = envelope.name in FACTS
    anomaly = misfit or anomaly or (None if known else f"unknown event {envelope.name}")
    kind, use = KINDS.get(envelope.name), _tool_use(report)
    return Event(
        _meta(envelope, report),
        decode_fact(report) if decode_fact is not None else facts.Observed(),
        envelope.observations,
        envelope.decisions,
        anomaly or envelope.observations.anomaly,
        hook=kind,
        tool=use,
        texts=_texts(kind, use) if use is not None else (),
    )


def _meta(envelope: Envelope, report: wire.WireReport) -> Meta:
    return msgspec.structs.replace(
        bare_meta(envelope),
        session_id=report.session_id,
        cwd=report.cwd,
        prompt_id=short(report.turn_id) or None,
        subagent_id=short(report.agent_id) or None,
        subagent_type=short(report.agent_type) or None,
    )


def _tool_use(report: wire.WireReport) -> ToolUse | None:
    if report.tool_name is None:
        return None
    result = report.error or report.tool_response
    return tools.tool_use(report.tool_name, report.tool_input, report.tool_use_id, result)


def _texts(kind: HookKind | None, use: ToolUse) -> tuple[ToolText, ...]:
    if kind not in TEXT_KINDS:
        return ()
    text = use.input if kind is HookKind.BEFORE_TOOL else use.result
    return (ToolText(TEXT_KINDS[kind], use.name or None, text),)


# --- sessions and turns -----------------------------------------------------------------------------------------------


def _created(report: wire.WireReport) -> Fact:
    info = fit(report.event, wire.WireCreated)[0].info
    return facts.SessionStarted(short(report.source) or "startup", short(info.model.id or info.model.model_id) or None)


def _child_created(report: wire.WireReport) -> Fact:
    info = fit(report.event, wire.WireCreated)[0].info
    return facts.Several((facts.SubagentStarted(), facts.SubagentDescribed(short(info.agent), one_line(info.title))))


def _prompt(report: wire.WireReport) -> Fact:
    parts = fit(report.event, wire.WirePrompt)[0].parts
    texts = [part.text or f"[{part.filename}]" for part in parts if not part.synthetic and (part.text or part.filename)]
    return facts.PromptSubmitted("\n".join(texts))


def _status(report: wire.WireReport) -> Fact:
    status = fit(report.event, wire.WireStatusEvent)[0].status
    if status.type != "idle":
        return facts.ClientReported("busy") if status.type else facts.Observed()
    return facts.ClientReported("idle") if report.failed else facts.TurnStopped(report.message or "")


def _child_status(report: wire.WireReport) -> Fact:
    status = fit(report.event, wire.WireStatusEvent)[0].status
    return facts.SubagentStopped(report.message or "") if status.type == "idle" else facts.SubagentStarted()


def _error(report: wire.WireReport) -> Fact:
    error = fit(report.event, wire.WireErrorEvent)[0].error
    if error.name == ABORTED:
        return facts.TurnInterrupted()
    return facts.TurnFailed(short(error.name) or "error", error.data.message)


def _wrote(report: wire.WireReport) -> Fact:
    return facts.AgentWrote(report.message) if report.message else facts.Observed()


def _usage(report: wire.WireReport) -> Fact:
    usage = fit(report.event, wire.WireUsage)[0]
    return usage_of(usage.model_id, usage.tokens, usage.cost, window=usage.window)


def _todos(report: wire.WireReport) -> Fact:
    todos = [(digest(each.content), each.status) for each in fit(report.event, wire.WireTodos)[0].todos]
    done = (facts.TodoDone(key) for key, status in todos if status == "completed")
    return facts.Several((*(facts.TodoAdded(key) for key, _ in todos), *done))


# --- calls and dialogs ------------------------------------------------------------------------------------------------


def _before_tool(report: wire.WireReport) -> Fact:
    return tools.tool_started(tools.tool_use(report.tool_name or "", report.tool_input, report.tool_use_id))


def _after_tool(report: wire.WireReport) -> Fact:
    if report.after_turn:
        return facts.Observed()
    return facts.ToolFinished(short(report.tool_use_id), short(report.tool_name or ""), digest(report.tool_input))


def _tool_error(report: wire.WireReport) -> Fact:
    if report.after_turn:
        return facts.Observed()
    call_id, name, mark = short(report.tool_use_id), short(report.tool_name or ""), digest(report.tool_input)
    if report.error.startswith(REJECTED):
        _, _, feedback = report.error.partition(FEEDBACK)
        return facts.ToolRejected(call_id, feedback)
    if report.error.startswith(REFUSED):
        return facts.ToolRefused(call_id, name, mark, one_line(report.error))
    return facts.ToolFailed(call_id, name, mark, one_line(report.error))


def _permission(report: wire.WireReport) -> Fact:
    asked = fit(report.event, wire.WirePermission)[0]
    patterns = one_line(", ".join(asked.patterns))
    tool = short(report.tool_name or asked.permission)
    summary = tools.summary_of(report.tool_input) or patterns
    words = f"{tool}: {summary}" if summary else tool
    if asked.permission not in (tool, "edit"):
        words = f"{words} ({one_line(asked.permission)}: {patterns})"
    if asked.permission == tools.EXTERNAL_DIRECTORY:
        tool, summary = asked.permission, patterns
    return facts.PermissionAsked(
        tool,
        digest(report.tool_input),
        summary,
        Ask("permission", words),
        as_suggestions(asked),
        call_id=short(report.tool_use_id or ""),
        request_id=short(asked.id),
    )


def _question(report: wire.WireReport) -> Fact:
    asked = fit(report.event, wire.WireQuestions)[0]
    call = {"tool": report.tool_name or "", "call_id": report.tool_use_id or "", "digest": digest(report.tool_input)}
    return questions_asked(asked.questions, asked.id, **call)


def _permission_replied(report: wire.WireReport) -> Fact:
    reply = fit(report.event, wire.WireReply)[0]
    resolution = RESOLUTIONS.get(reply.reply)
    return facts.DialogClosed(short(reply.request_id), resolution) if resolution else facts.Observed()


def _question_replied(report: wire.WireReport) -> Fact:
    reply = fit(report.event, wire.WireReply)[0]
    return questions_answered(reply.request_id, reply.answers)


def _observed(_report: wire.WireReport) -> Fact:
    return facts.Observed()


FACTS: dict[str, Callable[[wire.WireReport], Fact]] = {
    "session.created": _created,
    "session.status": _status,
    "session.error": _error,
    "session.cost": lambda report: facts.UsageMeasured(cost_usd=report.cost),
    "session.compacting": lambda _report: facts.CompactionStarted("manual"),
    "session.compacted": lambda _report: facts.CompactionFinished("manual"),
    "dispose": lambda _report: facts.SessionEnded("exit"),
    "chat.message": _prompt,
    "message.text": _wrote,
    "message.updated": _usage,
    "todo.updated": _todos,
    "tool.execute.before": _before_tool,
    "tool.execute.after": _after_tool,
    "tool.error": _tool_error,
    "permission.asked": _permission,
    "permission.replied": _permission_replied,
    "question.asked": _question,
    "question.replied": _question_replied,
    "question.rejected": _observed,
}

SUBAGENT_FACTS: dict[str, Callable[[wire.WireReport], Fact]] = {
    "session.created": _child_created,
    "session.status": _child_status,
    "chat.message": lambda _report: facts.SubagentStarted(),
    "tool.execute.before": _before_tool,
    "tool.execute.after": _after_tool,
    "tool.error": _tool_error,
    "permission.asked": _permission,
    "permission.replied": _permission_replied,
    "question.asked": _question,
    "question.replied": _question_replied,
}
"""What the reports mean in a sub-agent, whose turn and context are not the agent's."""
