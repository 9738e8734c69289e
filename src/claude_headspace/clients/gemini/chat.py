"""Read a chat file of Gemini CLI. Pure and total: nothing is raised, and unknown lines are reported.

The file is a log of operations. Its first line is the header, a message with a known id replaces the earlier one, and
`$set` changes the header; `$set.messages` replaces all messages.

Rules
- The client appends its whole history again, with new ids and times, when it rebuilds its history, such as after a
  cancelled call. The copy begins with the session context and ends with `$set.messages`. Nothing in it is new.
- A reply is written without its calls first, and again when they ended. The second line has the time of the first:
  its calls are a line of their own, with the time when they ended.
- A command that the user runs in shell mode is added to the history as a message of the user. It starts no turn.
- A prompt closes the turn before, for a session without hooks: the file has no line for the end of a turn.
- Only the client that runs the session writes messages. A summary, which any client can add, is no sign of life.
"""

import hashlib
from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any

import msgspec

from claude_headspace.clients.claude_code.tools import digest
from claude_headspace.clients.gemini import messages, tools
from claude_headspace.clients.gemini.chat_wire import (
    WireCall,
    WireChanges,
    WireMessage,
    WireOperation,
    WireStored,
    WireTokens,
)
from claude_headspace.clients.gemini.wire import WireInput
from claude_headspace.clients.prices import Tokens, cost_of
from claude_headspace.clients.transcript_line import Line, parse_time
from claude_headspace.clients.unknown_lines import UnknownLines, unknown
from claude_headspace.kernel import facts, usage
from claude_headspace.kernel.act_events import bare_meta
from claude_headspace.kernel.envelope import Envelope, Micros
from claude_headspace.kernel.facts import Event, Fact
from claude_headspace.kernel.text import one_line, short, strings_in
from claude_headspace.kernel.tolerant_json import fit, parse
from claude_headspace.kernel.tools import ToolText

CONTEXT_WINDOW = 1_048_576
"""The context window of all Gemini models that the client offers. It does not report it."""
GEMINI_MODELS = "gemini-"


class Part(StrEnum):
    """The part of a line that is stored."""

    MESSAGE = "message"
    CALLS = "calls"
    """The calls of a reply that ended."""
    CLOSED = "closed"
    """The turn before a prompt."""
    COMPACTED = "compacted"
    SUBAGENT = "subagent"
    """A sub-agent that ended, from the chat of its session."""
    STARTED = "started"
    STOPPED = "stopped"
    """The beginning and the end of a sub-agent, from its own chat."""
    UNKNOWN = "unknown"
    """A line in an unknown format."""


MESSAGE_TYPES = frozenset({"user", "gemini", "info", "warning", "error"})


