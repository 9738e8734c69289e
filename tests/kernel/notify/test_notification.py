"""Calls as facts: begun, settled, over; who is first, and who may try again."""

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Observations, Origin
from claude_headspace.kernel.evolve.notifications import notification_conflict
from claude_headspace.kernel.facts import Event, Fact, Meta
from claude_headspace.kernel.notify.notification import CLAIM_DURATION, MAX_ATTEMPTS, MAX_CLOSED
from tests.kernel.story import Story, time_at

BEGUN = facts.NoticeBegun("n1", "waiting", "phone", "calm-otter asks")


def at(fact: Fact, seconds: float) -> Event:
    """A fact at a moment."""
    meta = Meta(event_id="x", name="x", origin=Origin.OPERATOR, at=time_at(seconds), received_at=time_at(seconds))
    return Event(meta, fact, Observations())


def told(*steps: tuple[Fact, float]) -> Agent:
    """An agent after some facts."""
    story = Story()
    for fact, seconds in steps:
        story.report(fact, origin=Origin.OPERATOR, at=seconds)
    return story.agent


def settled(failure: str = "", receipt: str = "") -> facts.NoticeSettled:
    """What came of a call."""
    return facts.NoticeSettled("n1", "phone", failure, receipt)


def test_a_call_goes_its_way() -> None:
    """Sending, delivered with its receipt, over with the reason."""
    story = Story()
    story.report(BEGUN, origin=Origin.OPERATOR, at=1)
    assert [notice.status for notice in story.agent.notices] == ["sending"]
    story.report(settled(receipt="7"), origin=Origin.OPERATOR, at=2)
    (notice,) = story.agent.notices
    assert (notice.status, notice.receipt, notice.completed_at) == ("delivered", "7", time_at(2))
    story.report(facts.NoticeOver("n1", "answered"), origin=Origin.OPERATOR, at=3)
    (notice,) = story.agent.notices
    assert (notice.status, notice.outcome, notice.receipt) == ("over", "answered", "7")


def test_a_call_changes_nothing_of_what_the_agent_is() -> None:
    """State, evidence and activity stay as they were, also of an agent that has ended."""
    story = Story()
    story.hook("SessionStart", source="startup")
    story.hook("SessionEnd", reason="other")
    before = story.agent
    story.report(BEGUN, origin=Origin.OPERATOR)
    after = story.agent
    assert (after.state, after.state_since, after.evidence) == (before.state, before.state_since, before.evidence)
    assert (after.last_active_at, after.ended_at) == (before.last_active_at, before.ended_at)
    assert len(after.notices) == 1


def test_the_second_to_call_is_refused() -> None:
    """While one is calling, and after that one reached somebody; another channel is another call."""
    assert notification_conflict(told(), at(BEGUN, 1)) is None
    assert notification_conflict(told((BEGUN, 1)), at(BEGUN, 2))
    assert notification_conflict(told((BEGUN, 1), (settled(), 2)), at(BEGUN, 1_000_000))
    other = facts.NoticeBegun("n1", "waiting", "desktop", "")
    assert notification_conflict(told((BEGUN, 1)), at(other, 2)) is None


def test_a_call_that_was_cut_off_is_made_again() -> None:
    """When its claim is over; and not for ever."""
    agent = told((BEGUN, 1))
    assert notification_conflict(agent, at(BEGUN, 1 + CLAIM_DURATION / SECOND - 1))
    assert notification_conflict(agent, at(BEGUN, 1 + CLAIM_DURATION / SECOND)) is None
    often = told(*((BEGUN, n * 100) for n in range(MAX_ATTEMPTS)))
    assert [notice.attempts for notice in often.notices] == [MAX_ATTEMPTS]
    assert notification_conflict(often, at(BEGUN, 1_000_000))


def test_a_call_that_failed_is_made_again_after_a_pause() -> None:
    """Sooner the first time than later."""
    once = told((BEGUN, 0), (settled("no route"), 1))
    assert notification_conflict(once, at(BEGUN, 10))
    assert notification_conflict(once, at(BEGUN, 11)) is None
    twice = told((BEGUN, 0), (settled("no"), 1), (BEGUN, 11), (settled("no"), 12))
    assert notification_conflict(twice, at(BEGUN, 60))
    assert notification_conflict(twice, at(BEGUN, 72)) is None


def test_nobody_is_called_about_a_wait_that_is_over() -> None:
    """Whoever is slower than the answer is refused."""
    about = facts.NoticeBegun("w1", "waiting", "phone", "", "w1")
    assert notification_conflict(told(), at(about, 1)) == "The wait is closed: no notification is needed."


def test_only_what_was_told_is_taken_back() -> None:
    """And only once."""
    over = facts.NoticeOver("n1", "answered")
    assert notification_conflict(told(), at(over, 1))
    assert notification_conflict(told((BEGUN, 1)), at(over, 2)) is None
    assert notification_conflict(told((BEGUN, 1), (over, 2)), at(over, 3))


def test_what_is_over_is_forgotten_in_time() -> None:
    """An agent carries a few of them; open ones stay, whatever comes."""
    story = Story()
    story.report(facts.NoticeBegun("open", "waiting", "phone", ""), origin=Origin.OPERATOR)
    for number in range(50):
        story.report(facts.NoticeBegun(f"n{number}", "waiting", "phone", ""), origin=Origin.OPERATOR)
        story.report(facts.NoticeOver(f"n{number}", "answered"), origin=Origin.OPERATOR)
    assert len(story.agent.notices) <= MAX_CLOSED + 2
    assert story.agent.notices[0].need == "open"
