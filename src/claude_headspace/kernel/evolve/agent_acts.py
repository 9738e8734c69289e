"""Acts on an agent: register, resume, restart, mark as seen, type, stop, close, archive, rename, note, import."""

from claude_headspace.kernel import acts, facts
from claude_headspace.kernel.agent import Note, SessionContext, Supervision, Worktree
from claude_headspace.kernel.evolve.change import Change, replace
from claude_headspace.kernel.evolve.sessions import end_agent, revive, session_started
from claude_headspace.kernel.facts import Meta
from claude_headspace.kernel.text import short


def agent_registered(change: Change, meta: Meta, fact: facts.AgentRegistered) -> None:
    """A client is about to be started. Until its first hook, the wrapper's id identifies the agent.

    A mission is registered twice: when it is created, and by the wrapper that starts its client. No-op for an agent
    that has started.
    """
    agent = change.agent
    if agent.session is not None or agent.ended_at is not None:
        return
    change.why = "a client is being started"
    agent.headspace_id = fact.headspace_id or agent.headspace_id
    agent.role, agent.mode = fact.role or agent.role, fact.mode or agent.mode
    agent.cwd, agent.branch = meta.cwd or agent.cwd, fact.branch or agent.branch
    agent.tmux_session, agent.tmux_pane = fact.tmux_session or agent.tmux_session, fact.tmux_pane or agent.tmux_pane
    agent.worktree = Worktree(root=fact.worktree_root) if fact.worktree_root else agent.worktree
    agent.mission = agent.mission or fact.mission
    agent.wrapper_pid, agent.wrapper_started_at = fact.wrapper_pid, fact.wrapper_started_at
    agent.supervision = Supervision() if fact.supervised else None
    agent.forked_session = short(fact.forked_session)
    agent.last_active_at = max(agent.last_active_at, meta.at)


def agent_resumed(change: Change, meta: Meta, fact: facts.AgentResumed) -> None:
    """An ended agent is back: its session is opened again. No-op if the agent is back already, or had no session."""
    agent = change.agent
    if agent.ended_at is None or agent.session is None:
        return
    revive(agent)
    agent.headspace_id = fact.headspace_id or agent.headspace_id
    agent.tmux_session, agent.tmux_pane = fact.tmux_session, fact.tmux_pane
    agent.wrapper_pid, agent.wrapper_started_at = fact.wrapper_pid, fact.wrapper_started_at
    agent.last_active_at = max(agent.last_active_at, meta.at)
    known = agent.session
    of_session = replace(meta, session_id=known.client_id, transcript_path=known.transcript_path)
    session_started(change, of_session, facts.SessionStarted("resume"))


def restart_begun(change: Change, meta: Meta, fact: acts.RestartBegun) -> None:
    """A supervised restart starts: the end of the old client does not end the agent."""
    reason = short(fact.reason)
    known = change.agent.supervision or Supervision()
    change.why = f"its client is restarting: {reason}"
    change.agent.supervision = replace(
        known, restarts=known.restarts + 1, restarted_at=meta.at, reason=reason, under_way=True
    )


def supervision_ended(change: Change, _meta: Meta, fact: acts.SupervisionEnded) -> None:
    """The client is not restarted any more."""
    change.agent.supervision = replace(change.agent.supervision or Supervision(), ended=short(fact.reason))


def agent_seen(change: Change, meta: Meta, _fact: acts.AgentSeen) -> None:
    """A person looked at the agent: earlier results are not unseen any more."""
    change.agent.seen_at = max(change.agent.seen_at, meta.at)


def recorded_only(
    _change: Change, _meta: Meta, _fact: acts.EscPressed | acts.TypingFailed | acts.WorktreeChangeDone
) -> None:
    """Change nothing. The client reports the resulting prompt itself, so that one message is never two turns."""


def remote_action_step(change: Change, _meta: Meta, fact: facts.RemoteActionStep) -> None:
    """Publish the new status of a remote action. The agent does not change."""
    change.remote_action = fact


def agent_closed(change: Change, meta: Meta, fact: acts.AgentClosed) -> None:
    """The process that started the client reported its end. No-op if the agent has another client by now."""
    if change.agent.ended_at is None and change.agent.pid in (None, fact.pid):
        end_agent(change, meta.at, fact.reason or "closed")


def stop_requested(change: Change, meta: Meta, _fact: acts.StopRequested) -> None:
    """A person ends the client. Its end is reported by the client or observed; only the reason is known here."""
    change.agent.stop_requested_at = max(change.agent.stop_requested_at, meta.at)


def agent_archived(change: Change, meta: Meta, fact: acts.AgentArchived) -> None:
    """A person took the ended agent off the board, or put it back."""
    change.agent.archived_at = 0 if fact.undone else meta.at


def agent_imported(change: Change, meta: Meta, fact: acts.AgentImported) -> None:
    """The log was imported from another host. The client does not run here, so the agent ends; a hook revives it."""
    agent, host = change.agent, short(fact.host)
    agent.imported_from = host or agent.imported_from
    if agent.ended_at is None:
        end_agent(change, meta.at, "imported")
        change.why = f"its log was imported from {host or 'elsewhere'}; its client does not run here"


def agent_renamed(change: Change, _meta: Meta, fact: acts.AgentRenamed) -> None:
    """A person gave the agent another name."""
    change.agent.name = fact.name or change.agent.name


def agent_noted(change: Change, meta: Meta, fact: acts.AgentNoted) -> None:
    """The newest note counts. An empty text removes it."""
    agent = change.agent
    if agent.note is None or meta.at >= agent.note.at:
        agent.note = Note(fact.text, meta.at) if fact.text else None


def worktree_observed(change: Change, _meta: Meta, fact: acts.WorktreeObserved) -> None:
    """The newest observation counts. No-op if the agent works elsewhere by now."""
    if change.agent.worktree is not None and change.agent.worktree.root == fact.root:
        change.agent.worktree = Worktree(
            root=fact.root,
            base=fact.base,
            ahead=fact.ahead,
            behind=fact.behind,
            uncommitted=fact.uncommitted,
            removed=fact.removed,
        )


def context_loaded(change: Change, meta: Meta, fact: acts.ContextLoaded) -> None:
    """Record the files that the context window started with."""
    change.agent.session_context = SessionContext(
        at=meta.at, files=fact.files, left_out=fact.left_out, problem=fact.reason
    )
