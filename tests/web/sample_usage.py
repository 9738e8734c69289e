"""Agents that cost something on several days, with rate limits; reported in status lines, as Claude Code does it."""

import json
import time
from typing import Any

from tests.support import RunningDaemon, wait_until

DAY_SECONDS = 86_400
PROJECTS = 10
OPUS, SONNET = "claude-opus-4-7", "claude-sonnet-5"
NAMES = ("shop", "api", "infra", "docs", "lab", "web", "billing", "<b>evil</b> ⟦x⟧")
BUDGETS = """
[cost]
day_budget = 20.0
month_budget = 1000.0
agent_budget = 25.0
[project.shop.cost]
month_budget = 60.0
"""


class Spender:
    """Reports what sessions cost."""

    def __init__(self, daemon: RunningDaemon) -> None:
        self._daemon = daemon
        self._now = time.time()

    def post(self, hook: str, days_ago: float, **payload: Any) -> dict[str, Any]:
        """Send a hook that fired some days ago."""
        fired = {"X-Headspace-Fired-At": f"{self._now - days_ago * DAY_SECONDS:.6f}"}
        reply = self._daemon.post(hook, payload, fired)
        assert reply.status == 200, reply.body
        found: dict[str, Any] = reply.json()
        return found

    def session(self, name: str, model: str, costs: dict[int, float], limits: dict[str, Any] | None = None) -> str:
        """A session in a project of this name: its cost on each day, by days ago. Returns the id of its agent."""
        session = {"session_id": f"usage-{name}", "cwd": f"/home/sam/{name.replace('/', '_')}"}
        days = sorted(costs, reverse=True)
        self.post("session-start", days[0] + 0.002, source="startup", **session)
        self.post("user-prompt-submit", days[0] + 0.001, prompt="Fix it", **session)
        total, agent = 0.0, ""
        for day in days:
            total += costs[day]
            window = {"context_window_size": 200_000, "current_usage": {"input_tokens": 40_000}}
            line = {"model": {"id": model}, "cost": {"total_cost_usd": total}, "context_window": window}
            agent = self.post("StatusLine", day, **session, **line, rate_limits=limits or {})["agent_id"]
        return agent

    def tokens(self, name: str, models: dict[str, int], cost: float | None) -> None:
        """A session that has ended: its transcript has the tokens of each model. Without a cost, no price is known."""
        path = self._daemon.home / ".claude/projects" / name / f"usage-{name}.jsonl"
        session = {"session_id": f"usage-{name}", "cwd": f"/home/sam/{name}", "transcript_path": str(path)}
        agent = self.post("user-prompt-submit", 0.01, prompt="Fix it", **session)["agent_id"]
        share = None if cost is None else cost / len(models)
        used = {
            model: {"inputTokens": size, "cacheReadInputTokens": 8 * size, "outputTokens": size // 9, "costUSD": share}
            for model, size in models.items()
        }
        line: dict[str, Any] = {
            "type": "cost-state",
            "sessionId": f"usage-{name}",
            "cwd": f"/home/sam/{name}",
            "modelUsage": used,
        }
        line |= {"totalCostUSD": cost or 0.0, "hasUnknownModelCost": cost is None}
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(line) + "\n")
        wait_until(lambda: self._daemon.get(f"/api/usage?agent={agent}").json()["rows"], "the tokens of a transcript")


def spend(daemon: RunningDaemon) -> dict[str, str]:
    """Ten agents in as many projects; the price of one model is unknown. Returns the ids of the first eight."""
    spender = Spender(daemon)
    resets = round(time.time()) + 2 * 3_600
    limits = {
        "five_hour": {"used_percentage": 84.0, "resets_at": resets},
        "seven_day": {"used_percentage": 31.5, "resets_at": resets + 3 * DAY_SECONDS},
    }
    agents = {}
    for number, name in enumerate(NAMES):
        costs = {day: 0.4 + (7 * day + 3 * number) % 11 / (number + 1) for day in range(6)}
        agents[name] = spender.session(name, OPUS if number % 2 else SONNET, costs, {} if number else limits)
    spender.tokens("local", {"local-model": 40_120}, cost=None)
    spender.tokens("mobile", {OPUS: 1_200_000, "claude-haiku-4-5": 90_000}, cost=3.75)
    return agents
