"""Watches the budgets of a day and a month. Reads what agents cost only while such a budget is set, and not often."""

from claude_headspace.errors import JournalUnavailable
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.notify.budgets import ReachedBudget, month_start, reached_budgets
from claude_headspace.kernel.notify.rules import Rules
from claude_headspace.outputs.notify.local_time import utc_offset
from claude_headspace.ports import Clock, Reader

INTERVAL: Micros = 10 * SECOND
"""The minimum time between two readings."""


class BudgetWatch:
    """The budgets that are used up, and the agents that are notified about them."""

    def __init__(self, host: str, reader: Reader, clock: Clock) -> None:
        self._host = host
        self._reader = reader
        self._clock = clock
        self._read_at: Micros = 0
        self._rules: Rules | None = None
        self.reached: tuple[ReachedBudget, ...] = ()
        self.agents: dict[str, Agent] = {}

    def update(self, rules: Rules) -> float | None:
        """Read again, if enough time has passed. Returns the seconds until then if not. Runs in a thread."""
        now = self._clock()
        if rules == self._rules and 0 <= now - self._read_at < INTERVAL:
            return (self._read_at + INTERVAL - now) / SECOND
        try:
            self._read(rules, now)
        except JournalUnavailable:
            return INTERVAL / SECOND
        return None

    def clear(self) -> None:
        """No budget is set."""
        self._rules, self.reached, self.agents = None, (), {}

    def _read(self, rules: Rules, now: Micros) -> None:
        offset = utc_offset(now)
        since = month_start(now, offset)
        found = self._reader.agents(ended_after=since)
        local = {agent.id: agent for agent in found if agent.host == self._host and agent.imported_from is None}
        self.reached = tuple(reached_budgets(rules, local, self._reader.usage_between(since, None), now, offset))
        self.agents = {each.agent_id: local[each.agent_id] for each in self.reached}
        self._read_at, self._rules = now, rules
