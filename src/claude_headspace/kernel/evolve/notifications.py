"""Calls to people, as facts: begun, settled, over. They change nothing of what the agent is."""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.evolve.change import Change, replace
from claude_headspace.kernel.facts import Event, Meta
from claude_headspace.kernel.notify.notification import REMEMBERED_OVER, Notice, find_notice


def notice_begun(change: Change, meta: Meta, fact: facts.NoticeBegun) -> None:
    """Somebody is about to be called."""
    before = find_notice(change.agent.notices, fact.need, fact.channel)
    attempts = before.attempts + 1 if before is not None else 1
    _store(
        change.agent,
        Notice(
            need=fact.need,
            kind=fact.kind,
            channel=fact.channel,
            title=fact.title,
            begun_at=meta.at,
            attempts=attempts,
        ),
    )


def notice_settled(change: Change, meta: Meta, fact: facts.NoticeSettled) -> None:
    """It went out, or did not."""
    notice = find_notice(change.agent.notices, fact.need, fact.channel)
    if notice is not None and not notice.settled_at:
        _store(change.agent, replace(notice, settled_at=meta.at, failure=fact.failure, receipt=fact.receipt))


def notice_over(change: Change, meta: Meta, fact: facts.NoticeOver) -> None:
    """Nobody has to be called about it any more, through whatever channel."""
    for notice in change.agent.notices:
        if notice.need == fact.need and not notice.over_at:
            _store(change.agent, replace(notice, over_at=meta.at, outcome=fact.why))


def _store(agent: Agent, notice: Notice) -> None:
    """Store a notice; of those that are over, the oldest are forgotten."""
    others = [each for each in agent.notices if (each.need, each.channel) != (notice.need, notice.channel)]
    over = [each for each in others if each.over_at]
    forgotten = over[: max(len(over) - REMEMBERED_OVER, 0)]
    agent.notices = (*(each for each in others if each not in forgotten), notice)


def notification_conflict(agent: Agent, event: Event) -> str | None:
    """Why nobody is called now, or nothing is taken back, although somebody was about to."""
    fact = event.fact
    if isinstance(fact, facts.NoticeOver):
        still = any(each.need == fact.need and not each.over_at for each in agent.notices)
        return None if still else "Nobody was called about it, or that is over."
    if not isinstance(fact, facts.NoticeBegun):
        return None
    if fact.wait_id and not any(wait.id == fact.wait_id and wait.answered is None for wait in agent.waits):
        return "It is over: nobody has to be called."
    before = find_notice(agent.notices, fact.need, fact.channel)
    if before is not None and (before.again_at is None or before.again_at > event.meta.at):
        return "Somebody was called about it already."
    return None
