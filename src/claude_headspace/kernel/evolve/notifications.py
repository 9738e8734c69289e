"""Notifications to people: started, sent or failed, withdrawn. They do not change the state of the agent."""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.evolve.change import Change, replace
from claude_headspace.kernel.facts import Event, Meta
from claude_headspace.kernel.notify.notification import MAX_CLOSED, Notification, find_notification


def notice_begun(change: Change, meta: Meta, fact: facts.NoticeBegun) -> None:
    """A notification is about to be sent."""
    before = find_notification(change.agent.notices, fact.need, fact.channel)
    attempts = before.attempts + 1 if before is not None else 1
    _store(
        change.agent,
        Notification(
            need=fact.need,
            kind=fact.kind,
            channel=fact.channel,
            title=fact.title,
            started_at=meta.at,
            attempts=attempts,
        ),
    )


def notice_settled(change: Change, meta: Meta, fact: facts.NoticeSettled) -> None:
    """A notification was sent, or failed."""
    notice = find_notification(change.agent.notices, fact.need, fact.channel)
    if notice is not None and not notice.completed_at:
        _store(change.agent, replace(notice, completed_at=meta.at, failure=fact.failure, receipt=fact.receipt))


def notice_over(change: Change, meta: Meta, fact: facts.NoticeOver) -> None:
    """The need ended: withdraw its notifications on all channels."""
    for notice in change.agent.notices:
        if notice.need == fact.need and not notice.closed_at:
            _store(change.agent, replace(notice, closed_at=meta.at, outcome=fact.why))


def _store(agent: Agent, notice: Notification) -> None:
    """Store a notification. Above the limit, the oldest withdrawn ones are removed."""
    others = [each for each in agent.notices if (each.need, each.channel) != (notice.need, notice.channel)]
    over = [each for each in others if each.closed_at]
    forgotten = over[: max(len(over) - MAX_CLOSED, 0)]
    agent.notices = (*(each for each in others if each not in forgotten), notice)


def notification_conflict(agent: Agent, event: Event) -> str | None:
    """Why a notification must not be sent or withdrawn now; None if it may."""
    fact = event.fact
    if isinstance(fact, facts.NoticeOver):
        still = any(each.need == fact.need and not each.closed_at for each in agent.notices)
        return None if still else "No notification about it was sent, or all were withdrawn."
    if not isinstance(fact, facts.NoticeBegun):
        return None
    if fact.wait_id and not any(wait.id == fact.wait_id and wait.answered is None for wait in agent.waits):
        return "The wait is closed: no notification is needed."
    before = find_notification(agent.notices, fact.need, fact.channel)
    if before is not None and (before.retry_at is None or before.retry_at > event.meta.at):
        return "A notification about it was sent already."
    return None
