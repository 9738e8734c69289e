"""Apply an event to an agent. Never raises, whatever is missing, duplicated, late or out of order.

`evolve` copies the agent, applies what the envelope tells about the client (`sessions`), the decisions made on arrival
(`missions`, `verdicts`, `session_notices`) and the fact (one handler per type of fact, `HANDLERS`), and derives the
state. The theory of operation is in `kernel/state.py`.

Rules
- Newer facts win by the time they fired, not by the time they arrived.
- A source overturns only what it can see.
- Sub-agents have their own calls and waits. They never end or change the turn of their parent.
- Inferred evidence (`change.inferred`) has one degree of confidence less.
"""

from collections.abc import Callable
from typing import Any

from claude_headspace.kernel import acts, facts
from claude_headspace.kernel.agent import Agent, Confidence, Evidence
from claude_headspace.kernel.claude_os.session_notice import SessionNotice
from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.evolve.agent_acts import (
    agent_closed,
    agent_imported,
    agent_noted,
    agent_registered,
    agent_renamed,
    agent_seen,
    context_loaded,
    errand_moved,
    recorded_only,
    restart_begun,
    supervision_ended,
)
from claude_headspace.kernel.evolve.attributes import (
    compaction_finished,
    compaction_started,
    directory_changed,
    model_switched,
    observed,
    todo_added,
    todo_done,
    usage_measured,
)
from claude_headspace.kernel.evolve.change import DUPLICATE_WINDOW, Change, replace
from claude_headspace.kernel.evolve.dialogs import (
    attention_requested,
    elicitation_answered,
    elicitation_asked,
    wait_answered,
    wait_held,
    wait_released,
    wait_taken,
)
from claude_headspace.kernel.evolve.missions import (
    apply_assignment,
    conversation_woken,
    mission_finished,
    mission_reported,
    turn_continued,
    update_mission,
    worker_ended,
)
from claude_headspace.kernel.evolve.notifications import notice_begun, notice_over, notice_settled
from claude_headspace.kernel.evolve.observations import client_reported, client_vanished, wrapper_vanished
from claude_headspace.kernel.evolve.session_notices import record_session_notice
from claude_headspace.kernel.evolve.sessions import record_hook, record_reading, session_ended, session_started
from claude_headspace.kernel.evolve.tools import (
    permission_asked,
    step_finished,
    subagent_described,
    subagent_started,
    subagent_stopped,
    tool_failed,
    tool_finished,
    tool_refused,
    tool_started,
)
from claude_headspace.kernel.evolve.transcript import (
    agent_wrote,
    prompt_queued,
    prompt_unqueued,
    tool_rejected,
    turn_closed,
    user_wrote,
)
from claude_headspace.kernel.evolve.turns import prompt_submitted, turn_failed, turn_interrupted, turn_stopped
from claude_headspace.kernel.evolve.verdicts import record_verdict
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

APPLIES_AFTER_END = (
    acts.AgentRenamed,
    acts.AgentNoted,
    acts.AgentSeen,
    acts.AgentImported,
    facts.ClientVanished,
    facts.ErrandMoved,
    acts.NoticeBegun,
    acts.NoticeOver,
    acts.NoticeSettled,
    facts.SessionEnded,
    facts.Several,
    facts.UsageMeasured,
    acts.MissionReported,
    acts.MissionFinished,
    acts.WorkerEnded,
)
"""Facts that also apply to an agent that has ended."""


def evolve(agent: Agent, event: Event) -> Change:
    """The agent after the event, and the rows to write."""
    change = Change(replace(agent), event.meta, before=(agent.state, agent.waiting_for))
    if event.anomaly:
        change.anomalies.append(event.anomaly)
    if event.meta.origin is Origin.HOOK:
        record_hook(change, event)
        if event.decisions.mode or event.decisions.mission_id:
            apply_assignment(change, event)
        if event.decisions.verdict is not None:
            record_verdict(change, event)
    elif event.meta.origin in (Origin.TRANSCRIPT, Origin.REGISTRY, Origin.STATUS_LINE):
        record_reading(change, event)
    notice = event.decisions.session_notice
    _apply(change, event.meta, event.fact if notice is None else _effective_fact(change, event.fact, notice))
    _update_state(change)
    if change.agent.mission is not None:
        update_mission(change, change.agent.mission)
    return change


