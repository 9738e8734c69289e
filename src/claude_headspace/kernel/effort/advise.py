"""What the client is answered because of an effort. Pure; the answer is stored with the event and never made again.

Before a tool runs, these are checked in order, and the first that denies wins: the session gate, the directive gate,
the heartbeat, the effort's own guard rules. Headspace's own commands pass, and so does reading while a gate waits for
it. Warnings never deny.
Files that are to be read and were not offered to the window yet come along with a call that may run, each once.

    metadata          meaning                                                       default
    heartbeat_limit   calls without a log entry, from which on they are refused     10
    heartbeat_warn    … from which on a warning comes along                         7
    overflow_at       how full the context may be before the handover is asked for  90 (percent)
    gates             {"session": true, "directives": ["CLAUDE.md"]}                none
    guards            [{"field": "heartbeat", "gte": 5, "payload": {"deny": true, "message": "…"}}]
"""

from collections.abc import Callable, Mapping
from typing import Any

from claude_headspace.kernel import facts
from claude_headspace.kernel.effort import messages as texts
from claude_headspace.kernel.effort.advice import NO_ADVICE, Advice, FiredRule
from claude_headspace.kernel.effort.model import Delivery, Effort, Injection, Window
from claude_headspace.kernel.effort.own_commands import is_own_command
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.tools import ToolUse
from claude_headspace.kernel.views import iso

HEARTBEAT_LIMIT, HEARTBEAT_WARN, OVERFLOW_PERCENT = 10, 7, 90
MAX_INJECTIONS_PER_REPLY = 8
LOADED_BY_CLIENT = ("/CLAUDE.md", "/CLAUDE.local.md")

OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "gte": lambda found, value: found >= value,
    "gt": lambda found, value: found > value,
    "lte": lambda found, value: found <= value,
    "lt": lambda found, value: found < value,
    "eq": lambda found, value: found == value,
}


def advise(effort: Effort, window: Window | None, event: Event) -> Advice:
    """The answer to a hook of an agent that works on the effort, as both are after it."""
    return _HANDLERS[event.hook](effort, window, event) if event.hook in _HANDLERS else NO_ADVICE


# --- beginnings -------------------------------------------------------------------------------------------------------


def _session_started(effort: Effort, window: Window | None, event: Event) -> Advice:
    """What to work on, what was handed over, what to read. A resumed session has all of it in its context."""
    if event.meta.subagent_id is not None or not isinstance(event.fact, facts.SessionStarted):
        return NO_ADVICE
    if event.fact.source == "resume":
        return Advice(context=(_session_line(effort, window, event),), injections=_queued_injections(effort))
    recovered = texts.recovery(effort)
    context = (_session_line(effort, window, event), texts.introduction(effort), *([recovered] if recovered else []))
    return Advice(context=context, preload=files_to_preload(effort), injections=_queued_injections(effort))


def files_to_preload(effort: Effort) -> tuple[str, ...]:
    """The files of a new window: those the effort names, its gates', those handed over, those discovered.

    Of the discovered ones the client reads its own by itself.
    """
    handed = effort.handover.files if effort.handover else ()
    found = [path for path in effort.directives if not path.endswith(LOADED_BY_CLIENT)]
    return tuple(dict.fromkeys((*effort.preload, *_gates(effort)[1], *handed, *found)))


def _prompt_submitted(effort: Effort, window: Window | None, event: Event) -> Advice:
    return Advice(context=(_session_line(effort, window, event),), injections=_queued_injections(effort))


def _session_line(effort: Effort, window: Window | None, event: Event) -> str:
    return texts.session_line(effort, window, iso(event.meta.at)[:19] + "Z")


def _subagent_started(effort: Effort, _window: Window | None, _event: Event) -> Advice:
    return Advice(context=(texts.subagent_introduction(effort),))


def _tool_finished(effort: Effort, _window: Window | None, event: Event) -> Advice:
    """Injections are for the agent itself, not for its sub-agents."""
    return Advice(injections=_queued_injections(effort)) if event.meta.subagent_id is None else NO_ADVICE


def _queued_injections(effort: Effort) -> tuple[str, ...]:
    waiting = [each.id for each in effort.injections if each.delivery is Delivery.QUEUED]
    return tuple(waiting[:MAX_INJECTIONS_PER_REPLY])


# --- before a tool ----------------------------------------------------------------------------------------------------


def _tool_started(effort: Effort, window: Window | None, event: Event) -> Advice:
    tool = event.tool
    if window is None or tool is None or is_own_command(tool):
        return NO_ADVICE
    fired = _fired_rules(effort, window, tool)
    context, overflow = _warnings(effort, window)
    rule, reason = _denial(effort, window, tool, fired)
    said = tuple(message for each in fired if (message := _message(each.payload)) and not _denies(each))
    preload = _files_to_offer(effort, window) if rule is None else ()
    return Advice(rule=rule, reason=reason, context=(*context, *said), preload=preload, overflow=overflow, fired=fired)


