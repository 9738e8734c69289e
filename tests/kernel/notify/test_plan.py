"""The plan: whom to call when, what is held and why, what is over."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.notify.plan import WATCHED_CHECK_INTERVAL, Attention
from claude_headspace.kernel.notify.rules import DEFAULTS, ChannelLimits, QuietHours, Rule, Rules
from tests.kernel.notify.cases import (
    ALL,
    CHANNELS,
    PRESENT,
    WATCHED,
    asking,
    calls,
    failed,
    finished,
    planned,
    seen,
    told,
    whys,
)
from tests.kernel.story import time_at

replace = msgspec.structs.replace


def need_of(agent: Agent) -> str:
    """What the agent's wait is called."""
    return agent.waits[0].id


def test_who_is_away_is_called_at_once() -> None:
    """Through the first step of the chain alone."""
    assert calls(planned(asking(), at=10)) == [("desktop", ["agent-1"])]


def test_who_is_there_is_called_a_little_later() -> None:
    """The board may tell it first; the plan says when to look again."""
    made = planned(asking(), at=10, attention=PRESENT)
    assert calls(made) == []
    assert made.next_check_at == time_at(30)
    assert calls(planned(asking(), at=30, attention=PRESENT)) == [("desktop", ["agent-1"])]


def test_nobody_is_called_about_what_he_has_before_him() -> None:
    """As long as he looks; afterwards he is, if it is still open."""
    made = planned(asking(), at=1_000, attention=WATCHED)
    assert (calls(made), whys(made)) == ([], {"somebody looks at it"})
    assert made.next_check_at == time_at(1_000) + WATCHED_CHECK_INTERVAL
    assert calls(planned(asking(), at=1_000, attention=PRESENT)) == [("desktop", ["agent-1"])]


@pytest.mark.parametrize("agent", [finished(), failed(1_200), asking(at=1_200)])
def test_looking_at_it_is_seeing_it(agent: Agent) -> None:
    """It is told once that somebody saw it, not at every look."""
    assert [each.id for each in planned(agent, at=1_210, attention=WATCHED).seen] == ["agent-1"]
    assert planned(seen(agent, 1_210), at=1_213, attention=WATCHED).seen == []


def test_a_need_is_announced_once() -> None:
    """Whoever was reached is not called again, however long it takes."""
    agent = asking()
    again = told(agent, need_of(agent), "desktop", 10)
    assert calls(planned(again, at=11)) == []
    assert calls(planned(again, at=10_000, available=frozenset({"desktop"}))) == []


def test_the_next_channel_is_used_when_nobody_reacts() -> None:
    """After the time that the rule gives; once."""
    agent = asking()
    first = told(agent, need_of(agent), "desktop", 10)
    assert planned(first, at=20).next_check_at == time_at(10 + 180)
    assert calls(planned(first, at=189)) == []
    assert calls(planned(first, at=190)) == [("phone", ["agent-1"])]
    second = told(first, need_of(agent), "phone", 190)
    assert calls(planned(second, at=10_000)) == []


def test_who_looked_has_reacted() -> None:
    """Then nothing is passed on."""
    agent = asking()
    first = told(agent, need_of(agent), "desktop", 10)
    assert calls(planned(seen(first, 60), at=1_000)) == []


def test_a_failure_goes_to_the_next_channel_at_once() -> None:
    """And the one that failed is tried again only while nobody was reached."""
    agent = asking()
    first = told(agent, need_of(agent), "desktop", 10, failure="no bus")
    assert calls(planned(first, at=11)) == [("phone", ["agent-1"])]
    alone = frozenset({"desktop"})
    assert calls(planned(first, at=11, available=alone)) == []
    assert calls(planned(first, at=20, available=alone)) == [("desktop", ["agent-1"])]
    reached = told(first, need_of(agent), "phone", 11)
    assert calls(planned(reached, at=100)) == []


def test_a_channel_that_went_away_was_used_all_the_same() -> None:
    """A desktop that is closed after it told does not make the phone ring at once."""
    agent = asking()
    first = told(agent, need_of(agent), "desktop", 10)
    assert calls(planned(first, at=20, available=frozenset({"phone"}))) == []
    assert calls(planned(first, at=190, available=frozenset({"phone"}))) == [("phone", ["agent-1"])]


