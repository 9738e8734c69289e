"""Compute the advice of an effort for one hook. Pure; the result is stored with the event, so a replay never runs this.

Before a tool call these checks run in order, and the first denial wins: session gate, directive gate, heartbeat, the
effort's guard rules. Headspace's own commands always pass, and reading a file passes the gates. Warnings never deny.
A tool call that is allowed also delivers files that the window should read and was not offered yet, each file once.

    metadata          meaning                                                      default
    heartbeat_limit   tool calls without a log entry before calls are denied       10
    heartbeat_warn    tool calls without a log entry before a warning              7
    overflow_at       context usage at which a handover is requested               90 (percent)
    gates             {"session": true, "directives": ["CLAUDE.md"]}               none
    guards            [{"field": "heartbeat", "gte": 5, "payload": {"deny": true, "message": "…"}}]
"""

from collections.abc import Callable, Mapping
from typing import Any

from claude_headspace.kernel import facts
from claude_headspace.kernel.effort import messages
from claude_headspace.kernel.effort.advice import NO_ADVICE, Advice, GuardRule
from claude_headspace.kernel.effort.model import Delivery, Effort, Injection, Window, artifact_paths
from claude_headspace.kernel.effort.own_commands import is_own_command
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.text import iso
from claude_headspace.kernel.tools import ToolUse

HEARTBEAT_LIMIT, HEARTBEAT_WARN, OVERFLOW_PERCENT = 10, 7, 90
MAX_INJECTIONS_PER_REPLY = 8
LOADED_BY_CLIENT = ("/CLAUDE.md", "/CLAUDE.local.md")

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "gte": lambda actual, value: actual >= value,
    "gt": lambda actual, value: actual > value,
    "lte": lambda actual, value: actual <= value,
    "lt": lambda actual, value: actual < value,
    "eq": lambda actual, value: actual == value,
}


def advise(effort: Effort, window: Window | None, event: Event) -> Advice:
    """The advice for a hook of an agent that works on the effort. `effort` and `window` are as after the hook."""
    return _HANDLERS[event.hook](effort, window, event) if event.hook in _HANDLERS else NO_ADVICE


# --- session, prompt, sub-agent ---------------------------------------------------------------------------------------


def _session_started(effort: Effort, window: Window | None, event: Event) -> Advice:
    """The effort, the handover and the files to read. A resumed session already has them in its context."""
    if event.meta.subagent_id is not None or not isinstance(event.fact, facts.SessionStarted):
        return NO_ADVICE
    if event.fact.source == "resume":
        return Advice(context=(_session_line(effort, window, event),), injections=_queued_injections(effort))
    parts = (_session_line(effort, window, event), messages.introduction(effort), messages.recovery(effort))
    context = tuple(part for part in parts if part)
    return Advice(
        context=context,
        preload=files_to_preload(effort),
        documents=documents_to_read(effort, window),
        injections=_queued_injections(effort),
    )


def documents_to_read(effort: Effort, window: Window | None) -> tuple[str, ...]:
    """The documents of the effort, if the previous session left no handover: the work is continued from them."""
    handover, previous = effort.handover, window.prev_session_id if window else None
    if handover is not None and (previous is None or handover.session_id in (None, previous)):
        return ()
    return tuple(artifact_paths(effort).values())


def files_to_preload(effort: Effort) -> tuple[str, ...]:
    """The files that a new window should read: of the effort, its gates, its handover, and its directives.

    Directives that the client loads itself are left out.
    """
    handed_over = effort.handover.files if effort.handover else ()
    directives = [path for path in effort.directives if not path.endswith(LOADED_BY_CLIENT)]
    return tuple(dict.fromkeys((*effort.preload, *_gates(effort)[1], *handed_over, *directives)))


def _prompt_submitted(effort: Effort, window: Window | None, event: Event) -> Advice:
    return Advice(context=(_session_line(effort, window, event),), injections=_queued_injections(effort))


def _session_line(effort: Effort, window: Window | None, event: Event) -> str:
    return messages.session_line(effort, window, iso(event.meta.at)[:19] + "Z")


def _subagent_started(effort: Effort, _window: Window | None, _event: Event) -> Advice:
    return Advice(context=(messages.subagent_introduction(effort),))


def _tool_finished(effort: Effort, _window: Window | None, event: Event) -> Advice:
    """Injections are for the agent itself, not for its sub-agents."""
    return Advice(injections=_queued_injections(effort)) if event.meta.subagent_id is None else NO_ADVICE


def _queued_injections(effort: Effort) -> tuple[str, ...]:
    queued = [injection.id for injection in effort.injections if injection.delivery is Delivery.QUEUED]
    return tuple(queued[:MAX_INJECTIONS_PER_REPLY])


# --- before a tool call -----------------------------------------------------------------------------------------------


def _tool_started(effort: Effort, window: Window | None, event: Event) -> Advice:
    tool = event.tool
    if window is None or tool is None or is_own_command(tool):
        return NO_ADVICE
    fired = _fired_rules(effort, window, tool)
    warnings, overflow = _warnings(effort, window)
    rule, reason = _denial(effort, window, tool, fired)
    rule_warnings = tuple(text for each in fired if (text := _message(each.payload)) and not _denies(each))
    preload = _files_to_offer(effort, window) if rule is None else ()
    return Advice(
        rule=rule, reason=reason, context=(*warnings, *rule_warnings), preload=preload, overflow=overflow, fired=fired
    )


def _files_to_offer(effort: Effort, window: Window) -> tuple[str, ...]:
    """Files that became necessary since the window started, such as directives of a directory; each is offered once."""
    if window.subagent_id is not None:
        return ()
    return tuple(path for path in pending_preloads(effort, window) if path not in window.offered_files)