def _effective_fact(change: Change, fact: facts.Fact, notice: SessionNotice) -> facts.Fact:
    """The fact that counts. A turn that the reply to its Stop hook kept from ending has not ended."""
    record_session_notice(change, notice)
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
    elif not change.has_new_evidence and not _confirms(change, agent.evidence):
        return
    agent.evidence = Evidence(meta.origin.value, _confidence(change), meta.at, change.why or meta.name)


def _confirms(change: Change, evidence: Evidence) -> bool:
    """Whether a hook now confirms a state that was less certain."""
    if evidence.confidence is Confidence.HIGH or not change.why or change.meta.at < evidence.at - DUPLICATE_WINDOW:
        return False
    return _confidence(change) is Confidence.HIGH


def _confidence(change: Change) -> Confidence:
    told = CONFIDENCE[change.meta.origin]
    if not change.inferred:
        return told
    return Confidence.MEDIUM if told is Confidence.HIGH else Confidence.LOW


def _several(change: Change, meta: Meta, fact: facts.Several) -> None:
    for one in fact.facts:
        _apply(change, meta, one)


HANDLERS: dict[type, Callable[[Change, Meta, Any], None]] = {
    facts.SessionStarted: session_started,
    facts.SessionEnded: session_ended,
    facts.PromptSubmitted: prompt_submitted,
    facts.ToolStarted: tool_started,
    facts.PermissionAsked: permission_asked,
    facts.ToolFinished: tool_finished,
    facts.ToolFailed: tool_failed,
    facts.ToolRefused: tool_refused,
    facts.ToolRejected: tool_rejected,
    facts.StepFinished: step_finished,
    facts.ElicitationAsked: elicitation_asked,
    facts.ElicitationAnswered: elicitation_answered,
    facts.AttentionRequested: attention_requested,
    facts.SubagentStarted: subagent_started,
    facts.SubagentDescribed: subagent_described,
    facts.SubagentStopped: subagent_stopped,
    facts.TurnStopped: turn_stopped,
    facts.TurnContinued: turn_continued,
    facts.TurnFailed: turn_failed,
    facts.TurnInterrupted: turn_interrupted,
    facts.CompactionStarted: compaction_started,
    facts.CompactionFinished: compaction_finished,
    facts.ModelSwitched: model_switched,
    facts.DirectoryChanged: directory_changed,
    facts.TodoAdded: todo_added,
    facts.TodoDone: todo_done,
    facts.AgentWrote: agent_wrote,
    facts.UserWrote: user_wrote,
    facts.PromptQueued: prompt_queued,
    facts.PromptUnqueued: prompt_unqueued,
    facts.TurnClosed: turn_closed,
    facts.ContextAdded: observed,
    facts.UsageMeasured: usage_measured,
    facts.ClientReported: client_reported,
    facts.ClientVanished: client_vanished,
    facts.AgentRegistered: agent_registered,
    acts.MissionReported: mission_reported,
    acts.MissionFinished: mission_finished,
    acts.WorkerEnded: worker_ended,
    acts.ConversationWoken: conversation_woken,
    acts.RestartBegun: restart_begun,
    acts.SupervisionEnded: supervision_ended,
    facts.WrapperVanished: wrapper_vanished,
    acts.WaitHeld: wait_held,
    acts.WaitAnswered: wait_answered,
    acts.WaitTaken: wait_taken,
    acts.WaitReleased: wait_released,
    acts.NoticeBegun: notice_begun,
    acts.NoticeSettled: notice_settled,
    acts.NoticeOver: notice_over,
    acts.AgentRenamed: agent_renamed,
    acts.AgentNoted: agent_noted,
    acts.ContextLoaded: context_loaded,
    acts.AgentSeen: agent_seen,
    acts.AgentClosed: agent_closed,
    acts.TextTyped: recorded_only,
    acts.EscPressed: recorded_only,
    acts.TypingFailed: recorded_only,
    facts.ErrandMoved: errand_moved,
    acts.AgentImported: agent_imported,
    facts.Observed: observed,
    facts.Several: _several,
}
