"""Apply an event to an agent. Never raises, whatever is missing, duplicated, late or out of order.

`evolve` copies the agent, applies the observations of its client (`sessions`), the decisions made on arrival
(`missions`, `decisions`) and the fact (one handler per type of fact, `HANDLERS`), and derives the state. The theory of
operation is in `kernel/state.py`.

Rules
- Newer facts win by the time they fired, not by the time they arrived.
- A source overturns only what it can see.
- Sub-agents have their own calls and waits. They never end or change the turn of their parent.
- Inferred evidence (`change.inferred`) has one degree of confidence less.
- An event without the ingest token changes only agents that are known by such events alone.
"""

from collections.abc import Callable
from typing import Any

from claude_headspace.kernel import acts, facts
from claude_headspace.kernel.agent import Agent, Confidence, Evidence
from claude_headspace.kernel.claude_os.session_notice import SessionNotice
from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.evolve import (
    agent_acts,
    attributes,
    decisions,
    dialogs,
    missions,
    notifications,
    observations,
    pending_prompts,
    reported_ends,
    sessions,
    tools,
    transcript,
    turns,
)
from claude_headspace.kernel.evolve.change import DUPLICATE_WINDOW, Change, replace
from claude_headspace.kernel.facts import Event, Meta
from claude_headspace.kernel.state import state_of

CONFIDENCE = {
    Origin.HOOK: Confidence.HIGH,
    Origin.OPERATOR: Confidence.HIGH,
    Origin.TRANSCRIPT: Confidence.MEDIUM,
    Origin.REGISTRY: Confidence.MEDIUM,
    Origin.STATUS_LINE: Confidence.MEDIUM,
    Origin.PROCESS: Confidence.MEDIUM,
    Origin.TIMER: Confidence.LOW,
}

AUTHENTICATED_ORIGINS = (Origin.HOOK, Origin.STATUS_LINE)
"""The sources that can authenticate. Files of the client are read in any case and do not make its hooks less true."""

ONLY_RECORDED = "sent without the ingest token: only recorded"

APPLIES_AFTER_END = (
    acts.AgentRenamed,
    acts.AgentNoted,
    acts.AgentSeen,
    acts.AgentImported,
    facts.AgentResumed,
    facts.ClientVanished,
    facts.RemoteActionStep,
    acts.NotificationStarted,
    acts.NotificationClosed,
    acts.NotificationCompleted,
    facts.SessionEnded,
    facts.Several,
    facts.UsageMeasured,
    acts.MissionReported,
    acts.MissionFinished,
    acts.WorkerEnded,
    acts.AgentArchived,
    acts.WorktreeObserved,
    acts.PromptFinished,
    acts.PromptCancelled,
)
"""Facts that also apply to an agent that has ended."""


def evolve(agent: Agent, event: Event) -> Change:
    """The agent after the event, and the rows to write."""
    change = Change(replace(agent), event.meta, before=(agent.state, agent.waiting_for))
    if event.anomaly:
        change.anomalies.append(event.anomaly)
    if event.observations.unauthenticated and not agent.unauthenticated:
        change.anomalies.append(ONLY_RECORDED)
        return change
    if agent.unauthenticated and not event.observations.unauthenticated and event.meta.origin in AUTHENTICATED_ORIGINS:
        change.agent.unauthenticated = False
    if event.meta.origin is Origin.HOOK:
        sessions.record_hook(change, event)
        if event.decisions.mode or event.decisions.mission_id:
            missions.apply_assignment(change, event)
        if event.decisions.verdict is not None:
            decisions.record_verdict(change, event)
    elif event.meta.origin in (Origin.TRANSCRIPT, Origin.REGISTRY, Origin.STATUS_LINE):
        sessions.record_reading(change, event)
    if change.agent.reported_end is not None:
        reported_ends.settle_before(change, event.meta, event.fact)
    notice = event.decisions.session_notice
    _apply(change, event.meta, event.fact if notice is None else _effective_fact(change, event.fact, notice))
    if event.observations.commit is not None:
        sessions.record_commit(change, event.meta, event.observations.commit)
    _update_state(change)
    if change.agent.mission is not None:
        missions.update_mission(change, change.agent.mission)
    return change


def _effective_fact(change: Change, fact: facts.Fact, notice: SessionNotice) -> facts.Fact:
    """The fact that counts. A turn that the reply to its Stop hook kept from ending has not ended."""
    decisions.record_session_notice(change, notice)
    if notice.blocks_turn_end and isinstance(fact, facts.TurnStopped):
        return facts.TurnContinued(fact.message or "")
    return fact


def _apply(change: Change, meta: Meta, fact: facts.Fact) -> None:
    """Apply a fact. After the end of an agent only `APPLIES_AFTER_END` counts, unless the event revived it."""
    ended_at = change.agent.ended_at
    if ended_at is None or meta.at <= ended_at or isinstance(fact, APPLIES_AFTER_END):
        HANDLERS[type(fact)](change, meta, fact)


def _update_state(change: Change) -> None:
    """Derive the state and record its evidence if it changed."""
    agent, meta = change.agent, change.meta
    state, waiting_for = state_of(agent)
    if (state, waiting_for) != (agent.state, agent.waiting_for) or agent.evidence is None:
        change.state_changed = True
        agent.state, agent.waiting_for, agent.state_since = state, waiting_for, meta.at
    elif not change.has_new_evidence:
        is_certain = agent.evidence.confidence is Confidence.HIGH
        if is_certain or not _confirms(change, agent.evidence):
            return
    why = change.why or REASONS.get(meta.origin) or meta.name
    agent.evidence = Evidence(meta.origin.value, _confidence(change), meta.at, why)