def _files_to_offer(effort: Effort, window: Window) -> tuple[str, ...]:
    """What has to be read since the window began, such as instructions of a directory that it came to; each once."""
    if window.subagent_id is not None:
        return ()
    return tuple(path for path in pending_preloads(effort, window) if path not in window.offered_files)


def _denial(effort: Effort, window: Window, tool: ToolUse, fired: tuple[FiredRule, ...]) -> tuple[str | None, str]:
    wants_session, directives = _gates(effort)
    missing = tuple(path for path in directives if path not in (*window.loaded_files, *effort.loaded_files))
    if window.subagent_id is None and tool.loaded_file is None:
        if wants_session and not window.opened:
            return "gate:session", texts.session_gate()
        if missing:
            return "gate:directives", texts.directive_gate(missing)
    if window.heartbeat >= _limit(effort, "heartbeat_limit", HEARTBEAT_LIMIT):
        return "heartbeat", texts.heartbeat_denial(window.heartbeat)
    denying = next((each for each in fired if _denies(each)), None)
    if denying is not None:
        return f"guard:{denying.field}", _message(denying.payload) or f"A rule about {denying.field} refuses this."
    return None, ""


def _warnings(effort: Effort, window: Window) -> tuple[tuple[str, ...], bool]:
    limit = _limit(effort, "heartbeat_limit", HEARTBEAT_LIMIT)
    warn_at = _limit(effort, "heartbeat_warn", min(HEARTBEAT_WARN, limit))
    said = [texts.heartbeat_warning(window.heartbeat, limit)] if warn_at <= window.heartbeat < limit else []
    usage = window.context_usage or 0.0
    full = usage * 100 >= _limit(effort, "overflow_at", OVERFLOW_PERCENT)
    overflow = full and not window.overflow_reported and window.subagent_id is None
    return (*said, *([texts.overflow_warning(usage)] if overflow else [])), overflow


def _gates(effort: Effort) -> tuple[bool, tuple[str, ...]]:
    gates = effort.metadata.get("gates")
    if not isinstance(gates, dict):
        return False, ()
    named = gates.get("directives")
    paths = [path for path in named if isinstance(path, str)] if isinstance(named, list) else []
    root = effort.project_root.rstrip("/")
    return gates.get("session") is True, tuple(path if path.startswith("/") else f"{root}/{path}" for path in paths)


def _limit(effort: Effort, name: str, default: int) -> int:
    """A limit that the effort's metadata may set; nonsense there changes nothing."""
    found = effort.metadata.get(name)
    return found if isinstance(found, int) and not isinstance(found, bool) and found > 0 else default


# --- guard rules ------------------------------------------------------------------------------------------------------


def _fired_rules(effort: Effort, window: Window, tool: ToolUse) -> tuple[FiredRule, ...]:
    rules = effort.metadata.get("guards")
    read = [_parse_rule(each) for each in rules if isinstance(each, dict)] if isinstance(rules, list) else []
    return tuple(rule for rule in read if rule is not None and _is_fired(rule, effort, window, tool))


def _parse_rule(entry: Mapping[str, Any]) -> FiredRule | None:
    """`{"field", "gte": 5}` and `{"field", "op": "gte", "value": 5}` say the same."""
    field, named = entry.get("field"), entry.get("op")
    op = named if isinstance(named, str) else next((each for each in OPERATORS if each in entry), None)
    if not isinstance(field, str) or op not in OPERATORS:
        return None
    return FiredRule(field, op, entry.get(op, entry.get("value")), entry.get("payload"))


def _is_fired(rule: FiredRule, effort: Effort, window: Window, tool: ToolUse) -> bool:
    """Whether it speaks; what cannot be compared does not."""
    try:
        return OPERATORS[rule.op](_field_value(rule.field, effort, window, tool), rule.value)
    except TypeError:
        return False


def _field_value(field: str, effort: Effort, window: Window, tool: ToolUse) -> object:
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
    found: Any = effort.metadata
    for part in field.removeprefix("metadata.").split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


def _denies(rule: FiredRule) -> bool:
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
"""The hooks that wait for an answer while an effort is active."""


def delivered_injections(effort: Effort, advice: Advice) -> tuple[Injection, ...]:
    """The injections that an answer delivers."""
    return tuple(each for each in effort.injections if each.id in advice.injections)


def pending_preloads(effort: Effort, window: Window | None) -> tuple[str, ...]:
    """What the window should have read and has not."""
    loaded = window.loaded_files if window else ()
    return tuple(path for path in files_to_preload(effort) if path not in loaded)
