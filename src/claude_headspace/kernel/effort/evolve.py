"""How acts and hooks change an effort. Pure and total; a replay uses only this.

Rules
- A window belongs to one session of one agent. Each sub-agent has its own window, with its own heartbeat and files.
- Only events of the current session count. A late hook of an earlier session changes nothing.
- A tool call is counted by the hook before it. A log entry resets the heartbeat of the window that wrote it.
- The advice is taken from the event, never computed here.
- A window needs a restart (`restart_reason`) when the client compacts it automatically, when it handed over because its
  context was nearly full (and that tool call ended), or when its session was finished. The restart itself is the job of
  the supervisor.
"""

from collections.abc import Callable, Collection
from typing import Any

import msgspec

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.effort import acts
from claude_headspace.kernel.effort.model import (
    MAX_INJECTIONS,
    MAX_LOG_ENTRIES,
    MAX_WINDOWS,
    Delivery,
    Effort,
    EffortChange,
    Handover,
    Injection,
    Lifecycle,
    Message,
    Task,
    Window,
    merge_files,
    task_id,
    window_id,
)
from claude_headspace.kernel.effort.own_commands import is_log_command, is_own_command
from claude_headspace.kernel.envelope import Envelope, Micros
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.text import one_line
from claude_headspace.kernel.tools import ToolKind, ToolUse
from claude_headspace.kernel.wait.request import Question

MAX_LOG_ENTRY_CHARACTERS = 500

COMPACTED = "its context is being compacted"
HANDED_OVER = "its context was full, and it handed over"
FINISHED = "its session was finished"
"""Reasons to restart a window."""

NO_TOOL = ToolUse(name="")

replace = msgspec.structs.replace


# --- windows ----------------------------------------------------------------------------------------------------------


def _store_window(change: EffortChange, window: Window) -> None:
    """Store a window in the effort and as a row. An ended window is only stored as a row."""
    others = tuple(each for each in change.effort.windows if each.id != window.id)
    windows = others if window.ended_at is not None else (*others, window)[-MAX_WINDOWS:]
    change.effort = replace(change.effort, windows=windows)
    change.windows = [*(each for each in change.windows if each.id != window.id), window]


def _close_windows(change: EffortChange, matches: Callable[[Window], bool], at: Micros, reason: str) -> None:
    """End all open windows that match."""
    for window in [each for each in change.effort.windows if matches(each)]:
        _merge_subagent_files(change, window)
        _store_window(change, replace(window, ended_at=at, end_reason=reason))


def _merge_subagent_files(change: EffortChange, window: Window) -> None:
    """Add the files that a sub-agent loaded to the effort."""
    if window.subagent_id is not None and window.loaded_files:
        files = merge_files(change.effort.loaded_files, window.loaded_files)
        change.effort = replace(change.effort, loaded_files=files)


def _find_or_open_window(change: EffortChange, event: Event, agent: Agent) -> Window | None:
    """The window of an event. Opens it on its first event; None if the event is not of the current session."""
    session = agent.session
    if session is None or session.client_id != event.meta.session_id or session.ended_at is not None:
        return None
    subagent = event.meta.subagent_id
    effort = change.effort
    window = effort.window(session.id, subagent)
    if window is not None:
        return window
    window = Window(
        id=window_id(session.id, subagent),
        effort_id=effort.id,
        agent_id=agent.id,
        started_at=event.meta.at,
        subagent_id=subagent,
        prev_session_id=session.id if subagent else effort.last_session_id,
    )
    if subagent is None:
        _close_windows(change, lambda each: each.agent_id == agent.id, event.meta.at, "another session began")
        change.effort = replace(change.effort, last_session_id=session.id, holder=agent.id)
    _store_window(change, window)
    return window


# --- hooks ------------------------------------------------------------------------------------------------------------


def _tool_started(change: EffortChange, event: Event, agent: Agent) -> None:
    window = _find_or_open_window(change, event, agent)
    if window is None:
        return
    tool = event.tool or NO_TOOL
    if is_own_command(tool):
        _store_window(change, replace(window, pending_logs=window.pending_logs + is_log_command(tool)))
        return
    usage = None if agent.context_percent is None else round(agent.context_percent / 100, 4)
    _store_window(change, replace(window, heartbeat=window.heartbeat + 1, context_usage=usage))


