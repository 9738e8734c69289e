"""Notifications as facts: claimed, sent or failed, closed; which claims are rejected, and when to retry."""

from claude_headspace.kernel import acts
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Observations, Origin
from claude_headspace.kernel.evolve.notifications import notification_conflict
from claude_headspace.kernel.facts import Event, Fact, Meta
from claude_headspace.kernel.notify.notification import CLAIM_DURATION, MAX_ATTEMPTS, MAX_CLOSED
from tests.kernel.story import Story, time_at

STARTED = acts.NotificationStarted(need="n1", kind="waiting", channel="phone", words="calm-otter asks")


def at(fact: Fact, seconds: float) -> Event:
    """A fact at a time."""
    meta = Meta(event_id="x", name="x", origin=Origin.OPERATOR, at=time_at(seconds), received_at=time_at(seconds))
    return Event(meta, fact, Observations())


def agent_after(*steps: tuple[Fact, float]) -> Agent:
    """An agent after some facts."""
    story = Story()
    for fact, seconds in steps:
        story.report(fact, origin=Origin.OPERATOR, at=seconds)
    return story.agent


def result(failure: str = "", receipt: str = "") -> acts.NotificationCompleted:
    """The result of a notification."""
    return acts.NotificationCompleted(need="n1", channel="phone", reason=failure, receipt=receipt)


def test_the_status_of_a_notification() -> None:
    """Sending, delivered with a receipt, closed with the reason."""
    story = Story()
    story.report(STARTED, origin=Origin.OPERATOR, at=1)
    assert [notification.status for notification in story.agent.notices] == ["sending"]
    story.report(result(receipt="7"), origin=Origin.OPERATOR, at=2)
    (notification,) = story.agent.notices
    assert (notification.status, notification.receipt, notification.completed_at) == ("delivered", "7", time_at(2))
    story.report(acts.NotificationClosed(need="n1", reason="answered"), origin=Origin.OPERATOR, at=3)
    (notification,) = story.agent.notices
    assert (notification.status, notification.outcome, notification.receipt) == ("over", "answered", "7")


def test_a_notification_does_not_change_the_state_of_the_agent() -> None:
    """State, evidence and activity stay the same, also of an ended agent."""
    story = Story()
    story.hook("SessionStart", source="startup")
    story.hook("SessionEnd", reason="other")
    before = story.agent
    story.report(STARTED, origin=Origin.OPERATOR)
    after = story.agent
    assert (after.state, after.state_since, after.evidence) == (before.state, before.state_since, before.evidence)
    assert (after.last_active_at, after.ended_at) == (before.last_active_at, before.ended_at)
    assert len(after.notices) == 1


def test_a_second_claim_is_rejected() -> None:
    """While the first is being sent, and after it was delivered. Another channel has its own claim."""
    assert notification_conflict(agent_after(), at(STARTED, 1)) is None
    assert notification_conflict(agent_after((STARTED, 1)), at(STARTED, 2))
    assert notification_conflict(agent_after((STARTED, 1), (result(), 2)), at(STARTED, 1_000_000))
    other = acts.NotificationStarted(need="n1", kind="waiting", channel="desktop", words="")
    assert notification_conflict(agent_after((STARTED, 1)), at(other, 2)) is None


def test_a_claim_without_a_result_expires() -> None:
    """It can be repeated after that, up to the maximum number of attempts."""
    agent = agent_after((STARTED, 1))
    assert notification_conflict(agent, at(STARTED, 1 + CLAIM_DURATION / SECOND - 1))
    assert notification_conflict(agent, at(STARTED, 1 + CLAIM_DURATION / SECOND)) is None
    repeated = agent_after(*((STARTED, n * 100) for n in range(MAX_ATTEMPTS)))
    assert [notification.attempts for notification in repeated.notices] == [MAX_ATTEMPTS]
    assert notification_conflict(repeated, at(STARTED, 1_000_000))


def test_a_failed_notification_is_retried_after_a_delay() -> None:
    """The first delay is shorter."""
    once = agent_after((STARTED, 0), (result("no route"), 1))
    assert notification_conflict(once, at(STARTED, 10))
    assert notification_conflict(once, at(STARTED, 11)) is None
    twice = agent_after((STARTED, 0), (result("no"), 1), (STARTED, 11), (result("no"), 12))
    assert notification_conflict(twice, at(STARTED, 60))
    assert notification_conflict(twice, at(STARTED, 72)) is None


def test_a_closed_wait_needs_no_notification() -> None:
    """A claim after the answer is rejected."""
    claim = acts.NotificationStarted(need="w1", kind="waiting", channel="phone", words="", wait_id="w1")
    assert notification_conflict(agent_after(), at(claim, 1)) == "The wait is closed: no notification is needed."


def test_only_open_notifications_can_be_closed() -> None:
    """Only once."""
    over = acts.NotificationClosed(need="n1", reason="answered")
    assert notification_conflict(agent_after(), at(over, 1))
    assert notification_conflict(agent_after((STARTED, 1)), at(over, 2)) is None
    assert notification_conflict(agent_after((STARTED, 1), (over, 2)), at(over, 3))


def test_old_closed_notifications_are_removed() -> None:
    """An agent keeps a limited number of closed ones, and all open ones."""
    story = Story()
    story.report(
        acts.NotificationStarted(need="open", kind="waiting", channel="phone", words=""), origin=Origin.OPERATOR
    )
    for number in range(50):
        story.report(
            acts.NotificationStarted(need=f"n{number}", kind="waiting", channel="phone", words=""),
            origin=Origin.OPERATOR,
        )
        story.report(acts.NotificationClosed(need=f"n{number}", reason="answered"), origin=Origin.OPERATOR)
    assert len(story.agent.notices) <= MAX_CLOSED + 2
    assert story.agent.notices[0].need == "open"
