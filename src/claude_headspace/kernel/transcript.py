"""One line of a transcript becomes facts. Total: whatever a line holds, nothing is raised; unknown lines say nothing.

Claude Code writes `<config dir>/projects/<directory>/<session id>.jsonl`, and one file for each sub-agent below it. The
format is undocumented, measured on 2.1.197 and 2.1.325 and known nowhere but here.

Rules
- A line speaks for its own time, not for when it was read: it reaches the disk up to half a second later.
- One line is one block of a message. The lines of a message repeat its `usage`: it replaces, it is never added up.
- Only what the human typed is a prompt. Injected text (`isMeta`), results, local commands and their output are not.
- What a sub-agent's file says is about the sub-agent; its words are not the agent's.
- Most lines say nothing about the agent: `Line.facts` is empty, and such a line is not worth keeping.
"""

import hashlib
import html
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial

import msgspec

from claude_headspace.kernel import facts, wire
from claude_headspace.kernel.envelope import Envelope, Micros
from claude_headspace.kernel.facts import Event, Fact, Meta
from claude_headspace.kernel.reading import (
    answer_of,
    one_line,
    short,
    task_that_came_back,
    tolerant,
    tool_started,
)
from claude_headspace.kernel.size_limits import MOST_MEMBERS, Bounds, cut, shortened
from claude_headspace.kernel.wire_transcript import WireAttachment, WireBlock, WireCompaction, WireLine, WireMessage

LINE = "TranscriptLine"
"""The name of the envelope that a line travels in."""
DESCRIPTION = "subagent-description"
"""The kind of line that is made of the client's notes of a sub-agent, which are a file of their own."""

INTERRUPTS = ("[Request interrupted by user]", "[Request interrupted by user for tool use]")
REJECTED = "The user doesn't want to proceed with this tool use"
ADVICE = "the user said:\n"
"""What follows it in a rejected call's result was typed by the human."""
CUT_OFF = "[Tool call interrupted"
"""The client was killed in the middle of a call, and says so when the session is taken up again."""
SYNTHETIC = "<synthetic>"
NOTHING_SAID = ("No response requested.", "(no content)")
"""What the client writes in the model's place. The first means: the turn before was broken off."""
BLOCKED = "UserPromptSubmit operation blocked by hook"
NO_PROMPT = (
    "<bash-stderr>",
    "<bash-stdout>",
    "<command-name>",
    "<local-command-caveat>",
    "<local-command-stderr>",
    "<local-command-stdout>",
    "<system-reminder>",
    "<user-memory-input>",
)
"""How texts begin that stand where prompts do and are none: local commands, what they printed, reminders."""

LONGEST_STRING = 4_096
"""In a line that is too long other strings than those that were said are cut to this."""

_MARK = re.compile(rb"\[Headspace message ([0-9A-Za-z-]{1,100})\]")
_FILE = re.compile(rb'"Contents of (/[^"\\]{1,4000}):\\n')
"""A file that the client added by itself, as it stands in JSON."""
_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
_SHELL_INPUT = re.compile(r"<bash-input>(.*?)</bash-input>", re.DOTALL)
_COMMAND_NAME = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_COMMAND_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)


# --- a line -----------------------------------------------------------------------------------------------------------


class Line(msgspec.Struct, frozen=True):
    """What one line says, and of whom."""

    at: Micros | None
    """The line's own time; some kinds have none."""
    session_id: str
    key: str
    """Recognises the line, also in a copy of the file."""
    cwd: str | None
    facts: tuple[Fact, ...]
    subagent_id: str | None = None
    branch: str | None = None


def read_line(raw: bytes) -> Line | None:
    """The line, if it says anything."""
    shape = tolerant(raw, WireLine)[0]
    told = _facts(shape)
    if not told or not shape.session_id:
        return None
    key = shape.uuid or hashlib.blake2b(raw.strip(), digest_size=12).hexdigest()
    # A prompt that was taken in has the time when it was typed: it happened when the lines around it did.
    at = None if shape.type == "attachment" else _moment(shape.timestamp)
    return Line(at, shape.session_id, key, shape.cwd, told, _subagent(shape), _branch(shape))