def test_quiet_hours_hold_everything_but_what_is_let_through() -> None:
    """The plan says until when."""
    quiet = QuietHours(begins=0, ends=1, let_through=frozenset({"error"}))
    rules = Rules(channels=CHANNELS, quiet=quiet)
    made = planned(asking(), at=10, rules=rules, quiet_until=time_at(500))
    assert (calls(made), whys(made), made.next_check_at) == ([], {"quiet hours"}, time_at(500))
    assert calls(planned(failed(), at=10, rules=rules, quiet_until=time_at(500))) == [("desktop", ["agent-1"])]
    assert calls(planned(asking(), at=500, rules=rules)) == [("desktop", ["agent-1"])]


def many(number: int) -> list[Agent]:
    """Several agents that ask."""
    return [asking(f"a{n}") for n in range(number)]


def test_many_become_one_message() -> None:
    """Two are told apart, three together."""
    assert [len(names) for _, names in calls(planned(*many(2), at=10))] == [1, 1]
    assert [len(names) for _, names in calls(planned(*many(3), at=10))] == [3]


def test_a_call_soon_after_another_waits_for_more() -> None:
    """The first comes at once; what follows within the spacing comes together."""
    rules = Rules(channels={"phone": ChannelLimits(spacing=time_at(15) - time_at(0))})
    first, *rest = many(4)
    said = told(first, need_of(first), "phone", 10)
    known: dict[str, Any] = {"rules": rules, "available": frozenset({"phone"})}
    made = planned(said, *rest, at=12, **known)
    assert (calls(made), whys(made)) == ([], {"another call was made just now"})
    assert made.next_check_at == time_at(25)
    assert calls(planned(said, *rest, at=25, **known)) == [("phone", ["a1", "a2", "a3"])]


def test_a_channel_is_not_used_more_than_it_may() -> None:
    """What is too much an hour waits; the last that may be sent tells all of it."""
    rules = Rules(channels={"phone": ChannelLimits(per_hour=2, spacing=0)}, digest_from=10)
    one, two, *rest = many(5)
    known: dict[str, Any] = {"rules": rules, "available": frozenset({"phone"})}
    once = told(one, need_of(one), "phone", 10)
    assert calls(planned(once, two, *rest, at=20, **known)) == [("phone", ["a1", "a2", "a3", "a4"])]
    twice = told(two, need_of(two), "phone", 20)
    made = planned(once, twice, *rest, at=30, **known)
    assert (calls(made), whys(made)) == ([], {"no more than 2 calls an hour"})
    assert made.next_check_at == time_at(10 + 3_600)


def test_what_is_no_need_any_more_is_over() -> None:
    """Once: what is over already is not over again."""
    agent = told(asking(), "gone", "desktop", 10)
    assert [over.need for over in planned(agent, at=20).closed] == ["gone"]
    closed = replace(agent, notices=tuple(replace(each, closed_at=time_at(21)) for each in agent.notices))
    assert planned(closed, at=30).closed == []


def test_finished_waits_until_it_is_sure() -> None:
    """A few seconds: a task may come back at that very moment."""
    made = planned(finished(), at=1_200)
    assert (calls(made), made.next_check_at) == ([], time_at(1_205))
    assert calls(planned(finished(), at=1_205)) == [("desktop", ["agent-1"])]


def test_without_a_channel_nothing_is_planned() -> None:
    """Nobody can be called, and nothing has to be looked at again."""
    made = planned(asking(), at=10, available=frozenset())
    assert (made.deliveries, made.delayed, made.next_check_at) == ([], [], None)


def test_a_rule_of_the_users_own() -> None:
    """Straight to the phone, in one project."""
    kinds = {**DEFAULTS, "waiting": Rule(to=(("phone",),))}
    rules = Rules(channels=CHANNELS, projects=(("app", kinds),))
    assert calls(planned(asking(), at=10, rules=rules)) == [("phone", ["agent-1"])]


LOOKS = st.builds(Attention, st.sampled_from([frozenset[str](), frozenset({"agent-1"})]), st.booleans())


@given(steps=st.lists(st.tuples(st.integers(0, 400), LOOKS, st.booleans()), max_size=20))
def test_whatever_happens_each_channel_is_used_once_and_in_order(steps: list[tuple[int, Attention, bool]]) -> None:
    """Time passes, people come and go, channels fail or not: nobody who was reached is called again."""
    agent, at = asking(), 10.0
    reached: list[str] = []
    for passed, attention, fails in steps:
        at += passed
        made = planned(agent, at=at, attention=attention)
        for call in made.deliveries:
            assert call.channel not in reached
            agent = told(agent, need_of(agent), call.channel, at, failure="no" if fails else "")
            reached += [] if fails else [call.channel]
        if made.next_check_at is not None:
            assert made.next_check_at > time_at(at)
        assert not made.closed
    assert set(reached) <= ALL
