"""Budgets of a day and a month: which are used up, and which agent is notified."""

from typing import Any

import msgspec
import pytest

from claude_headspace.kernel.agent import Agent, Project
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.notify.budgets import has_budgets, month_start, reached_budgets
from claude_headspace.kernel.notify.notification import Notification
from claude_headspace.kernel.notify.rules import DEFAULTS, Rule, Rules
from claude_headspace.kernel.usage import Bucket
from tests.kernel.story import new_agent

HOUR: Micros = 3_600 * SECOND
NOON: Micros = 1_794_830_400 * SECOND
"""2026-11-16, 12:00 UTC."""


def agent(name: str, project: str, **known: Any) -> Agent:
    """An agent in a project."""
    return new_agent(id=name, name=name, project=Project(project, project, f"/code/{project}"), **known)


AGENTS = {each.id: each for each in (agent("a", "shop"), agent("b", "api"))}


def spent(agent_id: str, at: Micros, cost: float) -> Bucket:
    """What an agent used."""
    return Bucket(id=f"{agent_id}-{at}", agent_id=agent_id, session_id="s", at=at, model="opus", cost_usd=cost)


def rules(*projects: tuple[str, Rule], **budgets: float) -> Rules:
    """Rules with these budgets."""
    own = tuple((pattern, {**DEFAULTS, "cost": rule}) for pattern, rule in projects)
    return Rules(kinds={**DEFAULTS, "cost": Rule(**budgets)}, projects=own)  # type: ignore[arg-type]  # only floats


def titles(which: Rules, *buckets: Bucket, utc_offset: Micros = 0) -> list[str]:
    """The budgets that are used up."""
    return [each.title for each in reached_budgets(which, AGENTS, buckets, NOON, utc_offset)]


def test_all_agents_count_for_a_day() -> None:
    """Only those of this day, and only from the budget on."""
    which = rules(day_budget=5.0)
    yesterday, today = spent("a", NOON - 13 * HOUR, 9.0), spent("a", NOON - HOUR, 3.0)
    assert titles(which, yesterday, today) == []
    assert titles(which, yesterday, today, spent("b", NOON, 2.0)) == ["All agents have cost $5.00 today (budget $5)"]


def test_days_are_local() -> None:
    """Thirteen hours ago it was this day in the east."""
    assert titles(rules(day_budget=5.0), spent("a", NOON - 13 * HOUR, 9.0), utc_offset=8 * HOUR) != []


def test_a_month_starts_with_its_first_day() -> None:
    """In local time."""
    assert month_start(NOON, 0) == NOON - 15 * 24 * HOUR - 12 * HOUR
    assert month_start(NOON, 2 * HOUR) == month_start(NOON, 0) - 2 * HOUR
    assert titles(rules(month_budget=5.0), spent("a", NOON - 200 * HOUR, 6.0)) == [
        "All agents have cost $6.00 this month (budget $5)"
    ]


def test_a_project_has_its_own_budget() -> None:
    """It belongs to the first pattern that matches."""
    which = rules(("shop", Rule(day_budget=2.0)), ("/code", Rule(day_budget=2.0)))
    assert titles(which, spent("a", NOON, 3.0), spent("b", NOON, 1.0)) == [
        "The agents in shop have cost $3.00 today (budget $2)"
    ]


def test_the_agent_that_worked_last_is_notified() -> None:
    """Unless another one was notified already. Each day has its own need."""
    which, used = rules(day_budget=1.0), (spent("a", NOON - HOUR, 3.0), spent("b", NOON, 1.0))
    [first] = reached_budgets(which, AGENTS, used, NOON, 0)
    assert (first.agent_id, first.id) == ("b", "cost-2026-11-16-1")
    notice = Notification(need=first.id, kind="cost", channel="page", started_at=NOON, title="")
    notified = AGENTS | {"a": msgspec.structs.replace(AGENTS["a"], notices=(notice,))}
    assert [each.agent_id for each in reached_budgets(which, notified, used, NOON, 0)] == ["a"]


def test_agents_that_are_not_known_do_not_count() -> None:
    """They run on another machine."""
    assert titles(rules(day_budget=1.0), spent("elsewhere", NOON, 3.0)) == []


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        (Rules(), False),
        (rules(budget=1.0, agent_budget=2.0), False),
        (rules(day_budget=1.0), True),
        (rules(("shop", Rule(month_budget=1.0))), True),
        (rules(("shop", Rule(month_budget=1.0, on=False))), False),
    ],
)
def test_whether_budgets_are_set(which: Rules, expected: bool) -> None:
    """Those of a session and an agent need no sums."""
    assert has_budgets(which) is expected
