"""What rules said of an agent's calls: the newest stay with it, so that every surface shows them."""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import RuledCall
from claude_headspace.kernel.evolve.change import Change
from claude_headspace.kernel.facts import Event
from claude_headspace.kernel.policy.verdict import Ruling

MAX_VERDICTS = 5
RECORDED_RULINGS = (Ruling.WARN, Ruling.ASK, Ruling.DENY)
"""The rulings that somebody may want to know of."""


def record_verdict(change: Change, event: Event) -> None:
    """Remember a call that a rule warned of, asked about or refused."""
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
