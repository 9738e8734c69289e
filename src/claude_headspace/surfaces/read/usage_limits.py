"""Budgets with what is used of them, and the rate limits that clients report.

Rules
- Budgets are those of the notification rules, for the agents of this host. A cost that is not known does not count.
- A rate limit belongs to an account. Clients do not name it, so the newest report of each client and host counts.
- After its reset, nothing is known about a rate limit until the client reports it again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.notify.budgets import COST, UsedBudget, has_budgets, month_start, used_budgets
from claude_headspace.kernel.notify.rules import Rules
from claude_headspace.kernel.text import Time, iso, optional_iso
from claude_headspace.outputs.notify.local_time import utc_offset
from claude_headspace.ports import Clock, Reader

RECENT: Micros = 8 * 24 * 3600 * SECOND
"""Rate limits of agents that ended earlier are outdated: the longest ones last a week."""


class BudgetView(msgspec.Struct, frozen=True, kw_only=True):
    """A budget, and how much of it is used."""

    kind: Literal["session", "agent", "day", "month"]
    project: str
    """The pattern of projects that it is for; empty: all of them."""
    agent_id: str | None = None
    """For a session or an agent."""
    agent: str | None = None
    dollars: float
    used_usd: float | None
    """None if no cost is known."""
    is_minimum: bool
    """Some of the cost is not known."""


class RateLimitView(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a rate limit is used."""

    client: str
    host: str
    name: str
    used_percent: float | None
    """None: it was reset after the last report."""
    resets_at: Time | None
    agent_id: str
    """The agent whose client reported it."""
    agent: str
    reported_at: Time


class UsageLimits(msgspec.Struct, frozen=True):
    """Budgets and rate limits."""

    budgets: list[BudgetView]
    """Those of a month and a day, then those of agents and sessions, the most used first."""
    rate_limits: list[RateLimitView]


class UsageLimitQueries:
    """Reads budgets and rate limits."""

    def __init__(self, reader: Reader, clock: Clock, host: str) -> None:
        self._reader = reader
        self._clock = clock
        self._host = host

    def current(self, rules: Rules) -> UsageLimits:
        """Budgets and rate limits now."""
        now = self._clock()
        offset = utc_offset(now)
        month = month_start(now, offset)
        agents = [each for each in self._reader.agents(ended_after=min(month, now - RECENT)) if not each.imported_from]
        local = {agent.id: agent for agent in agents if agent.host == self._host}
        buckets = self._reader.usage_between(month, None) if has_budgets(rules) else []
        of_periods = [_period_budget(each) for each in used_budgets(rules, local, buckets, now, offset)]
        of_agents = sorted(_agent_budgets(local.values(), rules), key=_share, reverse=True)
        return UsageLimits([*of_periods, *of_agents], list(rate_limits(agents, now)))


def _period_budget(found: UsedBudget) -> BudgetView:
    return BudgetView(
        kind="day" if found.budget.period.words == "today" else "month",
        project=found.budget.scope,
        dollars=found.budget.dollars,
        used_usd=round(found.cost_usd, 6),
        is_minimum=any(each.unpriced_tokens for each in found.spent),
    )


def _agent_budgets(agents: Iterable[Agent], rules: Rules) -> Iterator[BudgetView]:
    """The budgets of running agents and of their sessions."""
    for agent in agents:
        rule = rules.find_rule(COST, agent.project)
        if agent.ended_at is not None or not (rules.on and rule.on):
            continue
        costs: Mapping[Literal["agent", "session"], tuple[float, float | None]] = {
            "agent": (rule.agent_budget, agent.total_cost_usd),
            "session": (rule.budget, agent.cost_usd),
        }
        for kind, (dollars, cost) in costs.items():
            if dollars > 0:
                unpriced = agent.usage is not None and agent.usage.unpriced_tokens > 0
                yield BudgetView(
                    kind=kind,
                    project=agent.project.name,
                    agent_id=agent.id,
                    agent=agent.name,
                    dollars=dollars,
                    used_usd=cost,
                    is_minimum=unpriced and cost is not None,
                )


def _share(budget: BudgetView) -> float:
    return -1.0 if budget.used_usd is None else budget.used_usd / budget.dollars


def rate_limits(agents: Sequence[Agent], now: Micros) -> Iterator[RateLimitView]:
    """The newest rate limits of each client and host."""
    newest: dict[tuple[str, str], Agent] = {}
    for agent in agents:
        key = (agent.client, agent.host)
        if agent.rate_limits and (key not in newest or newest[key].measured_at < agent.measured_at):
            newest[key] = agent
    for (client, host), agent in sorted(newest.items()):
        for limit in agent.rate_limits:
            resets_at = None if limit.resets_at is None else limit.resets_at * SECOND
            is_over = resets_at is not None and resets_at <= now
            yield RateLimitView(
                client=client,
                host=host,
                name=limit.name,
                used_percent=None if is_over else limit.used_percent,
                resets_at=optional_iso(resets_at),
                agent_id=agent.id,
                agent=agent.name,
                reported_at=iso(agent.measured_at),
            )
