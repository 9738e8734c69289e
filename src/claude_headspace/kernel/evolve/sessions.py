"""The client and its sessions: what every event shows about the client, context windows, and the end of an agent."""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent, EarlyEnd, Outcome, Session, Worktree
from claude_headspace.kernel.correlate import is_same_start
from claude_headspace.kernel.envelope import SECOND, Micros, Observations, Origin
from claude_headspace.kernel.evolve.change import (
    DUPLICATE_WINDOW,
    MAX_RECENT,
    Change,
    close_command,
    close_waits,
    end_thread,
    replace,
    stop_subagent,
)
from claude_headspace.kernel.facts import Event, Meta

CLOSED = "closed"
"""The reason of a client that does not say whether it exits or opens another session. Its process tells, or the start
of the other session: until then, nothing has ended."""

AGENT_SURVIVES = ("clear", "resume", CLOSED)
"""Reasons for the end of a session that end the context window but not the agent."""

STOPPED = "stopped"
"""The end reason of an agent whose client a person ended through Headspace."""
STOP_WINDOW: Micros = 60 * SECOND
"""An end within this time after the request of a person is what the person wanted."""

UNKNOWN = "unknown"
"""The source of a session whose start was not reported."""


# --- the client -------------------------------------------------------------------------------------------------------


def record_hook(change: Change, event: Event) -> None:
    """Every hook shows the client, its directory and its session. A hook fired after the end revives the agent."""
    agent, meta = change.agent, event.meta
    if not isinstance(event.fact, facts.SessionEnded):
        agent.last_hook_at = max(agent.last_hook_at, meta.at)
        if agent.ended_at is not None and meta.at > agent.ended_at:
            revive(agent)
            change.why = "resumed: a hook fired after its end"
    if meta.at >= agent.last_active_at:
        agent.last_active_at = meta.at
        if meta.subagent_id is None:
            agent.cwd = meta.cwd or agent.cwd
            agent.permission_mode = meta.permission_mode or agent.permission_mode
            agent.branch = event.observations.branch or agent.branch
            _update_worktree(agent, event.observations)
        if agent.ended_at is None:
            _update_client(change, event)
    if not isinstance(event.fact, facts.SessionStarted):
        _detect_session(change, meta)


def revive(agent: Agent) -> None:
    """A client of an ended agent runs again: it is back on the board."""
    agent.ended_at = agent.end_reason = None
    agent.archived_at = 0


def record_reading(change: Change, event: Event) -> None:
    """A file of the client shows the session and the process. A prompt or a client after the end revives the agent."""
    agent, meta = change.agent, event.meta
    if agent.ended_at is not None and meta.at > agent.ended_at and _revives(event, agent.ended_at):
        revive(agent)
        change.why = "resumed: a prompt or a client followed its end"
    if meta.origin is Origin.TRANSCRIPT and meta.at >= agent.last_active_at:
        agent.last_active_at = meta.at
        if meta.subagent_id is None:
            agent.cwd = meta.cwd or agent.cwd
            agent.permission_mode = meta.permission_mode or agent.permission_mode
    agent.cwd = agent.cwd or meta.cwd
    agent.branch = agent.branch or event.observations.branch
    if not agent.last_hook_at:
        _update_worktree(agent, event.observations)
    if agent.ended_at is None:
        _update_process(agent, event)
        if agent.parent_id is None:
            _update_pane(agent, event)
    if meta.subagent_id is None and not isinstance(event.fact, facts.SessionStarted):
        _detect_session(change, meta)


def _revives(event: Event, ended_at: Micros) -> bool:
    began = event.observations.client_started_at
    if event.meta.origin is Origin.REGISTRY:
        if isinstance(event.fact, facts.ClientReported) and not event.fact.status and is_same_start(began, ended_at):
            return began is not None  # written once, after the end: the system reports the start too early
        return isinstance(event.fact, facts.SessionStarted) or (began is not None and began > ended_at)
    parts = event.fact.facts if isinstance(event.fact, facts.Several) else (event.fact,)
    return any(isinstance(fact, facts.UserWrote | facts.PromptSubmitted) for fact in parts)


def _update_client(change: Change, event: Event) -> None:
    """Update process and terminal. A child inherits the terminal and wrapper id of its parent: these do not count."""
    agent, context = change.agent, event.observations
    has_left_pane = _starts_outside_tmux(agent, event)
    _update_process(agent, event)
    agent.parent_id = agent.parent_id or event.decisions.parent_id
    if agent.parent_id is None:
        agent.role = context.role or agent.role
        if has_left_pane:
            agent.tmux_session = agent.tmux_pane = None
        _update_pane(agent, event)
        agent.headspace_id = context.headspace_id or context.wrapper_id or agent.headspace_id
        agent.fleet_id = context.fleet_id or agent.fleet_id