def decode_line(envelope: Envelope) -> Event:
    """Give a line its meaning. Never raises."""
    shape, anomaly = tolerant(envelope.payload, WireLine)
    told = _facts(shape)
    meta = Meta(
        event_id=envelope.id,
        name=envelope.name,
        origin=envelope.origin,
        at=envelope.fired_at,
        received_at=envelope.received_at,
        session_id=shape.session_id,
        cwd=shape.cwd,
        prompt_id=short(shape.prompt_id),
        permission_mode=short(shape.permission_mode),
        subagent_id=_subagent(shape),
    )
    fact = told[0] if len(told) == 1 else facts.Several(told) if told else facts.Observed()
    return Event(meta, fact, envelope.context, anomaly)


def is_repetition(told: tuple[Fact, ...]) -> bool:
    """Whether hooks tell all of it, where there are any: the course of calls that ask nobody, and of sub-agents."""
    return all(
        isinstance(fact, _REPETITIONS) and not getattr(fact, "ask", None) and not getattr(fact, "answer", "")
        for fact in told
    )


_REPETITIONS = (
    facts.ToolStarted,
    facts.ToolFinished,
    facts.ToolFailed,
    facts.SubagentStarted,
    facts.SubagentDescribed,
    facts.SubagentStopped,
    facts.UsageMeasured,
)


def measured_tokens(told: tuple[Fact, ...]) -> int | None:
    """How full a line says the context is."""
    return next((fact.tokens for fact in told if isinstance(fact, facts.UsageMeasured)), None)


def _moment(timestamp: str | None) -> Micros | None:
    try:
        moment = datetime.fromisoformat(timestamp or "")
    except ValueError:
        return None
    return (moment - _EPOCH) // timedelta(microseconds=1) if moment.tzinfo else None


def _subagent(line: WireLine) -> str | None:
    return short(line.agent_id) if line.is_sidechain else None


def _branch(line: WireLine) -> str | None:
    """The branch; outside of repositories the client says HEAD."""
    return short(line.git_branch) if line.git_branch != "HEAD" else None


def _facts(line: WireLine) -> tuple[Fact, ...]:
    reader = _READERS.get(line.type)
    return tuple(reader(line)) if reader is not None else ()


# --- users ------------------------------------------------------------------------------------------------------------


def _user(line: WireLine) -> Iterator[Fact]:
    """A prompt, the results of calls, or that the turn was interrupted."""
    if line.is_meta or line.is_compact_summary:
        return
    said = []
    for block in blocks_of(message_of(line)):
        if block.type == "tool_result":
            yield from _result(line, block)
        elif block.type == "text":
            said.append(block.text)
    if said:
        yield from _said(line, "\n".join(said))


def _said(line: WireLine, text: str) -> Iterator[Fact]:
    words = text.strip()
    if words in INTERRUPTS:
        yield facts.TurnInterrupted()
    elif line.is_sidechain:
        yield facts.SubagentStarted()
    elif (task := task_that_came_back(words)) is not None:
        yield facts.PromptSubmitted(words, task)
    elif (spoken := _spoken(text, words)).strip():
        yield facts.UserSpoke(spoken, line.prompt_source == "queued")
        if line.entrypoint == wire.HEADLESS:
            yield facts.ClientReported("", headless=True)


def _spoken(text: str, words: str) -> str:
    """The prompt as it was typed; empty when nobody typed it.

    A command that the client runs itself begins with its name, one that becomes a prompt with its message.
    """
    if words.startswith("<bash-input>"):
        return f"! {_inner(_SHELL_INPUT, words)}"
    if words.startswith("<command-message>"):
        return f"{_inner(_COMMAND_NAME, words)} {_inner(_COMMAND_ARGUMENTS, words)}".strip()
    return "" if words.startswith(NO_PROMPT) else text


def _inner(tag: re.Pattern[str], words: str) -> str:
    found = tag.search(words)
    return html.unescape(found[1]).strip() if found else ""


