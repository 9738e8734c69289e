"""Budgets of a day and a month, for all agents of a machine or for those of a project. Pure.

Rules
- Days and months are those of the local time.
- A cost that is not known does not count.
- Notifications belong to agents. A reached budget is a need of the agent that was notified about it, or else of the one
  that used something last.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime

import msgspec

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.notify import messages
from claude_headspace.kernel.notify.rules import Rule, Rules, matches_project
from claude_headspace.kernel.usage import Bucket

COST = "cost"


class ReachedBudget(msgspec.Struct, frozen=True, kw_only=True):
    """A budget that is used up, as a need of one agent."""

    id: str
    agent_id: str
    since: Micros
    title: str


class Period(msgspec.Struct, frozen=True):
    """A day or a month that has begun: its name, its words in a message, and its start."""

    name: str
    words: str
    start: Micros


class Budget(msgspec.Struct, frozen=True):
    """A budget: what it is for, in which period, and how much."""

    scope: str
    """A pattern of projects; empty: all agents."""
    period: Period
    dollars: float


class UsedBudget(msgspec.Struct, frozen=True):
    """A budget, and what agents used of it, in order of time."""

    budget: Budget
    spent: list[Bucket]

    @property
    def cost_usd(self) -> float:
        """What was used of it."""
        return sum(each.cost_usd for each in self.spent)


def has_budgets(rules: Rules) -> bool:
    """Whether any budget of a day or a month is set."""
    return rules.on and any(rule.on and (rule.day_budget or rule.month_budget) for _, rule in _scopes(rules))


def month_start(now: Micros, utc_offset: Micros) -> Micros:
    """The start of the local month. `utc_offset` is local time minus UTC."""
    local = datetime.fromtimestamp((now + utc_offset) // SECOND, UTC)
    first = local.replace(day=1, hour=0, minute=0, second=0)
    return round(first.timestamp()) * SECOND - utc_offset


def used_budgets(
    rules: Rules, agents: Mapping[str, Agent], buckets: Iterable[Bucket], now: Micros, utc_offset: Micros
) -> list[UsedBudget]:
    """What is used of each budget. `buckets` is the usage of these agents in this month, in order of time."""
    used = [bucket for bucket in buckets if bucket.agent_id in agents]
    found = []
    for budget in _budgets(rules, now, utc_offset):
        counts = _counted(rules, budget.scope, agents)
        found.append(UsedBudget(budget, [each for each in used if each.at >= budget.period.start and counts(each)]))
    return found


def reached_budgets(
    rules: Rules, agents: Mapping[str, Agent], buckets: Iterable[Bucket], now: Micros, utc_offset: Micros
) -> list[ReachedBudget]:
    """The budgets that are used up. `buckets` is the usage of these agents in this month, in order of time."""
    return [
        _reached(each.budget, each.cost_usd, each.spent[-1], agents)
        for each in used_budgets(rules, agents, buckets, now, utc_offset)
        if each.spent and each.cost_usd >= each.budget.dollars
    ]


def _scopes(rules: Rules) -> Iterator[tuple[str, Rule]]:
    yield "", rules.kinds[COST]
    yield from ((pattern, kinds[COST]) for pattern, kinds in rules.projects)


def _budgets(rules: Rules, now: Micros, utc_offset: Micros) -> Iterator[Budget]:
    local = datetime.fromtimestamp((now + utc_offset) // SECOND, UTC)
    midnight = local.replace(hour=0, minute=0, second=0)
    day = Period(f"{local:%Y-%m-%d}", "today", round(midnight.timestamp()) * SECOND - utc_offset)
    month = Period(f"{local:%Y-%m}", "this month", month_start(now, utc_offset))
    for scope, rule in _scopes(rules):
        for period, dollars in ((day, rule.day_budget), (month, rule.month_budget)):
            if rule.on and dollars:
                yield Budget(scope, period, dollars)


def _counted(rules: Rules, scope: str, agents: Mapping[str, Agent]) -> Callable[[Bucket], bool]:
    """Whether usage counts for a scope. A project belongs to the first pattern that matches."""
    if not scope:
        return lambda _bucket: True
    patterns = [pattern for pattern, _ in rules.projects]

    def is_in_scope(bucket: Bucket) -> bool:
        project = agents[bucket.agent_id].project
        return next((each for each in patterns if matches_project(each, project)), None) == scope

    return is_in_scope


def _reached(budget: Budget, cost: float, last: Bucket, agents: Mapping[str, Agent]) -> ReachedBudget:
    need = "-".join(filter(None, (COST, budget.period.name, f"{budget.dollars:g}", budget.scope)))
    notified = (agent.id for agent in agents.values() if any(each.need == need for each in agent.notices))
    return ReachedBudget(
        id=need,
        agent_id=next(notified, last.agent_id),
        since=last.at,
        title=messages.period_budget_title(budget.scope, cost, budget.period.words, budget.dollars),
    )
