"""Decode a line of a transcript into facts. Pure and total: nothing is raised, and unknown lines are reported.

Claude Code writes one file per session and one for each of its sub-agents. The format is undocumented, measured on
2.1.197 and 2.1.325.

Rules
- A line counts for its own time, not for when it was read: it reaches the disk up to half a second later.
- One line is one block of a message. The lines of a message repeat its `usage`: it is replaced, never added up.
- Only what the user typed is a prompt. Injected text (`isMeta`), results, local commands and their output are not.
- A sub-agent's file is about the sub-agent; its messages are not the agent's.
- Most lines have no facts and are not stored.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from itertools import islice

import msgspec

from claude_headspace.clients.claude_code import messages, wire
from claude_headspace.clients.claude_code.messages import finished_task
from claude_headspace.clients.claude_code.tools import answer_of, tool_started, tool_use
from claude_headspace.clients.claude_code.transcript_wire import (
    WireAttachment,
    WireBlock,
    WireCompaction,
    WireLine,
    WireMessage,
    WireModelUsage,
)
from claude_headspace.clients.transcript_line import Line, parse_time
from claude_headspace.clients.unknown_lines import unknown
from claude_headspace.kernel import facts
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.facts import Event, Fact, Meta
from claude_headspace.kernel.text import one_line, short, strings_in
from claude_headspace.kernel.tolerant_json import fit, tolerant
from claude_headspace.kernel.tools import ToolText
from claude_headspace.kernel.usage import ModelUsage, Tokens

DESCRIPTION = "subagent-description"
"""The type of a line that is made from the client's notes about a sub-agent, which are a file of their own."""

MAX_MODELS = 20
"""How many models of a session are read."""

_MARK = re.compile(r"\[Headspace message ([0-9A-Za-z-]{1,100})\]")
_FILE = re.compile(r'Contents of (/[^"\\\x00-\x1f]{1,4000}):\n')
"""How a text begins that carries a file which the client added itself."""


# --- a line -----------------------------------------------------------------------------------------------------------


def read_line(raw: bytes) -> Line | None:
    """The line, if it has facts or is unknown."""
    shape = tolerant(raw, WireLine)[0]
    found = _facts(shape)
    problem = None if found else unknown_part(shape)
    if not (found or problem) or not shape.session_id:
        return None
    key = shape.uuid or hashlib.blake2b(raw.strip(), digest_size=12).hexdigest()
    # A queued prompt has the time when it was typed; it became part of the turn when the lines around it did.
    at = None if shape.type == "attachment" else parse_time(shape.timestamp)
    return Line(at, shape.session_id, key, shape.cwd, found, _subagent(shape), _branch(shape), problem)


def decode_line(envelope: Envelope, body: object, anomaly: str | None) -> Event:
    """Decode a line. Never raises."""
    shape, misfit = fit(body, WireLine)
    found = _facts(shape)
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
    fact = found[0] if len(found) == 1 else facts.Several(found) if found else facts.Observed()
    problem = misfit or anomaly or (None if found else unknown_part(shape))
    return Event(meta, fact, envelope.observations, envelope.decisions, problem, texts=_texts(shape))


def _subagent(line: WireLine) -> str | None:
    return short(line.agent_id) if line.is_sidechain else None


def _branch(line: WireLine) -> str | None:
    """The branch; outside of repositories the client writes HEAD."""
    return short(line.git_branch) if line.git_branch != "HEAD" else None


def _facts(line: WireLine) -> tuple[Fact, ...]:
    reader = _READERS.get(line.type)
    return tuple(reader(line)) if reader is not None else ()


# --- users ------------------------------------------------------------------------------------------------------------


def _user(line: WireLine) -> Iterator[Fact]:
    """A prompt, results of calls, or an interrupt."""
    if line.is_meta or line.is_compact_summary:
        return
    texts = []
    for block in blocks_of(message_of(line)):
        if block.type == "tool_result":
            yield from _result(line, block)
        elif block.type == "text":
            texts.append(block.text)
    if texts:
        yield from _user_text(line, "\n".join(texts))


def _user_text(line: WireLine, text: str) -> Iterator[Fact]:
    stripped = text.strip()
    if stripped in messages.INTERRUPTED:
        yield facts.TurnInterrupted()
    elif line.is_sidechain:
        yield facts.SubagentStarted()
    elif (task := finished_task(stripped)) is not None:
        yield facts.PromptSubmitted(stripped, task)
    elif (typed := messages.typed_text(text)).strip():
        yield facts.UserWrote(typed, line.prompt_source == "queued")
        if line.entrypoint == messages.HEADLESS:
            yield facts.ClientReported("", headless=True)


