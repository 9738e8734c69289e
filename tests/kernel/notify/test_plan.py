"""The plan: which notifications are sent and when, which are delayed and why, and which needs are closed."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.notify.plan import WATCHED_CHECK_INTERVAL, Attention
from claude_headspace.kernel.notify.rules import DEFAULTS, ChannelLimits, QuietHours, Rule, Rules
from tests.kernel.notify.cases import (
    ALL_CHANNELS,
    CHANNELS,
    PRESENT,
    WATCHED,
    deliveries,
    failed_agent,
    finished_agent,
    make_plan,
    notified,
    reasons,
    seen_agent,
    waiting_agent,
)
from tests.kernel.story import time_at

replace = msgspec.structs.replace


def need_id(agent: Agent) -> str:
    """The id of the agent's wait."""
    return agent.waits[0].id


def test_without_a_present_person_a_notification_is_sent_at_once() -> None:
    """Only the first step is used."""
    assert deliveries(make_plan(waiting_agent(), at=10)) == [("desktop", ["agent-1"])]


def test_a_present_person_is_notified_after_a_delay() -> None:
    """The person may see the board first. The plan has the time of the next check."""
    result = make_plan(waiting_agent(), at=10, attention=PRESENT)
    assert deliveries(result) == []
    assert result.next_check_at == time_at(30)
    assert deliveries(make_plan(waiting_agent(), at=30, attention=PRESENT)) == [("desktop", ["agent-1"])]


def test_a_watched_agent_sends_no_notification() -> None:
    """It is sent when the person looks elsewhere and the need is still open."""
    result = make_plan(waiting_agent(), at=1_000, attention=WATCHED)
    assert (deliveries(result), reasons(result)) == ([], {"you are looking at it"})
    assert result.next_check_at == time_at(1_000) + WATCHED_CHECK_INTERVAL
    assert deliveries(make_plan(waiting_agent(), at=1_000, attention=PRESENT)) == [("desktop", ["agent-1"])]


@pytest.mark.parametrize("agent", [finished_agent(), failed_agent(1_200), waiting_agent(at=1_200)])
def test_a_watched_agent_is_seen(agent: Agent) -> None:
    """It is planned once, not at every check."""
    assert [each.id for each in make_plan(agent, at=1_210, attention=WATCHED).seen] == ["agent-1"]
    assert make_plan(seen_agent(agent, 1_210), at=1_213, attention=WATCHED).seen == []


def test_a_need_is_sent_once() -> None:
    """A delivered notification is never repeated."""
    agent = waiting_agent()
    again = notified(agent, need_id(agent), "desktop", 10)
    assert deliveries(make_plan(again, at=11)) == []
    assert deliveries(make_plan(again, at=10_000, available=frozenset({"desktop"}))) == []


def test_the_next_channel_is_used_when_nobody_reacts() -> None:
    """After the delay of the rule, once."""
    agent = waiting_agent()
    first = notified(agent, need_id(agent), "desktop", 10)
    assert make_plan(first, at=20).next_check_at == time_at(10 + 180)
    assert deliveries(make_plan(first, at=189)) == []
    assert deliveries(make_plan(first, at=190)) == [("phone", ["agent-1"])]
    second = notified(first, need_id(agent), "phone", 190)
    assert deliveries(make_plan(second, at=10_000)) == []


def test_a_view_is_a_reaction() -> None:
    """There is no escalation after it."""
    agent = waiting_agent()
    first = notified(agent, need_id(agent), "desktop", 10)
    assert deliveries(make_plan(seen_agent(first, 60), at=1_000)) == []


def test_a_failure_goes_to_the_next_channel_at_once() -> None:
    """The failed channel is retried only while no channel was successful."""
    agent = waiting_agent()
    first = notified(agent, need_id(agent), "desktop", 10, failure="no bus")
    assert deliveries(make_plan(first, at=11)) == [("phone", ["agent-1"])]
    alone = frozenset({"desktop"})
    assert deliveries(make_plan(first, at=11, available=alone)) == []
    assert deliveries(make_plan(first, at=20, available=alone)) == [("desktop", ["agent-1"])]
    delivered = notified(first, need_id(agent), "phone", 11)
    assert deliveries(make_plan(delivered, at=100)) == []


def test_a_channel_that_is_no_longer_available_still_counts_as_used() -> None:
    """If the desktop is closed after a notification, the phone still follows after the usual delay."""
    agent = waiting_agent()
    first = notified(agent, need_id(agent), "desktop", 10)
    assert deliveries(make_plan(first, at=20, available=frozenset({"phone"}))) == []
    assert deliveries(make_plan(first, at=190, available=frozenset({"phone"}))) == [("phone", ["agent-1"])]


