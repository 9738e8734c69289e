"""Verdicts of the policy on tool calls. The newest are kept with the agent, so that every surface shows them."""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import RuledCall
from claude_headspace.kernel.evolve.change import Change
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.policy.verdict import Ruling

MAX_VERDICTS = 5
RECORDED_RULINGS = (Ruling.WARN, Ruling.ASK, Ruling.DENY)
"""The rulings that are kept. Allowed calls are not."""


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