def _denial(effort: Effort, window: Window, tool: ToolUse, fired: tuple[GuardRule, ...]) -> tuple[str | None, str]:
    needs_session, directives = _gates(effort)
    missing = tuple(path for path in directives if path not in (*window.loaded_files, *effort.loaded_files))
    if window.subagent_id is None and tool.loaded_file is None:
        if needs_session and not window.opened:
            return "gate:session", messages.session_gate()
        if missing:
            return "gate:directives", messages.directive_gate(missing)
    if window.heartbeat >= _limit(effort, "heartbeat_limit", HEARTBEAT_LIMIT):
        return "heartbeat", messages.heartbeat_denial(window.heartbeat)
    denying = next((each for each in fired if _denies(each)), None)
    if denying is not None:
        return f"guard:{denying.field}", _message(
            denying.payload
        ) or f"A guard rule on {denying.field} denies this tool call."
    return None, ""


def _warnings(effort: Effort, window: Window) -> tuple[tuple[str, ...], bool]:
    limit = _limit(effort, "heartbeat_limit", HEARTBEAT_LIMIT)
    warn_at = _limit(effort, "heartbeat_warn", min(HEARTBEAT_WARN, limit))
    warnings = [messages.heartbeat_warning(window.heartbeat, limit)] if warn_at <= window.heartbeat < limit else []
    usage = window.context_usage or 0.0
    is_full = usage * 100 >= _limit(effort, "overflow_at", OVERFLOW_PERCENT)
    overflow = is_full and not window.overflow_reported and window.subagent_id is None
    return (*warnings, *([messages.overflow_warning(usage)] if overflow else [])), overflow


def _gates(effort: Effort) -> tuple[bool, tuple[str, ...]]:
    """Whether the session must be opened, and the absolute paths of the files that must be read."""
    gates = effort.metadata.get("gates")
    if not isinstance(gates, dict):
        return False, ()
    listed = gates.get("directives")
    paths = [path for path in listed if isinstance(path, str)] if isinstance(listed, list) else []
    root = effort.project_root.rstrip("/")
    return gates.get("session") is True, tuple(path if path.startswith("/") else f"{root}/{path}" for path in paths)


def _limit(effort: Effort, name: str, default: int) -> int:
    """A limit from the effort's metadata; the default if the value is not a positive integer."""
    value = effort.metadata.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else default


# --- guard rules ------------------------------------------------------------------------------------------------------


def _fired_rules(effort: Effort, window: Window, tool: ToolUse) -> tuple[GuardRule, ...]:
    entries = effort.metadata.get("guards")
    rules = [_parse_rule(each) for each in entries if isinstance(each, dict)] if isinstance(entries, list) else []
    return tuple(rule for rule in rules if rule is not None and _is_fired(rule, effort, window, tool))


def _parse_rule(entry: Mapping[str, Any]) -> GuardRule | None:
    """Parse a rule; None if invalid. `{"field", "gte": 5}` equals `{"field", "op": "gte", "value": 5}`."""
    field, op = entry.get("field"), entry.get("op")
    if not isinstance(op, str):
        op = next((operator for operator in OPERATORS if operator in entry), None)
    if not isinstance(field, str) or op not in OPERATORS:
        return None
    return GuardRule(field, op, entry.get(op, entry.get("value")), entry.get("payload"))


def _is_fired(rule: GuardRule, effort: Effort, window: Window, tool: ToolUse) -> bool:
    """Whether the condition is true; values that cannot be compared are false."""
    try:
        return OPERATORS[rule.op](_field_value(rule.field, effort, window, tool), rule.value)
    except TypeError:
        return False


def _field_value(field: str, effort: Effort, window: Window, tool: ToolUse) -> object:
    """The value of a field that rules can name; other names are paths into the metadata."""
    known: dict[str, object] = {
        "heartbeat": window.heartbeat,
        "heartbeat_counter": window.heartbeat,
        "context_usage": window.context_usage,
        "loaded_files": len(window.loaded_files),
        "logged": effort.log_count,
        "phase": effort.phase,
        "current_phase": effort.phase,
        "skill": effort.skill,
        "mode": effort.mode,
        "tool": tool.name,
        "tool_name": tool.name,
    }
    if field in known:
        return known[field]
    value: Any = effort.metadata
    for part in field.removeprefix("metadata.").split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _denies(rule: GuardRule) -> bool:
    return isinstance(rule.payload, dict) and rule.payload.get("deny") is True


def _message(payload: object) -> str:
    if isinstance(payload, dict):
        payload = payload.get("message")
    return payload if isinstance(payload, str) else ""


_HANDLERS: dict[HookKind, Callable[[Effort, Window | None, Event], Advice]] = {
    HookKind.SESSION_START: _session_started,
    HookKind.PROMPT: _prompt_submitted,
    HookKind.BEFORE_TOOL: _tool_started,
    HookKind.AFTER_TOOL: _tool_finished,
    HookKind.SUBAGENT_START: _subagent_started,
}

ADVISED_HOOKS = frozenset(_HANDLERS)
"""The hooks that wait for a reply while an effort is active."""


def delivered_injections(effort: Effort, advice: Advice) -> tuple[Injection, ...]:
    """The injections that a reply delivers."""
    return tuple(each for each in effort.injections if each.id in advice.injections)


def pending_preloads(effort: Effort, window: Window | None) -> tuple[str, ...]:
    """The files that the window should have read and has not."""
    loaded = window.loaded_files if window else ()
    return tuple(path for path in files_to_preload(effort) if path not in loaded)