def _starts_outside_tmux(agent: Agent, event: Event) -> bool:
    """Whether another client than before continues the agent, in a terminal without tmux. A wrapper knows the pane."""
    context, fact = event.observations, event.fact
    if not isinstance(fact, facts.SessionStarted) or fact.source not in ("startup", "resume"):
        return False
    is_other = context.client_pid is not None and context.client_pid != agent.pid and agent.wrapper_pid is None
    return is_other and not context.tmux_pane and not context.tmux_session


def _update_pane(agent: Agent, event: Event) -> None:
    """Update pane and tmux session, which belong together: a resumed agent is in another session than before."""
    context = event.observations
    if not context.tmux_pane:
        agent.tmux_session = agent.tmux_session or context.tmux_session
        return
    if context.tmux_session or context.tmux_pane != agent.tmux_pane:
        agent.tmux_session = context.tmux_session
    agent.tmux_pane = context.tmux_pane


def _update_worktree(agent: Agent, observed: Observations) -> None:
    """The worktree follows the directory of the client. What is known about it stays while the client is in it."""
    if observed.project_root is None:
        return
    root = observed.project_root if observed.repository_root else None
    if root != (agent.worktree.root if agent.worktree is not None else None):
        agent.worktree = Worktree(root=root) if root else None


def _update_process(agent: Agent, event: Event) -> None:
    """Update the process. A client on another host has another terminal."""
    context, host = event.observations, event.meta.host
    if not context.client_pid:
        return
    agent.pid, agent.pid_started_at = context.client_pid, context.client_started_at
    if host and host != agent.host:
        agent.host, agent.tmux_session, agent.tmux_pane = host, None, None


# --- sessions ---------------------------------------------------------------------------------------------------------


def _detect_session(change: Change, meta: Meta) -> None:
    """Detect a session whose start was missed, and the path of the transcript."""
    session = change.agent.session
    if not meta.session_id:
        return
    if session is not None and session.client_id == meta.session_id:
        if meta.transcript_path and not session.transcript_path:
            _store_session(change, replace(session, transcript_path=meta.transcript_path))
    elif session is None or _is_missed_start(change.agent, session, meta):
        _open_session(change, meta, UNKNOWN)


def _is_missed_start(agent: Agent, session: Session, meta: Meta) -> bool:
    """Whether an event of another session proves its start: a new one, or an earlier one after this one ended."""
    if meta.session_id not in agent.past_sessions:
        return meta.at > session.started_at
    return session.ended_at is not None and meta.at > session.ended_at


def _open_session(change: Change, meta: Meta, source: str) -> None:
    agent, previous = change.agent, change.agent.session
    if agent.supervision is not None and source != "compact":
        agent.supervision = replace(agent.supervision, under_way=False)
    if previous is not None:
        agent.past_sessions = (*agent.past_sessions[1 - MAX_RECENT :], previous.client_id)
        if previous.ended_at is None:
            change.sessions.append(replace(previous, ended_at=meta.at, end_reason=source))
    if source != "resume":
        _reset_context(agent)
    _store_session(
        change,
        Session(
            id=f"{meta.event_id}-s",
            agent_id=agent.id,
            ordinal=previous.ordinal + 1 if previous else 1,
            client_id=meta.session_id,
            source=source,
            started_at=meta.at,
            prev_session_id=previous.id if previous else None,
            transcript_path=meta.transcript_path,
        ),
    )


def _reset_context(agent: Agent) -> None:
    """Forget the usage and the notices of the previous context window."""
    agent.context_percent = agent.tokens = agent.session_context = None
    agent.context_level_reported = 0


def _store_session(change: Change, session: Session) -> None:
    change.agent.session = session
    change.sessions.append(session)


def session_started(change: Change, meta: Meta, fact: facts.SessionStarted) -> None:
    """A context window opens. Everything open before has ended, except after a compaction."""
    agent, session = change.agent, change.agent.session
    change.why = change.why or f"the session started ({fact.source})"
    if session is not None and _is_start_of(agent, session, meta, fact.source):
        if session.source == UNKNOWN:
            _store_session(change, replace(session, source=fact.source, started_at=min(session.started_at, meta.at)))
    elif session is None or meta.at > session.started_at:
        _open_session(change, meta, fact.source)
    else:
        change.anomalies.append("late start of an earlier session")
    if meta.at >= agent.last_active_at:
        agent.model = fact.model or agent.model
    if fact.source == "compact":
        agent.compaction_ended_at = max(agent.compaction_ended_at, meta.at)
    else:
        end_all_before(change, meta.at, "a new session started", client_is_new=fact.source != "clear")
    if fact.with_prompt and meta.at >= agent.idle_at:
        agent.busy_at = max(agent.busy_at, meta.at + 1)
    _apply_early_end(change, meta)