def _result(line: WireLine, block: WireBlock) -> Iterator[Fact]:
    """How a call ended. The result names the call, never the tool."""
    text, call_id = _result_text(block.content), short(block.tool_use_id)
    if line.tool_denial_kind == "interrupted" or text.startswith(messages.CALL_INTERRUPTED):
        yield facts.TurnInterrupted()
    elif line.tool_denial_kind or text.startswith(messages.REJECTED):
        if line.tool_denial_kind in (None, "user-rejected"):
            yield facts.ToolRejected(call_id, line.user_feedback or text.partition(messages.FEEDBACK)[2])
        else:
            yield facts.ToolRefused(call_id, "", reason=one_line(text))
    elif block.is_error:
        yield facts.ToolFailed(call_id, "", error=one_line(text))
    else:
        yield _finished(line, block)


def _finished(line: WireLine, block: WireBlock) -> Fact:
    response = fit(line.tool_use_result, wire.WireToolResponse)[0]
    return facts.ToolFinished(
        short(block.tool_use_id),
        "",
        answer=answer_of(response.answers),
        background_task=_left_running(response.background_task_id),
        background_subagent=response.agent_id if response.status == "async_launched" else None,
    )


def _left_running(task_id: str | None) -> facts.Task | None:
    return facts.Task(id=task_id, kind="shell") if task_id else None


def _result_text(content: object) -> str:
    return " ".join(block.text for block in blocks_of(WireMessage(content=content)))


# --- the agent --------------------------------------------------------------------------------------------------------


def _assistant(line: WireLine) -> Iterator[Fact]:
    """Messages, calls, errors, and context usage."""
    message = message_of(line)
    blocks = blocks_of(message)
    if message.model == messages.SYNTHETIC_MODEL:
        yield from _written_by_client(line, "".join(block.text for block in blocks))
        return
    final = message.stop_reason not in (None, "tool_use")
    for block in blocks:
        if block.type == "text" and block.text.strip():
            yield from _speech(line, block.text, final=final)
        elif block.type == "tool_use" and block.id:
            given = fit(block.input, wire.WireToolInput)[0]
            yield tool_started(tool_use(block.name, block.input, block.id, given), given)
    if line.is_aborted_mid_stream:
        yield facts.TurnInterrupted()
    yield from _usage(line, message)


def _speech(line: WireLine, text: str, *, final: bool) -> Iterator[Fact]:
    if not line.is_sidechain:
        yield facts.AgentWrote(text, final)
    elif final:
        yield facts.SubagentStopped(text)


def _written_by_client(line: WireLine, text: str) -> Iterator[Fact]:
    if line.is_api_error_message:
        yield facts.TurnFailed(short(line.error or "unknown"), text)
    elif text == messages.NO_RESPONSE:
        yield facts.TurnInterrupted()
    elif text.strip() and text not in messages.PLACEHOLDERS and not line.is_sidechain:
        yield facts.AgentWrote(text)


