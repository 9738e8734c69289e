"""How acts and hooks change an effort. Total and pure; a replay calls it and nothing else.

Rules
- A window belongs to one session of one agent; a sub-agent has its own in it, with its own counter and files.
- Only what happens in the session in use counts: a late hook of an earlier one changes nothing.
- Counting is by the hook that announces the call. A log entry sets the counter of the thread that wrote it to nothing.
- What the client was answered is taken from the event (`advice`), never decided again.
- A window is spent when the client compacts it by itself, when it handed over because it was nearly full (and the call
  that did so is over), or when it was said to be finished. What follows from that is for who supervises the client.
"""

from collections.abc import Callable
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
from claude_headspace.kernel.wait_request import Question

MAX_LOG_ENTRY_CHARACTERS = 500

COMPACTED = "its context is being compacted"
HANDED_OVER = "its context was full, and it handed over"
FINISHED = "its session was finished"
"""Why a window is spent."""

NO_TOOL = ToolUse(name="")

replace = msgspec.structs.replace


# --- windows ----------------------------------------------------------------------------------------------------------


def _store_window(change: EffortChange, window: Window) -> None:
    """Remember a window; one that is over leaves the effort and stays a row."""
    others = tuple(each for each in change.effort.windows if each.id != window.id)
    windows = others if window.ended_at is not None else (*others, window)[-MAX_WINDOWS:]
    change.effort = replace(change.effort, windows=windows)
    change.windows = [*(each for each in change.windows if each.id != window.id), window]


def _close_windows(change: EffortChange, matches: Callable[[Window], bool], at: Micros, reason: str) -> None:
    for window in [each for each in change.effort.windows if matches(each)]:
        _merge_subagent_files(change, window)
        _store_window(change, replace(window, ended_at=at, end_reason=reason))


def _merge_subagent_files(change: EffortChange, window: Window) -> None:
    """What a sub-agent loaded is known to the effort."""
    if window.subagent_id is not None and window.loaded_files:
        files = merge_files(change.effort.loaded_files, window.loaded_files)
        change.effort = replace(change.effort, loaded_files=files)


def _find_or_open_window(change: EffortChange, event: Event, agent: Agent) -> Window | None:
    """The window that an event happens in, opened if it is the first one heard of it."""
    session = agent.session
    if session is None or session.client_id != event.meta.session_id or session.ended_at is not None:
        return None
    subagent = event.meta.subagent_id
    found = change.effort.window(session.id, subagent)
    if found is not None:
        return found
    effort = change.effort
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
        loaded = (tool.loaded_file,) if tool.loaded_file else ()
        waiting = 0 if is_log_command(tool) else window.pending_logs
        _store_window(
            change, replace(window, loaded_files=merge_files(window.loaded_files, loaded), pending_logs=waiting)
        )
    if event.decisions.directives:
        found = merge_files(change.effort.directives, event.decisions.directives)
        change.effort = replace(change.effort, directives=found)
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
    of_it = (session.id, f"{session.id}/")
    _close_windows(
        change, lambda each: each.id == of_it[0] or each.id.startswith(of_it[1]), event.meta.at, event.fact.reason
    )


def _subagent_stopped(change: EffortChange, event: Event, agent: Agent) -> None:
    """A stop that no start announced is nobody's."""
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
    """A step is over: a window that was asked to hand over, and did, has nothing more to do."""
    session = agent.session.id if agent.session else None
    window = change.effort.window(session) if event.meta.subagent_id is None else None
    if window is not None and window.overflow_reported and window.handover is not None:
        _store_window(change, replace(window, restart_reason=window.restart_reason or HANDED_OVER))


def _context_added(change: EffortChange, event: Event, agent: Agent) -> None:
    """The transcript shows which injections the model has, and which files the client brought in by itself."""
    arrived = event.fact if isinstance(event.fact, facts.ContextAdded) else facts.ContextAdded(())
    window = change.effort.window(agent.session.id if agent.session else None, event.meta.subagent_id)
    if window is not None and arrived.files:
        _store_window(change, replace(window, loaded_files=merge_files(window.loaded_files, arrived.files)))
    seen = arrived.marks
    injections = tuple(
        replace(each, delivery=Delivery.CONFIRMED) if each.id in seen else each for each in change.effort.injections
    )
    change.effort = replace(change.effort, injections=injections)


def _other_event(change: EffortChange, event: Event, agent: Agent) -> None:
    """Everything else tells that its window is there, and some of it is a signal.

    What stops without a type, at a compaction, is no sub-agent: only a start or a call opens a window for one.
    """
    if event.meta.subagent_id is None or isinstance(event.fact, facts.SubagentStarted):
        _find_or_open_window(change, event, agent)
    signal = format_team_signal(event)
    if signal is not None:
        _add_hook_message(change, event, "signal", signal, agent)


def format_dialogue(event: Event) -> str | None:
    """A question that was put to the user, with its options and the answer; None for other tools."""
    tool = event.tool
    if tool is None or tool.kind is not ToolKind.QUESTION or tool.ask is None:
        return None
    asked = [f"Question: {each.text}" + _format_options(each) for each in tool.ask.questions]
    answer = event.fact.answer if isinstance(event.fact, facts.ToolFinished) else ""
    return "\n".join([*asked, f"Answer: {answer or 'none'}"])


def _format_options(question: Question) -> str:
    labels = ", ".join(option.label for option in question.options)
    return f" ({labels})" if labels else ""


