"""Decode hooks and transcript lines of Gemini CLI into facts. Pure and total.

Rules
- The end of a turn (`AfterAgent`) also fires when the user interrupts a turn and when the API fails, and looks the
  same. It only reports an end; the transcript shows how the turn ended.
- A call that the user interrupted ends its turn: no other hook reports that.
- `PreCompress` fires before every call of the model. Only a manual one means something.
- Dialogs do not name their call. They are joined with it by tool and summary.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from claude_headspace.clients.claude_code.tools import digest
from claude_headspace.clients.gemini import messages, tools
from claude_headspace.clients.gemini.chat import decode_line
from claude_headspace.clients.gemini.hook_kinds import KINDS
from claude_headspace.clients.gemini.wire import NOTIFICATION, WireDetails, WireHook, WireResponse
from claude_headspace.kernel import facts
from claude_headspace.kernel.act_events import bare_meta
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.facts import Event, Fact, Meta
from claude_headspace.kernel.text import one_line, short, strings_in
from claude_headspace.kernel.tolerant_json import fit
from claude_headspace.kernel.tools import ToolText, ToolUse
from claude_headspace.kernel.wait.request import Ask

SOURCES = {"startup": "startup", "resume": "resume", "clear": "clear"}


def decode(envelope: Envelope, body: Any, anomaly: str | None) -> Event:
    """Decode an envelope of any source. Never raises."""
    if envelope.origin is Origin.TRANSCRIPT:
        return decode_line(envelope, body, anomaly)
    shape, misfit = fit(body, WireHook)
    known = envelope.name in KINDS
    use = _tool_use(envelope.name, shape)
    return Event(
        _meta(envelope, shape),
        _fact(envelope.name, shape, use),
        envelope.observations,
        envelope.decisions,
        misfit or anomaly or (None if known else f"unknown event {envelope.name}") or envelope.observations.anomaly,
        hook=KINDS.get(envelope.name),
        tool=use,
        texts=_texts(envelope.name, use),
    )


def _meta(envelope: Envelope, shape: WireHook) -> Meta:
    return msgspec.structs.replace(
        bare_meta(envelope), session_id=shape.session_id, cwd=shape.cwd, transcript_path=shape.transcript_path
    )


def _fact(name: str, shape: WireHook, use: ToolUse | None) -> Fact:
    if use is not None and name in TOOL_FACTS:
        return TOOL_FACTS[name](use, shape)
    return FACTS[name](shape) if name in FACTS else facts.Observed()


# --- tools ------------------------------------------------------------------------------------------------------------


def _tool_use(name: str, shape: WireHook) -> ToolUse | None:
    if name in ("BeforeTool", "AfterTool"):
        result = shape.tool_response if name == "AfterTool" else None
        return tools.tool_use(shape.tool_name, shape.tool_input, result)
    if name == "Notification" and shape.notification_type == NOTIFICATION:
        return _asked_use(fit(shape.details, WireDetails)[0], shape.cwd or "")
    return None


def _asked_use(details: WireDetails, cwd: str) -> ToolUse | None:
    """The call that a dialog is about, as far as the dialog shows it. None for a question: its call has it.

    The dialog on the screen names a file of the project by its relative path.
    """
    match details.type:
        case "exec":
            return tools.tool_use(tools.SHELL, {"command": details.command})
        case "edit":
            tool = tools.WRITE if details.title.startswith(messages.WRITE_TITLE) else tools.EDIT
            path = details.file_path.removeprefix(f"{cwd}/") if cwd else details.file_path
            return tools.tool_use(tool, {"file_path": path, "content": details.new_content})
        case "mcp":
            name = f"{tools.MCP_PREFIX}{details.server_name}_{details.tool_name}"
            return tools.tool_use(name, {})
        case "info":
            return tools.tool_use(tools.FETCH, {"prompt": details.prompt, "url": "\n".join(details.urls)})
        case _:
            return None


def _asked(use: ToolUse, _shape: WireHook) -> Fact:
    """A dialog for a call. Its input is not known completely, so it has no digest."""
    tool, summary = short(use.name), tools.summary_of(use.input)
    return facts.PermissionAsked(tool, "", summary, Ask("permission", f"{tool}: {summary}" if summary else tool))


def _ended(use: ToolUse, shape: WireHook) -> Fact:
    response = fit(shape.tool_response, WireResponse)[0]
    name, mark = short(use.name), digest(use.input)
    if any(messages.CALL_CANCELLED in text for text in strings_in(response.display)):
        return facts.TurnInterrupted()
    if response.error is not None:
        return facts.ToolFailed(None, name, mark, one_line(response.error.message))
    return facts.ToolFinished(None, name, mark, answer_of(use, response))


def answer_of(use: ToolUse, response: WireResponse) -> str:
    """What the user answered to the questions of a call, in one text."""
    if use.ask is None or not isinstance(response.llm_content, str):
        return ""
    try:
        answers = msgspec.json.decode(response.llm_content)["answers"]
        pairs = [(use.ask.questions[int(number)].text, answer) for number, answer in answers.items()]
    except (msgspec.DecodeError, LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return ""
    return "\n".join(f"{question} {answer}" for question, answer in pairs if isinstance(answer, str))


def _texts(name: str, use: ToolUse | None) -> tuple[ToolText, ...]:
    if use is None or name not in TEXT_KINDS:
        return ()
    value = use.input if name == "BeforeTool" else fit(use.result, WireResponse)[0].llm_content
    return (ToolText(TEXT_KINDS[name], use.name or None, value),)


TEXT_KINDS = {"BeforeTool": "tool_input", "AfterTool": "tool_result"}
"""What search finds of a call. The display of a result repeats it with colours."""

TOOL_FACTS: dict[str, Callable[[ToolUse, WireHook], Fact]] = {
    "BeforeTool": lambda use, _shape: tools.tool_started(use),
    "Notification": _asked,
    "AfterTool": _ended,
}
"""Hooks about a tool call."""


# --- turns and sessions -----------------------------------------------------------------------------------------------


def _notification(shape: WireHook) -> Fact:
    """A question: its call has the text. Or a dialog of an unknown kind."""
    details = fit(shape.details, WireDetails)[0]
    if shape.notification_type != NOTIFICATION:
        return facts.AttentionRequested(short(shape.notification_type), shape.message)
    kind = "question" if details.type == "ask_user" else "permission"
    return facts.AttentionRequested(NOTIFICATION, shape.message, Ask(kind, details.title or shape.message))


def _end_reported(shape: WireHook) -> Fact:
    words = shape.prompt_response.strip()
    return facts.TurnEndReported("" if words == messages.NO_RESPONSE else words)


def _compaction(shape: WireHook) -> Fact:
    return facts.CompactionStarted("manual") if shape.trigger == "manual" else facts.Observed()


FACTS: dict[str, Callable[[WireHook], Fact]] = {
    "SessionStart": lambda shape: facts.SessionStarted(SOURCES.get(shape.source, "startup")),
    "SessionEnd": lambda shape: facts.SessionEnded(short(shape.reason)),
    "BeforeAgent": lambda shape: facts.PromptSubmitted(shape.prompt),
    "Notification": _notification,
    "AfterAgent": _end_reported,
    "PreCompress": _compaction,
}
"""Hooks with a fact of their own. All others only show that the agent is alive."""