def _result(line: WireLine, block: WireBlock) -> Iterator[Fact]:
    """How a call ended. The result names the call, never the tool."""
    text, call_id = _result_text(block.content), short(block.tool_use_id)
    if line.tool_denial_kind == "interrupted" or text.startswith(CUT_OFF):
        yield facts.TurnInterrupted()
    elif line.tool_denial_kind or text.startswith(REJECTED):
        if line.tool_denial_kind in (None, "user-rejected"):
            yield facts.ToolRejected(call_id, line.user_feedback or text.partition(ADVICE)[2])
        else:
            yield facts.ToolRefused(call_id, "", reason=one_line(text))
    elif block.is_error:
        yield facts.ToolFailed(call_id, "", error=one_line(text))
    else:
        yield _finished(line, block)


def _finished(line: WireLine, block: WireBlock) -> Fact:
    response = tolerant(line.tool_use_result, wire.WireToolResponse)[0]
    return facts.ToolFinished(
        short(block.tool_use_id),
        "",
        answer=answer_of(response.answers),
        background_task=_left_running(response.background_task_id),
        background_subagent=response.agent_id if response.status == "async_launched" else None,
    )


def _left_running(task_id: str | None) -> facts.Task | None:
    return facts.Task(id=task_id, kind="shell") if task_id else None


def _result_text(content: msgspec.Raw) -> str:
    return " ".join(block.text for block in blocks_of(WireMessage(content=content)))


# --- the agent --------------------------------------------------------------------------------------------------------


def _assistant(line: WireLine) -> Iterator[Fact]:
    """Words, calls, errors, and how full the context is."""
    message = message_of(line)
    blocks = blocks_of(message)
    if message.model == SYNTHETIC:
        yield from _written_by_client(line, "".join(block.text for block in blocks))
        return
    final = message.stop_reason not in (None, "tool_use")
    for block in blocks:
        if block.type == "text" and block.text.strip():
            yield from _speech(line, block.text, final=final)
        elif block.type == "tool_use" and block.id:
            yield tool_started(block.id, block.name, _compact(block.input))
    if line.is_aborted_mid_stream:
        yield facts.TurnInterrupted()
    yield from _usage(line, message)


def _speech(line: WireLine, text: str, *, final: bool) -> Iterator[Fact]:
    if not line.is_sidechain:
        yield facts.AgentSpoke(text, final)
    elif final:
        yield facts.SubagentStopped(text)


def _written_by_client(line: WireLine, text: str) -> Iterator[Fact]:
    if line.is_api_error_message:
        yield facts.TurnFailed(short(line.error or "unknown"), text)
    elif text == NOTHING_SAID[0]:
        yield facts.TurnInterrupted()
    elif text.strip() and text not in NOTHING_SAID and not line.is_sidechain:
        yield facts.AgentSpoke(text)


