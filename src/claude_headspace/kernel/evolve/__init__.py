"""How a fact changes an agent. Total: hooks are lost, doubled, late and out of order, and this never raises.

Rules
- Newer facts win by the time they were fired, not by when they arrived. What began before its thread's last end is
  over.
- A source overturns only what it can see: the registry's `idle` ends work and dialogs, never an error or a question in
  text.
- Sub-agents have their own thread of calls and waits; they never end or disturb their parent.
- What is only concluded says so (`inferred`), and never with high confidence.
"""

from collections.abc import Callable
from typing import Any

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent, Confidence, Evidence, state_of
from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.evolve.acts import (
    briefed,
    closed,
    errand_moved,
    imported,
    noted,
    registered,
    renamed,
    restart_begun,
    seen,
    supervision_ended,
    typed,
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
from claude_headspace.kernel.evolve.change import DOUBLED, Change, replace
from claude_headspace.kernel.evolve.dialogs import (
    attention,
    elicitation_answered,
    elicitation_asked,
    wait_answered,
    wait_held,
    wait_released,
    wait_taken,
)
from claude_headspace.kernel.evolve.missions import (
    finished,
    follow_mission,
    reported,
    take_orders,
    went_on,
    woken,
    worker_ended,
)
from claude_headspace.kernel.evolve.notifications import notice_begun, notice_over, notice_settled
from claude_headspace.kernel.evolve.observations import client_reported, client_vanished, wrapper_vanished
from claude_headspace.kernel.evolve.session_notices import take_care
from claude_headspace.kernel.evolve.sessions import session_ended, session_started, take_reading, take_sign_of_life
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
    agent_spoke,
    prompt_queued,
    prompt_unqueued,
    tool_rejected,
    turn_closed,
    user_spoke,
)
from claude_headspace.kernel.evolve.turns import failed, interrupted, prompt, stopped
from claude_headspace.kernel.evolve.verdicts import take_verdict
from claude_headspace.kernel.facts import Event, Meta

CONFIDENCE = {
    Origin.HOOK: Confidence.HIGH,
    Origin.OPERATOR: Confidence.HIGH,
    Origin.TRANSCRIPT: Confidence.MEDIUM,
    Origin.REGISTRY: Confidence.MEDIUM,
    Origin.STATUS_LINE: Confidence.MEDIUM,
    Origin.PROCESS: Confidence.MEDIUM,
    Origin.TIMER: Confidence.LOW,
}

AFTER_THE_END = (
    facts.AgentRenamed,
    facts.AgentNoted,
    facts.AgentSeen,
    facts.AgentImported,
    facts.ClientVanished,
    facts.ErrandMoved,
    facts.NoticeBegun,
    facts.NoticeOver,
    facts.NoticeSettled,
    facts.SessionEnded,
    facts.Several,
    facts.UsageMeasured,
    facts.MissionReported,
    facts.MissionFinished,
    facts.WorkerEnded,
)
"""What still says something of an agent that is gone."""


def evolve(agent: Agent, event: Event) -> Change:
    """The agent after the event, and the rows that came of it."""
    change = Change(replace(agent), event.meta, before=(agent.state, agent.waiting_for))
    if event.anomaly:
        change.anomalies.append(event.anomaly)
    if event.meta.origin is Origin.HOOK:
        take_sign_of_life(change, event)
        take_orders(change, event)
        take_verdict(change, event)
    elif event.meta.origin in (Origin.TRANSCRIPT, Origin.REGISTRY, Origin.STATUS_LINE):
        take_reading(change, event)
    _apply(change, event.meta, _as_answered(change, event))
    _conclude(change)
    follow_mission(change)
    return change


def _as_answered(change: Change, event: Event) -> facts.Fact:
    """What was told, with what its agent was told in return: an end that the answer to its hook put off is none."""
    care, fact = event.decisions.session_notice, event.fact
    if care is None:
        return fact
    take_care(change, care)
    return facts.TurnWentOn(fact.message or "") if care.holds and isinstance(fact, facts.TurnStopped) else fact