def _tool_finished(change: EffortChange, event: Event, agent: Agent) -> None:
    window = _find_or_open_window(change, event, agent)
    tool, dialogue = event.tool or NO_TOOL, format_dialogue(event)
    if window is not None:
        loaded = merge_files(window.loaded_files, (tool.loaded_file,) if tool.loaded_file else ())
        pending = 0 if is_log_command(tool) else window.pending_logs
        _store_window(change, replace(window, loaded_files=loaded, pending_logs=pending))
    if event.decisions.directives:
        directives = merge_files(change.effort.directives, event.decisions.directives)
        change.effort = replace(change.effort, directives=directives)
    if dialogue is not None:
        _add_hook_message(change, event, "dialogue", dialogue, agent)


def _tool_failed(change: EffortChange, event: Event, agent: Agent) -> None:
    window = _find_or_open_window(change, event, agent)
    if window is not None and is_log_command(event.tool or NO_TOOL):
        _store_window(change, replace(window, pending_logs=0))
    if isinstance(event.fact, facts.ToolFailed):
        _add_hook_message(change, event, "failure", f"{event.fact.tool}: {event.fact.error}", agent)


def _session_ended(change: EffortChange, event: Event, agent: Agent) -> None:
    session = agent.session
    if session is None or session.client_id != event.meta.session_id or not isinstance(event.fact, facts.SessionEnded):
        return
    main, of_subagents = session.id, f"{session.id}/"
    _close_windows(
        change, lambda each: each.id == main or each.id.startswith(of_subagents), event.meta.at, event.fact.reason
    )


def _subagent_stopped(change: EffortChange, event: Event, agent: Agent) -> None:
    """No-op for a sub-agent whose start was not reported."""
    if agent.session is not None and event.meta.subagent_id:
        ended = window_id(agent.session.id, event.meta.subagent_id)
        _close_windows(change, lambda each: each.id == ended, event.meta.at, "the sub-agent ended")


def _compaction_started(change: EffortChange, event: Event, agent: Agent) -> None:
    if isinstance(event.fact, facts.CompactionStarted) and event.meta.subagent_id is None:
        window = _find_or_open_window(change, event, agent)
        if window is not None and event.fact.trigger == "auto":
            _store_window(change, replace(window, restart_reason=window.restart_reason or COMPACTED))
        _add_hook_message(change, event, "compaction", f"The context is being compacted ({event.fact.trigger}).", agent)


def _mark_handed_over(change: EffortChange, event: Event, agent: Agent) -> None:
    """After a step: a window that was asked for a handover, and wrote it, can be restarted."""
    window = change.effort.window(_session_id(agent)) if event.meta.subagent_id is None else None
    if window is not None and window.overflow_reported and window.handover is not None:
        _store_window(change, replace(window, restart_reason=window.restart_reason or HANDED_OVER))


def _context_added(change: EffortChange, event: Event, agent: Agent) -> None:
    """The transcript shows which injections reached the model, and which files the client loaded itself."""
    added = event.fact if isinstance(event.fact, facts.ContextAdded) else facts.ContextAdded(())
    window = change.effort.window(_session_id(agent), event.meta.subagent_id)
    if window is not None and added.files:
        _store_window(change, replace(window, loaded_files=merge_files(window.loaded_files, added.files)))
    _set_delivery(change, added.marks, Delivery.CONFIRMED)


def _set_delivery(change: EffortChange, ids: Collection[str], delivery: Delivery) -> None:
    injections = [replace(each, delivery=delivery) if each.id in ids else each for each in change.effort.injections]
    change.effort = replace(change.effort, injections=tuple(injections))


def _session_id(agent: Agent) -> str | None:
    return agent.session.id if agent.session else None


def _other_event(change: EffortChange, event: Event, agent: Agent) -> None:
    """Any other event opens the window of its session; team signals are also stored as messages.

    A compaction reports a sub-agent stop without a type. So only a start or a tool call opens a window of a sub-agent.
    """
    if event.meta.subagent_id is None or isinstance(event.fact, facts.SubagentStarted):
        _find_or_open_window(change, event, agent)
    signal = format_team_signal(event)
    if signal is not None:
        _add_hook_message(change, event, "signal", signal, agent)


def format_dialogue(event: Event) -> str | None:
    """The question to the user with its options and the answer; None for other tools."""
    tool = event.tool
    if tool is None or tool.kind is not ToolKind.QUESTION or tool.ask is None:
        return None
    questions = [f"Question: {each.text}" + _format_options(each) for each in tool.ask.questions]
    answer = event.fact.answer if isinstance(event.fact, facts.ToolFinished) else ""
    return "\n".join([*questions, f"Answer: {answer or 'none'}"])


def _format_options(question: Question) -> str:
    labels = ", ".join(option.label for option in question.options)
    return f" ({labels})" if labels else ""