class Chat:
    """One chat file, read line by line."""

    def __init__(
        self,
        cwd: str | None = None,
        session_id: str = "",
        subagent_id: str | None = None,
        subagent_cost: Callable[[str, str], float | None] = lambda _session, _subagent: 0.0,
    ) -> None:
        self.session_id = session_id
        self._subagent_cost = subagent_cost
        self._cwd = cwd
        self._subagent_id = subagent_id
        self._is_copying = False
        self._replied_at: Micros | None = None
        self.cost: float | None = 0.0
        self._priced: set[str] = set()
        self._totals: dict[str, usage.Tokens] = {}
        self._unknown_lines = UnknownLines()

    def read(self, raw: bytes) -> Iterator[tuple[bytes, Line]]:
        """The lines to store, with their facts."""
        value = parse(raw)[0]
        value = value if isinstance(value, dict) else {"text": raw.decode("utf-8", "replace")}
        if _is_message(value):
            message = fit(value, WireMessage)[0]
            self._is_copying = self._is_copying or _begins_history(message)
            is_new = not self._is_copying and not _is_shell_mode(message)
            found = list(self._message(value, message)) if is_new else []
        else:
            found = list(self._operation(fit(value, WireOperation)[0]))
        yield from found
        if not found and not self._is_copying:
            yield from self._unknown(raw, value)

    def _unknown(self, raw: bytes, value: dict[str, Any]) -> Iterator[tuple[bytes, Line]]:
        """A line without facts, if its format is not known."""
        problem = _unknown_part(value)
        if problem is not None and self._unknown_lines.accept("", problem):
            key, time = hashlib.blake2b(raw, digest_size=12).hexdigest(), value.get("timestamp")
            at = parse_time(time) if isinstance(time, str) else None
            yield from self._line(Part.UNKNOWN, at, key, value, anomaly=problem)

    def _operation(self, operation: WireOperation) -> Iterator[tuple[bytes, Line]]:
        if operation.changes is not None:
            yield from self._changes(operation.changes)
        elif operation.session_id:
            self.session_id = self.session_id or operation.session_id
            if self._subagent_id:
                at = parse_time(operation.start_time)
                yield from self._line(Part.STARTED, at, f"{self._subagent_id}:started", {})

    def _changes(self, changes: WireChanges) -> Iterator[tuple[bytes, Line]]:
        if changes.messages is not None:
            self._is_copying = False
            held = [fit(each, WireMessage)[0] for each in changes.messages]
            if any(prompt_of(each).startswith(messages.STATE_SNAPSHOT) for each in held):
                at = max((parse_time(each.timestamp) or 0 for each in held), default=0) or None
                yield from self._line(Part.COMPACTED, at, f"{self.session_id}:compacted:{at}", {})
        elif changes.summary and self._subagent_id:
            yield from self._line(Part.STOPPED, None, f"{self._subagent_id}:stopped", {"summary": changes.summary})

    def _message(self, value: dict[str, Any], message: WireMessage) -> Iterator[tuple[bytes, Line]]:
        at, calls = parse_time(message.timestamp), value.get("toolCalls")
        self._add_cost(message)
        if prompt_of(message) and self._replied_at is not None and not self._subagent_id:
            yield from self._line(Part.CLOSED, self._replied_at, f"{message.id}:closed", {})
        self._replied_at = at if message.type == "gemini" and not message.calls else None
        kept = {name: part for name, part in value.items() if name not in ("toolCalls", "thoughts")}
        yield from self._line(Part.MESSAGE, at, message.id, kept)
        if message.calls and isinstance(calls, list):
            yield from self._calls(message, calls)

    def _calls(self, message: WireMessage, calls: list[Any]) -> Iterator[tuple[bytes, Line]]:
        """The calls of a reply that ended, and the sub-agents among them."""
        ended_at = max((parse_time(call.timestamp) or 0 for call in message.calls), default=0) or None
        line = {"toolCalls": [_without_display(call) for call in calls]}
        yield from self._line(Part.CALLS, ended_at, f"{message.id}:calls:{ended_at}", line)
        for call in message.calls:
            if call.agent_id and self._subagent_id is None:
                self._add(call.agent_id, self._subagent_cost(self.session_id, call.agent_id))
                given = {"toolCalls": [{"args": call.args, "name": call.name}]}
                key, at = f"{call.agent_id}:ended", parse_time(call.timestamp)
                yield from self._line(Part.SUBAGENT, at, key, given, short(call.agent_id))

    def _line(
        self,
        part: Part,
        at: Micros | None,
        key: str,
        line: dict[str, Any],
        subagent_id: str | None = None,
        anomaly: str | None = None,
    ) -> Iterator[tuple[bytes, Line]]:
        """One line to store, if it has facts or is unknown."""
        stored = WireStored(
            session_id=self.session_id,
            cwd=self._cwd,
            subagent_id=subagent_id or self._subagent_id,
            part=part,
            cost_usd=self.cost if self._priced and not self._subagent_id else None,
            totals=dict(self._totals) if self._totals and not self._subagent_id else None,
            line=line,
        )
        found = tuple(_facts(stored))
        if (found or anomaly) and self.session_id:
            name, subagent = f"gemini:{key}", stored.subagent_id
            fields = Line(at, self.session_id, name, self._cwd, found, subagent, anomaly=anomaly)
            yield msgspec.json.encode(stored), fields

    def _add_cost(self, message: WireMessage) -> None:
        """Add the price of a reply. A model without a known price makes the cost of the session unknown."""
        if message.tokens is not None:
            self._count(message.id, message.model or "", message.tokens)
            self._add(message.id, cost_of(message.model, _tokens(message.tokens)))

    def _count(self, key: str, model: str, tokens: WireTokens) -> None:
        if key not in self._priced:
            found = _tokens(tokens)
            new = usage.Tokens(max(found.input - found.cached, 0), found.cached, 0, found.output)
            self._totals[short(model)] = self._totals.get(short(model), usage.Tokens()) + new

    def _add(self, key: str, cost: float | None) -> None:
        if key not in self._priced:
            self._priced.add(key)
            self.cost = None if cost is None or self.cost is None else self.cost + cost


def _is_message(value: dict[str, Any]) -> bool:
    return "type" in value and "id" in value


def _unknown_part(value: dict[str, Any]) -> str | None:
    """What is not known of a line without facts: its type, or the type of a field."""
    if _is_message(value):
        message, misfit = fit(value, WireMessage)
        return misfit if message.type in MESSAGE_TYPES else unknown(message.type or "without a type")
    operation, misfit = fit(value, WireOperation)
    is_known = operation.session_id or operation.changes is not None
    return misfit if is_known else unknown(", ".join(sorted(value)))


def _tokens(tokens: WireTokens) -> Tokens:
    return Tokens(input=tokens.input + tokens.tool, cached=tokens.cached, output=tokens.output + tokens.thoughts)


def _begins_history(message: WireMessage) -> bool:
    """Whether a message is the first one of a copied history. The client never writes it on its own."""
    texts = strings_in(message.content)
    return message.type == "user" and any(text.startswith(messages.SESSION_CONTEXT) for text in texts)


def _is_shell_mode(message: WireMessage) -> bool:
    """Whether a message is about a command that the user ran in shell mode."""
    return message.type == "user" and text_of(message.content).startswith(messages.SHELL_MODE)


def _without_display(call: object) -> object:
    """A call without its result as it was displayed, which repeats it with colours."""
    if not isinstance(call, dict):
        return call
    return {name: part for name, part in call.items() if name != "resultDisplay"}


