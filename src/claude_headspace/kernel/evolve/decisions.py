"""Decisions that were made when the event arrived and are stored with it: session notices, verdicts of the policy."""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import RuledCall
from claude_headspace.kernel.claude_os.session_notice import SessionNotice
from claude_headspace.kernel.evolve.change import Change, replace
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.policy.verdict import Ruling

MAX_VERDICTS = 5
RECORDED_RULINGS = (Ruling.WARN, Ruling.ASK, Ruling.DENY)
"""The rulings that are recorded with the agent, so that every surface shows them. Allowed calls are not."""


def record_session_notice(change: Change, notice: SessionNotice) -> None:
    """Record what the session received with the reply, so that it does not receive it again."""
    agent, at = change.agent, change.meta.at
    agent.context_level_reported = max(agent.context_level_reported, notice.context_level)
    if notice.requests_note:
        agent.note_requested_at = max(agent.note_requested_at, at)
    if notice.mission_ids:
        agent.worker_reports = tuple(each for each in agent.worker_reports if each.mission_id not in notice.mission_ids)
    if notice.requests_report and agent.mission is not None:
        agent.mission = replace(agent.mission, reminded_at=at)


def record_verdict(change: Change, event: Event) -> None:
    """Record a tool call that a rule warned about, asked about or denied."""
    verdict, fact = event.decisions.verdict, event.fact
    if verdict is None or verdict.ruling not in RECORDED_RULINGS or not isinstance(fact, facts.ToolStarted):
        return
    judged = RuledCall(
        event_id=event.meta.event_id,
        ruling=verdict.ruling,
        at=event.meta.at,
        rule=verdict.rule,
        reason=verdict.reason,
        enforced=verdict.enforced,
        tool=fact.tool,
        summary=fact.summary,
    )
    change.agent.verdicts = (*change.agent.verdicts[1 - MAX_VERDICTS :], judged)