def _usage(line: WireLine, message: WireMessage) -> Iterator[Fact]:
    usage = message.usage
    if line.is_sidechain or usage is None:
        return
    parts = (usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
    if tokens := sum(part or 0 for part in parts):
        yield facts.UsageMeasured(model=short(message.model), tokens=tokens)


def _compact(raw: msgspec.Raw) -> msgspec.Raw:
    """An input as hooks spell it, so that both have the same digest."""
    try:
        return msgspec.Raw(msgspec.json.format(bytes(raw), indent=-1))
    except msgspec.DecodeError:
        return raw


# --- the client -------------------------------------------------------------------------------------------------------


def _system(line: WireLine) -> Iterator[Fact]:
    if line.is_sidechain:
        return
    if line.subtype == "turn_duration":
        yield facts.TurnClosed(line.pending_background_agent_count or 0)
    elif line.subtype == "compact_boundary":
        yield facts.SessionStarted("compact")
        if tokens := tolerant(line.compact_metadata, WireCompaction)[0].post_tokens:
            yield facts.UsageMeasured(tokens=tokens)
    elif line.subtype == "informational" and _text(line.content).startswith(BLOCKED):
        yield facts.TurnInterrupted()


def _marks(content: msgspec.Raw) -> tuple[str, ...]:
    """The marks of what Headspace sent, in what hooks added to the context."""
    return tuple(found.decode() for found in _MARK.findall(bytes(content)))


def _context(content: msgspec.Raw) -> Iterator[Fact]:
    """What a hook, or the client in the same way, added to the context: 2.1.325 reads AGENTS.md of a directory so."""
    marks = _marks(content)
    files = tuple(found.decode("utf-8", "replace") for found in _FILE.findall(bytes(content)))
    if marks or files:
        yield facts.ContextArrived(marks, files)


def _attachment(line: WireLine) -> Iterator[Fact]:
    """A queued prompt, or finished work, was taken into the running turn."""
    attachment = tolerant(line.attachment, WireAttachment)[0]
    if attachment.type == "hook_additional_context":
        yield from _context(attachment.content)
    if attachment.type == "queued_command" and not line.is_sidechain:
        words = attachment.prompt.strip()
        if (task := task_that_came_back(words)) is not None:
            yield facts.PromptSubmitted(words, task)
        elif words:
            yield facts.PromptUnqueued(attachment.prompt)


def _queue(line: WireLine) -> Iterator[Fact]:
    text = _text(line.content)
    if line.operation == "popAll":
        yield facts.PromptUnqueued("")
    elif text.strip():
        task = task_that_came_back(text.strip())
        if line.operation == "enqueue":
            yield facts.PromptQueued(text, task)
        elif line.operation == "remove":
            yield facts.PromptUnqueued(text, task)


def describe_subagent(session_id: str, subagent_id: str, notes: bytes) -> bytes:
    """The client's notes of a sub-agent as a line of the sub-agent's transcript."""
    known = tolerant(notes, WireLine)[0]
    line = {
        "type": DESCRIPTION,
        "uuid": f"{subagent_id}-description",
        "sessionId": session_id,
        "agentId": subagent_id,
        "isSidechain": True,
        "agentType": known.agent_type,
        "description": known.description,
    }
    return msgspec.json.encode(line)


def _description(line: WireLine) -> Iterator[Fact]:
    if line.is_sidechain:
        yield facts.SubagentDescribed(one_line(line.agent_type or ""), one_line(line.description or ""))


def _cost(line: WireLine) -> Iterator[Fact]:
    """What the session has cost, in the client's own words; a sum with unknown prices in it is no cost."""
    if line.total_cost is not None and not line.has_unknown_model_cost:
        yield facts.UsageMeasured(cost_usd=line.total_cost)


_READERS: dict[str, Callable[[WireLine], Iterator[Fact]]] = {
    "user": _user,
    "assistant": _assistant,
    "system": _system,
    "attachment": _attachment,
    "queue-operation": _queue,
    "cost-state": _cost,
    DESCRIPTION: _description,
}
"""The kinds of lines that say something. All others are the client's own notes."""


def message_of(line: WireLine) -> WireMessage:
    """The message of a line."""
    return tolerant(line.message, WireMessage)[0]


def blocks_of(message: WireMessage) -> list[WireBlock]:
    """The pieces of a message; one that is a plain text has a single piece."""
    content = bytes(message.content)
    if content[:1] == b'"':
        return [WireBlock(type="text", text=_text(message.content))]
    try:
        pieces = msgspec.json.decode(content, type=list[msgspec.Raw])
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return []
    return [tolerant(piece, WireBlock)[0] for piece in pieces]


def _text(raw: msgspec.Raw) -> str:
    """A JSON string; anything else is empty."""
    return tolerant(b'{"text":%s}' % bytes(raw), WireBlock)[0].text


# --- what is kept -----------------------------------------------------------------------------------------------------


def bounded(raw: bytes, bounds: Bounds) -> bytes:
    """The line as it is kept: whole, unless it is long; then its long strings are cut, what was said less than others.

    What is not JSON, or does not become short, is kept by its ends.
    """
    if len(raw) <= bounds.result:
        return raw
    try:
        value = msgspec.json.decode(raw)
        for most in (None, MOST_MEMBERS):
            kept = msgspec.json.encode(shortened(value, partial(_longest, bounds), most))
            if len(kept) <= bounds.speech * 2:
                return kept
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        pass
    return cut(raw.decode("utf-8", "replace"), bounds.result).encode()


def _longest(bounds: Bounds, owner: dict[object, object] | None, key: object) -> int:
    """Words have room: the text of a block, and a message that is nothing but text."""
    if owner is None:
        return LONGEST_STRING
    said = (key == "text" and owner.get("type") == "text") or (key == "content" and "role" in owner)
    return bounds.speech if said and isinstance(owner[key], str) else LONGEST_STRING