def _apply(change: Change, meta: Meta, fact: facts.Fact) -> None:
    """Let the fact change the agent. What is read after its end, and did not bring it back, opens nothing."""
    ended_at = change.agent.ended_at
    if ended_at is None or meta.at <= ended_at or isinstance(fact, AFTER_THE_END):
        HANDLERS[type(fact)](change, meta, fact)


def _conclude(change: Change) -> None:
    """Let the state follow from the parts, with the evidence for it."""
    agent, meta = change.agent, change.meta
    state, waiting_for = state_of(agent)
    if (state, waiting_for) != (agent.state, agent.waiting_for) or agent.evidence is None:
        change.state_changed = True
        agent.state, agent.waiting_for, agent.state_since = state, waiting_for, meta.at
    elif not change.new_grounds and not _confirms(change, agent.evidence):
        return
    agent.evidence = Evidence(meta.origin.value, _confidence(change), meta.at, change.why or meta.name)


def _confirms(change: Change, evidence: Evidence) -> bool:
    """Whether what was less certain is told by a hook now."""
    if evidence.confidence is Confidence.HIGH or not change.why or change.meta.at < evidence.at - DOUBLED:
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
    facts.PromptSubmitted: prompt,
    facts.ToolStarted: tool_started,
    facts.PermissionAsked: permission_asked,
    facts.ToolFinished: tool_finished,
    facts.ToolFailed: tool_failed,
    facts.ToolRefused: tool_refused,
    facts.ToolRejected: tool_rejected,
    facts.StepFinished: step_finished,
    facts.ElicitationAsked: elicitation_asked,
    facts.ElicitationAnswered: elicitation_answered,
    facts.AttentionCalled: attention,
    facts.SubagentStarted: subagent_started,
    facts.SubagentDescribed: subagent_described,
    facts.SubagentStopped: subagent_stopped,
    facts.TurnStopped: stopped,
    facts.TurnWentOn: went_on,
    facts.TurnFailed: failed,
    facts.TurnInterrupted: interrupted,
    facts.CompactionStarted: compaction_started,
    facts.CompactionFinished: compaction_finished,
    facts.ModelSwitched: model_switched,
    facts.DirectoryChanged: directory_changed,
    facts.TodoAdded: todo_added,
    facts.TodoDone: todo_done,
    facts.AgentSpoke: agent_spoke,
    facts.UserSpoke: user_spoke,
    facts.PromptQueued: prompt_queued,
    facts.PromptUnqueued: prompt_unqueued,
    facts.TurnClosed: turn_closed,
    facts.ContextArrived: observed,
    facts.UsageMeasured: usage_measured,
    facts.ClientReported: client_reported,
    facts.ClientVanished: client_vanished,
    facts.AgentRegistered: registered,
    facts.MissionReported: reported,
    facts.MissionFinished: finished,
    facts.WorkerEnded: worker_ended,
    facts.ConversationWoken: woken,
    facts.RestartBegun: restart_begun,
    facts.SupervisionEnded: supervision_ended,
    facts.WrapperVanished: wrapper_vanished,
    facts.WaitHeld: wait_held,
    facts.WaitAnswered: wait_answered,
    facts.WaitTaken: wait_taken,
    facts.WaitReleased: wait_released,
    facts.NoticeBegun: notice_begun,
    facts.NoticeSettled: notice_settled,
    facts.NoticeOver: notice_over,
    facts.AgentRenamed: renamed,
    facts.AgentNoted: noted,
    facts.ContextLoaded: briefed,
    facts.AgentSeen: seen,
    facts.AgentClosed: closed,
    facts.TextTyped: typed,
    facts.EscPressed: typed,
    facts.TypingFailed: typed,
    facts.ErrandMoved: errand_moved,
    facts.AgentImported: imported,
    facts.Observed: observed,
    facts.Several: _several,
}