REASONS = {Origin.REGISTRY: "the client has a session open"}
"""The reason for a state by its source, if the event has none of its own. Otherwise the name of the event."""


def _confirms(change: Change, evidence: Evidence) -> bool:
    """Whether a hook now confirms a state that was less certain."""
    is_late = change.meta.at < evidence.at - DUPLICATE_WINDOW
    return bool(change.why) and not is_late and _confidence(change) is Confidence.HIGH


def _confidence(change: Change) -> Confidence:
    base = CONFIDENCE[change.meta.origin]
    if not change.inferred:
        return base
    return Confidence.MEDIUM if base is Confidence.HIGH else Confidence.LOW


def _several(change: Change, meta: Meta, fact: facts.Several) -> None:
    for one in fact.facts:
        _apply(change, meta, one)


HANDLERS: dict[type, Callable[[Change, Meta, Any], None]] = {
    facts.SessionStarted: sessions.session_started,
    facts.SessionEnded: sessions.session_ended,
    facts.PromptSubmitted: turns.prompt_submitted,
    facts.ToolStarted: tools.tool_started,
    facts.PermissionAsked: tools.permission_asked,
    facts.DialogAssumed: tools.dialog_assumed,
    facts.DialogClosed: tools.dialog_closed,
    facts.ToolFinished: tools.tool_finished,
    facts.ToolFailed: tools.tool_failed,
    facts.ToolRefused: tools.tool_refused,
    facts.ToolRejected: transcript.tool_rejected,
    facts.StepFinished: tools.step_finished,
    facts.ElicitationAsked: dialogs.elicitation_asked,
    facts.ElicitationAnswered: dialogs.elicitation_answered,
    facts.AttentionRequested: dialogs.attention_requested,
    facts.SubagentStarted: tools.subagent_started,
    facts.SubagentDescribed: tools.subagent_described,
    facts.SubagentStopped: tools.subagent_stopped,
    facts.TeammateStopped: dialogs.teammate_stopped,
    facts.TurnStopped: turns.turn_stopped,
    facts.TurnEndReported: reported_ends.turn_end_reported,
    facts.TurnEndAssumed: reported_ends.turn_end_assumed,
    facts.TurnContinued: missions.turn_continued,
    facts.TurnFailed: turns.turn_failed,
    facts.TurnInterrupted: turns.turn_interrupted,
    facts.CompactionStarted: attributes.compaction_started,
    facts.CompactionFinished: attributes.compaction_finished,
    facts.ModelSwitched: attributes.model_switched,
    facts.DirectoryChanged: attributes.directory_changed,
    facts.TodoAdded: attributes.todo_added,
    facts.TodoDone: attributes.todo_done,
    facts.AgentWrote: transcript.agent_wrote,
    facts.UserWrote: transcript.user_wrote,
    facts.PromptQueued: transcript.prompt_queued,
    facts.PromptUnqueued: transcript.prompt_unqueued,
    facts.TurnClosed: transcript.turn_closed,
    facts.ContextAdded: attributes.observed,
    facts.UsageMeasured: attributes.usage_measured,
    facts.ClientReported: observations.client_reported,
    facts.ClientVanished: observations.client_vanished,
    facts.AgentRegistered: agent_acts.agent_registered,
    facts.AgentResumed: agent_acts.agent_resumed,
    acts.MissionReported: missions.mission_reported,
    acts.MissionFinished: missions.mission_finished,
    acts.WorkerEnded: missions.worker_ended,
    acts.ConversationPrompted: missions.conversation_prompted,
    acts.RestartBegun: agent_acts.restart_begun,
    acts.SupervisionEnded: agent_acts.supervision_ended,
    facts.WrapperVanished: observations.wrapper_vanished,
    acts.WaitHeld: dialogs.wait_held,
    acts.WaitAnswered: dialogs.wait_answered,
    acts.WaitTaken: dialogs.wait_taken,
    acts.WaitReleased: dialogs.wait_released,
    acts.NotificationStarted: notifications.notification_started,
    acts.NotificationCompleted: notifications.notification_completed,
    acts.NotificationClosed: notifications.notification_closed,
    acts.AgentRenamed: agent_acts.agent_renamed,
    acts.AgentNoted: agent_acts.agent_noted,
    acts.ContextLoaded: agent_acts.context_loaded,
    acts.AgentSeen: agent_acts.agent_seen,
    acts.WorktreeObserved: agent_acts.worktree_observed,
    acts.AgentClosed: agent_acts.agent_closed,
    acts.TextTyped: pending_prompts.text_typed,
    acts.EscPressed: agent_acts.recorded_only,
    acts.TypingFailed: agent_acts.recorded_only,
    acts.PromptScheduled: pending_prompts.prompt_scheduled,
    acts.PromptDelayed: pending_prompts.prompt_delayed,
    acts.PromptFinished: pending_prompts.prompt_finished,
    acts.PromptCancelled: pending_prompts.prompt_cancelled,
    facts.RemoteActionStep: agent_acts.remote_action_step,
    acts.AgentImported: agent_acts.agent_imported,
    acts.StopRequested: agent_acts.stop_requested,
    acts.WorktreeChangeDone: agent_acts.recorded_only,
    acts.AgentArchived: agent_acts.agent_archived,
    facts.Observed: attributes.observed,
    facts.Several: _several,
}