def record_commit(change: Change, meta: Meta, commit: str) -> None:
    """Store the commit that was checked out when the session started."""
    session = change.agent.session
    if session is not None and session.client_id == meta.session_id and session.commit is None:
        _store_session(change, replace(session, commit=commit))


def _is_start_of(agent: Agent, session: Session, meta: Meta, source: str) -> bool:
    """Whether this is the start of the current session, reported late or twice.

    A compaction and a resumed session may be reported at once and again with the next prompt.
    """
    if session.client_id != meta.session_id:
        return False
    if session.source == UNKNOWN and meta.at <= session.started_at:
        return True
    is_unused = agent.busy_at <= session.started_at
    if is_unused and source == session.source and (source == "compact" or _is_open_again(session, source)):
        return True
    return source == "startup" or (session.source == source and abs(session.started_at - meta.at) < DUPLICATE_WINDOW)


def _is_open_again(session: Session, source: str) -> bool:
    """Whether the session was resumed and has not ended since."""
    return source == "resume" and session.ended_at is None


def _apply_early_end(change: Change, meta: Meta) -> None:
    """Apply the end of the session if it arrived before the start."""
    early, session = change.agent.early_end, change.agent.session
    if early is None or session is None or early.at < meta.at:
        return
    if session.client_id == early.client_id == meta.session_id:
        session_ended(change, replace(meta, at=early.at), facts.SessionEnded(early.reason))


# --- ends -------------------------------------------------------------------------------------------------------------


def session_ended(change: Change, meta: Meta, fact: facts.SessionEnded) -> None:
    """A context window closes. The agent ends, unless the next window is about to open."""
    agent, session = change.agent, change.agent.session
    if session is not None and session.client_id != meta.session_id:
        change.anomalies.append("end of another session than the one in use")
        if meta.at > max(session.started_at, agent.early_end.at if agent.early_end else 0):
            agent.early_end = EarlyEnd(meta.session_id, meta.at, fact.reason)
        return
    if session is not None and meta.at >= session.started_at:
        _store_session(change, replace(session, ended_at=meta.at, end_reason=fact.reason))
    if fact.reason == CLOSED:
        change.why = "the session was closed"
        return
    end_all_before(change, meta.at, "the session ended", client_is_new=False)
    if fact.reason not in AGENT_SURVIVES and not agent.is_restarting:
        end_agent(change, meta.at, fact.reason)


def end_agent(change: Change, at: Micros, reason: str) -> None:
    """End the agent. No-op if a newer hook shows it alive."""
    agent = change.agent
    if at < max(agent.last_hook_at, agent.ended_at or 0):
        return
    if 0 <= at - agent.stop_requested_at < STOP_WINDOW:
        reason = STOPPED
    change.why = f"the client ended ({reason})"
    for sub in agent.running_subagents:
        stop_subagent(change, sub, max(at, sub.last_seen_at))
    close_waits(change, lambda _wait: True, "the client ended")
    close_command(change, at, Outcome.INTERRUPTED)
    agent.calls = agent.background = agent.queued_prompts = ()
    agent.ended_at, agent.end_reason, agent.error = at, reason, None
    agent.pid = agent.pid_started_at = agent.wrapper_pid = agent.wrapper_started_at = None


def end_all_before(change: Change, at: Micros, why: str, *, client_is_new: bool) -> None:
    """End everything that was open before the start or end of a session."""
    agent = change.agent
    for sub in agent.running_subagents:
        if sub.last_seen_at < at:
            stop_subagent(change, sub, at)
    if client_is_new:
        agent.background = tuple(task for task in agent.background if task.started_at > at)
    agent.background_listed_at = max(agent.background_listed_at, at)
    agent.compaction_ended_at = max(agent.compaction_ended_at, at)
    end_thread(change, None, at, why)
    if at > agent.busy_at and at >= agent.turn_ended_at:
        close_waits(change, lambda wait: wait.opened_at <= at, why)
        close_command(change, at, Outcome.INTERRUPTED)
        agent.idle_at, agent.error, agent.queued_prompts = max(agent.idle_at, at), None, ()
    agent.turn_ended_at = max(agent.turn_ended_at, at)