def format_team_signal(event: Event) -> str | None:
    """The message to the coordinator of a team: a teammate is idle or completed a task; None for other events."""
    signal = event.team_signal
    if signal is None:
        return None
    team = f" ({signal.team})" if signal.team else ""
    member = one_line((signal.member or "A teammate") + team, 200)
    if signal.task is None:
        return f"{member} has nothing to do."
    return f"{member} completed: {one_line(signal.task or 'a task')}"


def managed_teams(effort: Effort) -> tuple[str, ...]:
    """The teams whose signals the effort receives (`manages` in its metadata)."""
    teams = effort.metadata.get("manages")
    return tuple(team for team in (teams if isinstance(teams, list) else [teams]) if isinstance(team, str))


def _add_hook_message(change: EffortChange, event: Event, kind: str, text: str, agent: Agent) -> None:
    session = _session_id(agent)
    change.messages.append(
        Message(
            id=f"{event.meta.event_id}-m{len(change.messages)}",
            effort_id=change.effort.id,
            at=event.meta.at,
            kind=kind,
            text=text,
            session_id=window_id(session, event.meta.subagent_id) if session else None,
        )
    )


_HOOK_HANDLERS: dict[type, Callable[[EffortChange, Event, Agent], None]] = {
    facts.ToolStarted: _tool_started,
    facts.ToolFinished: _tool_finished,
    facts.ToolFailed: _tool_failed,
    facts.SessionEnded: _session_ended,
    facts.SubagentStopped: _subagent_stopped,
    facts.CompactionStarted: _compaction_started,
    facts.ContextAdded: _context_added,
}


STEP_ENDS = (facts.ToolFinished, facts.ToolFailed, facts.TurnStopped)
"""After these events no tool call of the window is running."""


def evolve(effort: Effort, event: Event, agent: Agent) -> EffortChange:
    """The effort after a hook of an agent that works on it. `agent` is as after the hook."""
    change = EffortChange(effort)
    _HOOK_HANDLERS.get(type(event.fact), _other_event)(change, event, agent)
    if isinstance(event.fact, STEP_ENDS):
        _mark_handed_over(change, event, agent)
    return change


def apply_advice(change: EffortChange, event: Event, agent: Agent) -> EffortChange:
    """Record that the client received the advice of the event."""
    advice = event.decisions.advice
    if advice is None:
        return change
    _set_delivery(change, advice.injections, Delivery.DELIVERED)
    window = change.effort.window(_session_id(agent), event.meta.subagent_id)
    if window is not None:
        opened = window.opened or isinstance(event.fact, facts.SessionStarted)
        reported = window.overflow_reported or advice.overflow
        offered = merge_files(window.offered_files, advice.preload)
        _store_window(change, replace(window, opened=opened, overflow_reported=reported, offered_files=offered))
    return change


# --- acts -------------------------------------------------------------------------------------------------------------


def start_effort(act: acts.EffortStarted, task: Task | None, at: Micros) -> EffortChange:
    """Create an effort, and create or update its task."""
    of_task = task_id(act.host, act.task_dir)
    effort = Effort(
        id=act.effort_id,
        task_id=of_task,
        host=act.host,
        task_dir=act.task_dir,
        project_root=act.project_root,
        skill=act.skill,
        ordinal=act.ordinal,
        started_at=at,
        mode=act.mode,
        phase=act.phase,
        owner=act.owner,
        holder=act.holder,
        manager=act.manager,
        skill_config=act.skill_config,
        metadata=act.metadata,
        preload=act.preload,
    )
    change = EffortChange(effort, _updated_task(act, task, of_task))
    if act.holder and act.session_id:  # an agent started it in its own session, so that session needs no introduction
        window = Window(id=act.session_id, effort_id=effort.id, agent_id=act.holder, started_at=at, opened=True)
        change.effort = replace(effort, last_session_id=act.session_id)
        _store_window(change, window)
    return change


def _updated_task(act: acts.EffortStarted, task: Task | None, new_id: str) -> Task:
    known = task or Task(id=new_id, host=act.host, dir_path=act.task_dir, project_root=act.project_root)
    return replace(
        known,
        title=act.title or known.title,
        keywords=act.keywords or known.keywords,
        effort_count=max(known.effort_count, act.ordinal),
    )


def apply_act(effort: Effort, act: acts.Act, envelope: Envelope) -> EffortChange:
    """The effort after an act."""
    change = EffortChange(effort)
    _ACT_HANDLERS[type(act)](change, act, envelope)
    return change