# --- facts ------------------------------------------------------------------------------------------------------------


def decode_line(envelope: Envelope, body: object, anomaly: str | None) -> Event:
    """Decode a stored line. Never raises."""
    stored, misfit = fit(body, WireStored)
    found = tuple(_facts(stored))
    meta = msgspec.structs.replace(
        bare_meta(envelope),
        session_id=stored.session_id,
        cwd=stored.cwd,
        subagent_id=short(stored.subagent_id),
    )
    fact = found[0] if len(found) == 1 else facts.Several(found) if found else facts.Observed()
    texts, line = tuple(_texts(stored)), stored.line if isinstance(stored.line, dict) else {}
    problem = misfit or anomaly or (_unknown_part(line) if stored.part == Part.UNKNOWN else None)
    return Event(meta, fact, envelope.observations, envelope.decisions, problem, texts=texts)


def _facts(stored: WireStored) -> Iterator[Fact]:
    message = fit(stored.line, WireMessage)[0]
    match stored.part:
        case Part.MESSAGE if stored.subagent_id:
            if prompt := prompt_of(message):
                yield facts.SubagentDescribed("", one_line(prompt))
        case Part.MESSAGE:
            yield from _message_facts(message, stored)
        case Part.CALLS if not stored.subagent_id:
            yield from (fact for call in message.calls for fact in _call_facts(call))
        case Part.CLOSED:
            yield facts.TurnClosed()
        case Part.COMPACTED:
            yield facts.CompactionFinished("manual")
        case Part.STARTED:
            yield facts.SubagentStarted()
        case Part.STOPPED:
            yield facts.SubagentStopped()
        case Part.SUBAGENT:
            given = [fit(call.args, WireInput)[0] for call in message.calls]
            yield from (facts.SubagentDescribed(short(each.agent_name), one_line(each.prompt)) for each in given)
            yield facts.SubagentStopped()


def _message_facts(message: WireMessage, stored: WireStored) -> Iterator[Fact]:
    text = text_of(message.content)
    match message.type:
        case "user":
            if prompt := prompt_of(message):
                yield facts.UserWrote(prompt)
        case "gemini":
            if text.strip():
                yield facts.AgentWrote(text, final=True)
            if message.tokens is not None and message.tokens.input:
                yield _usage(message.tokens, message.model, stored)
        case "info" if text == messages.CANCELLED:
            yield facts.TurnInterrupted()
        case "info" if not text:
            yield facts.CompactionFinished("manual")
        case "error" if text.startswith(messages.API_ERROR):
            yield facts.TurnFailed("api_error", text)


def _usage(tokens: WireTokens, model: str | None, stored: WireStored) -> Fact:
    is_known = (model or "").startswith(GEMINI_MODELS)
    window = CONTEXT_WINDOW if is_known else None
    totals = tuple(usage.ModelUsage(model=name, tokens=each) for name, each in (stored.totals or {}).items())
    return facts.UsageMeasured(
        model=short(model), tokens=tokens.input, window=window, cost_usd=stored.cost_usd, totals=totals
    )


def _call_facts(call: WireCall) -> Iterator[Fact]:
    identity = tools.call_id(call.name, call.args)
    if call.status == "cancelled":
        yield facts.ToolRejected(identity)
    elif call.status == "error":
        yield facts.ToolFailed(identity, short(call.name), digest(call.args), one_line(_result(call)))
    elif call.status == "success":
        yield facts.ToolFinished(identity, short(call.name), digest(call.args))


def _result(call: WireCall) -> str:
    return next((text for text in strings_in(call.result) if " " in text), "")


def _responses(result: object) -> Iterator[object]:
    """What a call returned, without ids and names: as its hook has it."""
    for part in result if isinstance(result, list) else [result]:
        found = part.get("functionResponse") if isinstance(part, dict) else None
        yield found.get("response") if isinstance(found, dict) else part


def _texts(stored: WireStored) -> Iterator[ToolText]:
    """Inputs and results of calls, for search."""
    if stored.part != Part.CALLS:
        return
    for call in fit(stored.line, WireMessage)[0].calls:
        yield ToolText("tool_input", call.name or None, call.args)
        yield ToolText("tool_result", call.name or None, list(_responses(call.result)))


# --- texts ------------------------------------------------------------------------------------------------------------


def prompt_of(message: WireMessage) -> str:
    """What the user typed; empty for results of calls and for the context that the client adds."""
    content = message.display if message.display is not None else message.content
    if message.type != "user" or _has_results(message.content):
        return ""
    text = text_of(content)
    return "" if text.startswith(messages.SESSION_CONTEXT) else text


def _has_results(content: object) -> bool:
    parts = content if isinstance(content, list) else []
    return any(isinstance(part, dict) and "functionResponse" in part for part in parts)


def text_of(content: object) -> str:
    """The text of a message: a string, or the texts of its parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def is_message(owner: dict[object, object], key: object) -> bool:
    """Whether a string of a line is a message for people."""
    return key == "text" or (key == "content" and "type" in owner)