def format_team_signal(event: Event) -> str | None:
    """What the coordinator of a team is told about an event."""
    signal = event.team_signal
    if signal is None:
        return None
    team = f" ({signal.team})" if signal.team else ""
    who = one_line((signal.member or "A teammate") + team, 200)
    if signal.task is None:
        return f"{who} has nothing to do."
    return f"{who} completed: {one_line(signal.task or 'a task')}"


def managed_teams(effort: Effort) -> tuple[str, ...]:
    """The teams whose news the effort wants, by its metadata."""
    named = effort.metadata.get("manages")
    return tuple(each for each in (named if isinstance(named, list) else [named]) if isinstance(each, str))


def _add_hook_message(change: EffortChange, event: Event, kind: str, text: str, agent: Agent) -> None:
    session = agent.session.id if agent.session else None
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
"""After these nothing runs that the window itself began."""


def evolve(effort: Effort, event: Event, agent: Agent) -> EffortChange:
    """The effort after a hook of the agent (as it is afterwards) that works on it."""
    change = EffortChange(effort)
    _HOOK_HANDLERS.get(type(event.fact), _other_event)(change, event, agent)
    if isinstance(event.fact, STEP_ENDS):
        _mark_handed_over(change, event, agent)
    return change


def apply_advice(change: EffortChange, event: Event, agent: Agent) -> EffortChange:
    """Take in what the client was answered."""
    advice = event.decisions.advice
    if advice is None:
        return change
    delivered = tuple(
        replace(each, delivery=Delivery.DELIVERED) if each.id in advice.injections else each
        for each in change.effort.injections
    )
    change.effort = replace(change.effort, injections=delivered)
    window = change.effort.window(agent.session.id if agent.session else None, event.meta.subagent_id)
    if window is not None:
        opened = window.opened or isinstance(event.fact, facts.SessionStarted)
        told = window.overflow_reported or advice.overflow
        offered = merge_files(window.offered_files, advice.preload)
        _store_window(change, replace(window, opened=opened, overflow_reported=told, offered_files=offered))
    return change


# --- acts -------------------------------------------------------------------------------------------------------------


def start_effort(act: acts.EffortStarted, task: Task | None, at: Micros) -> EffortChange:
    """A new effort, with the task that it belongs to."""
    place = task_id(act.host, act.task_dir)
    effort = Effort(
        id=act.effort_id,
        task_id=place,
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
    change = EffortChange(effort, _updated_task(act, task, place))
    if act.holder and act.session_id:  # begun by an agent in its own session, which so knows what it works on
        window = Window(id=act.session_id, effort_id=effort.id, agent_id=act.holder, started_at=at, opened=True)
        change.effort = replace(effort, last_session_id=act.session_id)
        _store_window(change, window)
    return change


def _updated_task(act: acts.EffortStarted, task: Task | None, place: str) -> Task:
    known = task or Task(id=place, host=act.host, dir_path=act.task_dir, project_root=act.project_root)
    return replace(
        known,
        title=act.title or known.title,
        keywords=act.keywords or known.keywords,
        effort_count=max(known.effort_count, act.ordinal),
    )


def apply_act(effort: Effort, act: acts.Act, envelope: Envelope) -> EffortChange:
    """The effort after somebody did something to it."""
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
    writer = _windows_of_log_entry(effort, act.holder)
    for window in writer:
        _store_window(change, replace(window, heartbeat=0, pending_logs=max(0, window.pending_logs - 1)))
    _add_act_message(change, envelope, "log", act.text, writer[0].id if len(writer) == 1 else None)


def _windows_of_log_entry(effort: Effort, holder: str | None) -> list[Window]:
    """The threads that a log entry is of: a sub-agent's that was about to write one, else the main ones."""
    ours = [window for window in effort.windows if holder in (None, window.agent_id)]
    writing = [window for window in ours if window.subagent_id and window.pending_logs]
    return writing[:1] or [window for window in ours if window.subagent_id is None]


def _metadata_set(change: EffortChange, act: acts.MetadataSet, _envelope: Envelope) -> None:
    both = {**change.effort.metadata, **act.metadata}
    change.effort = replace(change.effort, metadata={name: value for name, value in both.items() if value is not None})


def _injection_queued(change: EffortChange, act: acts.InjectionQueued, envelope: Envelope) -> None:
    new = Injection(id=f"{envelope.id}-i", text=act.text, at=envelope.fired_at)
    change.effort = replace(change.effort, injections=(*change.effort.injections, new)[-MAX_INJECTIONS:])


def _session_opened(change: EffortChange, act: acts.SessionOpened, _envelope: Envelope) -> None:
    for window in change.effort.windows:
        if window.subagent_id is None and act.holder in (None, window.agent_id):
            _store_window(change, replace(window, opened=True))


def _files_loaded(change: EffortChange, act: acts.FilesLoaded, _envelope: Envelope) -> None:
    for window in change.effort.windows:
        if window.id == act.session_id:
            _store_window(change, replace(window, loaded_files=merge_files(window.loaded_files, act.files)))


def _dehydrated(change: EffortChange, act: acts.Dehydrated, envelope: Envelope) -> None:
    ours = [w for w in change.effort.windows if w.subagent_id is None and act.holder in (None, w.agent_id)]
    session = ours[-1].id if ours else change.effort.last_session_id
    for window in ours:
        spent = FINISHED if act.finish else window.restart_reason
        _store_window(change, replace(window, handover=act.text, restart_reason=spent))
    handed = Handover(text=act.text, at=envelope.fired_at, session_id=session, files=act.files)
    change.effort = replace(change.effort, handover=handed, recent_log=())
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
