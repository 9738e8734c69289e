"""Notifications to people: claimed, sent or failed, closed. They do not change the state of the agent."""

from claude_headspace.kernel import acts
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.evolve.change import Change, replace
from claude_headspace.kernel.facts import Event, Meta
from claude_headspace.kernel.notify.notification import MAX_CLOSED, Notification, find_notification


def notification_started(change: Change, meta: Meta, fact: acts.NotificationStarted) -> None:
    """A notification is about to be sent."""
    before = find_notification(change.agent.notices, fact.need, fact.channel)
    attempts = before.attempts + 1 if before is not None else 1
    _store(
        change.agent,
        Notification(
            need=fact.need,
            kind=fact.kind,
            channel=fact.channel,
            title=fact.words,
            started_at=meta.at,
            attempts=attempts,
        ),
    )


def notification_completed(change: Change, meta: Meta, fact: acts.NotificationCompleted) -> None:
    """A notification was sent, or failed."""
    notification = find_notification(change.agent.notices, fact.need, fact.channel)
    if notification is not None and not notification.completed_at:
        _store(change.agent, replace(notification, completed_at=meta.at, failure=fact.reason, receipt=fact.receipt))


def notification_closed(change: Change, meta: Meta, fact: acts.NotificationClosed) -> None:
    """The need ended: close its notifications on all channels."""
    for notification in change.agent.notices:
        if notification.need == fact.need and not notification.closed_at:
            _store(change.agent, replace(notification, closed_at=meta.at, outcome=fact.reason))


def _store(agent: Agent, notification: Notification) -> None:
    """Store a notification. Above the limit, the oldest closed ones are removed."""
    others = [each for each in agent.notices if (each.need, each.channel) != (notification.need, notification.channel)]
    closed = [each for each in others if each.closed_at]
    removed = closed[: max(len(closed) - MAX_CLOSED, 0)]
    agent.notices = (*(each for each in others if each not in removed), notification)


def notification_conflict(agent: Agent, event: Event) -> str | None:
    """Why a notification must not be sent or closed now; None if it may."""
    fact = event.fact
    if isinstance(fact, acts.NotificationClosed):
        is_open = any(each.need == fact.need and not each.closed_at for each in agent.notices)
        return None if is_open else "No notification about it was sent, or all are closed."
    if not isinstance(fact, acts.NotificationStarted):
        return None
    if fact.wait_id and not any(wait.id == fact.wait_id and wait.answered is None for wait in agent.waits):
        return "The wait is closed: no notification is needed."
    before = find_notification(agent.notices, fact.need, fact.channel)
    if before is not None and (before.retry_at is None or before.retry_at > event.meta.at):
        return "A notification about it was sent already."
    return None