def _phase_set(change: EffortChange, act: acts.PhaseSet, envelope: Envelope) -> None:
    change.effort = replace(change.effort, phase=act.phase)
    _add_act_message(change, envelope, "phase", act.phase)


def _logged(change: EffortChange, act: acts.EffortLogged, envelope: Envelope) -> None:
    effort = change.effort
    recent = (*effort.recent_log, one_line(act.text, MAX_LOG_ENTRY_CHARACTERS))[-MAX_LOG_ENTRIES:]
    change.effort = replace(effort, log_count=effort.log_count + 1, recent_log=recent)
    writers = _windows_of_log_entry(effort, act.holder)
    for window in writers:
        _store_window(change, replace(window, heartbeat=0, pending_logs=max(0, window.pending_logs - 1)))
    _add_act_message(change, envelope, "log", act.text, writers[0].id if len(writers) == 1 else None)


def _windows_of_log_entry(effort: Effort, holder: str | None) -> list[Window]:
    """The windows that a log entry resets: a sub-agent's with a pending log command, otherwise the main windows."""
    of_subagents = [window for window in _windows_of(effort, holder) if window.subagent_id and window.pending_logs]
    return of_subagents[:1] or _main_windows(effort, holder)


def _windows_of(effort: Effort, agent_id: str | None) -> list[Window]:
    """The open windows of an agent; of all agents without an id."""
    return [window for window in effort.windows if agent_id in (None, window.agent_id)]


def _main_windows(effort: Effort, agent_id: str | None) -> list[Window]:
    return [window for window in _windows_of(effort, agent_id) if window.subagent_id is None]


def _metadata_set(change: EffortChange, act: acts.MetadataSet, _envelope: Envelope) -> None:
    merged = {**change.effort.metadata, **act.metadata}
    metadata = {name: value for name, value in merged.items() if value is not None}
    change.effort = replace(change.effort, metadata=metadata)


def _injection_queued(change: EffortChange, act: acts.InjectionQueued, envelope: Envelope) -> None:
    injection = Injection(id=f"{envelope.id}-i", text=act.text, at=envelope.fired_at)
    change.effort = replace(change.effort, injections=(*change.effort.injections, injection)[-MAX_INJECTIONS:])


def _session_opened(change: EffortChange, act: acts.SessionOpened, _envelope: Envelope) -> None:
    for window in _main_windows(change.effort, act.holder):
        _store_window(change, replace(window, opened=True))


def _files_loaded(change: EffortChange, act: acts.FilesLoaded, _envelope: Envelope) -> None:
    for window in change.effort.windows:
        if window.id == act.session_id:
            _store_window(change, replace(window, loaded_files=merge_files(window.loaded_files, act.files)))


def _dehydrated(change: EffortChange, act: acts.Dehydrated, envelope: Envelope) -> None:
    windows = _main_windows(change.effort, act.holder)
    session = windows[-1].id if windows else change.effort.last_session_id
    for window in windows:
        reason = FINISHED if act.finish else window.restart_reason
        _store_window(change, replace(window, handover=act.text, restart_reason=reason))
    handover = Handover(text=act.text, at=envelope.fired_at, session_id=session, files=act.files)
    change.effort = replace(change.effort, handover=handover, recent_log=())
    _add_act_message(change, envelope, "dehydration", act.text, session)


def _finished(change: EffortChange, act: acts.EffortFinished, envelope: Envelope) -> None:
    at = envelope.fired_at
    _close_windows(change, lambda _window: True, at, "the effort is finished")
    change.effort = replace(change.effort, lifecycle=Lifecycle.FINISHED, finished_at=at)
    _add_act_message(change, envelope, "finished", act.text)


def _add_act_message(
    change: EffortChange, envelope: Envelope, kind: str, text: str, session_id: str | None = None
) -> None:
    change.messages.append(
        Message(
            id=f"{envelope.id}-m",
            effort_id=change.effort.id,
            at=envelope.fired_at,
            kind=kind,
            text=text,
            session_id=session_id,
        )
    )


_ACT_HANDLERS: dict[type[acts.Act], Callable[[EffortChange, Any, Envelope], None]] = {
    acts.PhaseSet: _phase_set,
    acts.EffortLogged: _logged,
    acts.MetadataSet: _metadata_set,
    acts.InjectionQueued: _injection_queued,
    acts.SessionOpened: _session_opened,
    acts.FilesLoaded: _files_loaded,
    acts.Dehydrated: _dehydrated,
    acts.EffortFinished: _finished,
}