def _usage(line: WireLine, message: WireMessage) -> Iterator[Fact]:
    usage = message.usage
    if line.is_sidechain or usage is None:
        return
    parts = (usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
    if tokens := sum(part or 0 for part in parts):
        yield facts.UsageMeasured(model=short(message.model), tokens=tokens)


# --- the client -------------------------------------------------------------------------------------------------------


def _system(line: WireLine) -> Iterator[Fact]:
    if line.is_sidechain:
        return
    if line.subtype == "turn_duration":
        yield facts.TurnClosed(line.pending_background_agent_count or 0)
    elif line.subtype == "compact_boundary":
        yield facts.SessionStarted("compact")
        if tokens := fit(line.compact_metadata, WireCompaction)[0].post_tokens:
            yield facts.UsageMeasured(tokens=tokens)
    elif line.subtype == "informational" and _text(line.content).startswith(messages.BLOCKED_PROMPT):
        yield facts.TurnInterrupted()


def _context(content: object) -> Iterator[Fact]:
    """What a hook, or the client in the same way, added to the context: 2.1.325 reads AGENTS.md of a directory so."""
    texts = list(strings_in(content))
    marks = tuple(mark for text in texts for mark in _MARK.findall(text))
    files = tuple(found[1] for text in texts if (found := _FILE.match(text)))
    if marks or files:
        yield facts.ContextAdded(marks, files)


def _attachment(line: WireLine) -> Iterator[Fact]:
    """A queued prompt or finished work became part of the running turn, or a hook added context."""
    attachment = fit(line.attachment, WireAttachment)[0]
    if attachment.type == "hook_additional_context":
        yield from _context(attachment.content)
    if attachment.type == "queued_command" and not line.is_sidechain:
        words = attachment.prompt.strip()
        if (task := finished_task(words)) is not None:
            yield facts.PromptSubmitted(words, task)
        elif words:
            yield facts.PromptUnqueued(attachment.prompt)


def _queue(line: WireLine) -> Iterator[Fact]:
    text = _text(line.content)
    if line.operation == "popAll":
        yield facts.PromptUnqueued("")
    elif text.strip():
        task = finished_task(text.strip())
        if line.operation == "enqueue":
            yield facts.PromptQueued(text, task)
        elif line.operation == "remove":
            yield facts.PromptUnqueued(text, task)


def describe_subagent(session_id: str, subagent_id: str, notes: bytes) -> bytes:
    """The client's notes about a sub-agent as a line of the sub-agent's transcript."""
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
    """Cost and tokens of the session. If it includes models with unknown prices, the cost is not known."""
    cost = None if line.has_unknown_model_cost else line.total_cost
    totals = tuple(_totals(line, is_priced=cost is not None))
    if cost is not None or totals:
        yield facts.UsageMeasured(cost_usd=cost, totals=totals)


def _totals(line: WireLine, *, is_priced: bool) -> Iterator[ModelUsage]:
    found = line.model_usage if isinstance(line.model_usage, dict) else {}
    for model, value in islice(found.items(), MAX_MODELS):
        used = fit(value, WireModelUsage)[0]
        tokens = Tokens(
            used.input_tokens, used.cache_read_input_tokens, used.cache_creation_input_tokens, used.output_tokens
        )
        if tokens.total or used.cost_usd:
            yield ModelUsage(model=short(model), tokens=tokens, cost_usd=used.cost_usd if is_priced else None)


_READERS: dict[str, Callable[[WireLine], Iterator[Fact]]] = {
    "user": _user,
    "assistant": _assistant,
    "system": _system,
    "attachment": _attachment,
    "queue-operation": _queue,
    "cost-state": _cost,
    DESCRIPTION: _description,
}
"""The types of lines that have facts."""

NOTES = frozenset(
    {
        *(
            "mode",
            "permission-mode",
            "repl-mode",
            "last-prompt",
            "ai-title",
            "custom-title",
            "summary",
            "tag",
            "progress",
        ),
        *("agent-name", "agent-color", "agent-setting", "tools-used", "worktree-state", "relocated", "continued-in"),
        *("file-history-snapshot", "file-history-delta", "api-request", "api-request-blob", "api-request-shape"),
        *("atis-latch", "isolation-latch", "bridge-session", "content-replacement", "frame-link", "pr-link"),
        *("artifact-autoreact-ledger", "artifact-comment-monitor", "history-suppression", "resume-head-vouch"),
        *("data-flow-incomplete", "data-flow-records", "derived-from", "dev-mods", "ended-by-model", "init"),
        *("marble-origami-commit", "marble-origami-reset", "marble-origami-snapshot"),
    }
)
"""The types of the client's own notes, without use. Those that are not in the recordings are names in the program."""


def unknown_part(line: WireLine) -> str | None:
    """What is not known of a line without facts: its type."""
    return None if line.type in _READERS or line.type in NOTES else unknown(line.type or "without a type")


def message_of(line: WireLine) -> WireMessage:
    """The message of a line."""
    return fit(line.message, WireMessage)[0]


def blocks_of(message: WireMessage) -> list[WireBlock]:
    """The blocks of a message; a message that is a plain text has a single block."""
    if isinstance(message.content, str):
        return [WireBlock(type="text", text=message.content)]
    return [fit(block, WireBlock)[0] for block in message.content] if isinstance(message.content, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _texts(line: WireLine) -> tuple[ToolText, ...]:
    """Inputs and results of the calls in a line."""
    content = line.message.get("content") if isinstance(line.message, dict) else None
    if not isinstance(content, list):
        return ()
    return tuple(
        ToolText("tool_input", _text(block.get("name")) or None, block.get("input"))
        if block["type"] == "tool_use"
        else ToolText("tool_result", None, block.get("content"))
        for block in content
        if isinstance(block, dict) and block.get("type") in ("tool_use", "tool_result")
    )


# --- truncation -------------------------------------------------------------------------------------------------------


def is_message(owner: dict[object, object], key: object) -> bool:
    """Whether a string of a line is a message: the text of a block, or a message that is only text."""
    return (key == "text" and owner.get("type") == "text") or (key == "content" and "role" in owner)