def test_quiet_hours_delay_all_kinds_except_those_let_through() -> None:
    """Until the quiet hours end."""
    quiet = QuietHours(begins=0, ends=1, let_through=frozenset({"error"}))
    rules = Rules(channels=CHANNELS, quiet=quiet)
    result = make_plan(waiting_agent(), at=10, rules=rules, quiet_until=time_at(500))
    assert (deliveries(result), reasons(result), result.next_check_at) == ([], {"quiet hours"}, time_at(500))
    assert deliveries(make_plan(failed_agent(), at=10, rules=rules, quiet_until=time_at(500))) == [
        ("desktop", ["agent-1"])
    ]
    assert deliveries(make_plan(waiting_agent(), at=500, rules=rules)) == [("desktop", ["agent-1"])]


def many(number: int) -> list[Agent]:
    """Several agents that wait."""
    return [waiting_agent(f"a{n}") for n in range(number)]


def test_three_needs_become_one_message() -> None:
    """Two are sent separately."""
    assert [len(names) for _, names in deliveries(make_plan(*many(2), at=10))] == [1, 1]
    assert [len(names) for _, names in deliveries(make_plan(*many(3), at=10))] == [3]


def test_needs_within_the_spacing_are_combined() -> None:
    """The first is sent at once; the next ones are sent together after the spacing."""
    rules = Rules(channels={"phone": ChannelLimits(spacing=time_at(15) - time_at(0))})
    first, *rest = many(4)
    sent = notified(first, need_id(first), "phone", 10)
    limits: dict[str, Any] = {"rules": rules, "available": frozenset({"phone"})}
    result = make_plan(sent, *rest, at=12, **limits)
    assert (deliveries(result), reasons(result)) == ([], {"another notification was just sent"})
    assert result.next_check_at == time_at(25)
    assert deliveries(make_plan(sent, *rest, at=25, **limits)) == [("phone", ["a1", "a2", "a3"])]


def test_the_hourly_limit_of_a_channel_delays_notifications() -> None:
    """The last message within the limit contains all needs."""
    rules = Rules(channels={"phone": ChannelLimits(per_hour=2, spacing=0)}, digest_from=10)
    one, two, *rest = many(5)
    limits: dict[str, Any] = {"rules": rules, "available": frozenset({"phone"})}
    once = notified(one, need_id(one), "phone", 10)
    assert deliveries(make_plan(once, two, *rest, at=20, **limits)) == [("phone", ["a1", "a2", "a3", "a4"])]
    twice = notified(two, need_id(two), "phone", 20)
    result = make_plan(once, twice, *rest, at=30, **limits)
    assert (deliveries(result), reasons(result)) == ([], {"hourly limit of 2 reached"})
    assert result.next_check_at == time_at(10 + 3_600)


def test_a_need_that_no_longer_exists_is_closed() -> None:
    """Only once."""
    agent = notified(waiting_agent(), "gone", "desktop", 10)
    assert [over.need for over in make_plan(agent, at=20).closed] == ["gone"]
    closed = replace(agent, notices=tuple(replace(each, closed_at=time_at(21)) for each in agent.notices))
    assert make_plan(closed, at=30).closed == []


def test_finished_work_is_sent_after_a_short_delay() -> None:
    """A background task may return within these seconds."""
    result = make_plan(finished_agent(), at=1_200)
    assert (deliveries(result), result.next_check_at) == ([], time_at(1_205))
    assert deliveries(make_plan(finished_agent(), at=1_205)) == [("desktop", ["agent-1"])]


def test_without_a_channel_nothing_is_planned() -> None:
    """No delivery, no delay, no next check."""
    result = make_plan(waiting_agent(), at=10, available=frozenset())
    assert (result.deliveries, result.delayed, result.next_check_at) == ([], [], None)


def test_a_project_can_have_its_own_rule() -> None:
    """Directly to the phone in one project."""
    kinds = {**DEFAULTS, "waiting": Rule(to=(("phone",),))}
    rules = Rules(channels=CHANNELS, projects=(("app", kinds),))
    assert deliveries(make_plan(waiting_agent(), at=10, rules=rules)) == [("phone", ["agent-1"])]


ATTENTION = st.builds(Attention, st.sampled_from([frozenset[str](), frozenset({"agent-1"})]), st.booleans())


@given(steps=st.lists(st.tuples(st.integers(0, 400), ATTENTION, st.booleans()), max_size=20))
def test_each_channel_delivers_at_most_once(steps: list[tuple[int, Attention, bool]]) -> None:
    """Whatever people look at, and whichever channels fail."""
    agent, at = waiting_agent(), 10.0
    delivered: list[str] = []
    for passed, attention, fails in steps:
        at += passed
        result = make_plan(agent, at=at, attention=attention)
        for delivery in result.deliveries:
            assert delivery.channel not in delivered
            agent = notified(agent, need_id(agent), delivery.channel, at, failure="no" if fails else "")
            delivered += [] if fails else [delivery.channel]
        if result.next_check_at is not None:
            assert result.next_check_at > time_at(at)
        assert not result.closed
    assert set(delivered) <= ALL_CHANNELS
