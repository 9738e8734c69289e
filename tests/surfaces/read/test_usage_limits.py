"""Budgets with what is used of them, and rate limits."""

from typing import Any

from claude_headspace.kernel.envelope import SECOND, Envelope, Origin
from claude_headspace.kernel.notify.rules import DEFAULTS, Rule, Rules
from claude_headspace.surfaces.read.usage_limits import UsageLimitQueries, UsageLimits
from claude_headspace.testing import START, hook
from tests.journals import TemporaryJournal, store
from tests.usage_events import totals

NOW = START + 60 * SECOND


def session(name: str, at: int = START, **more: Any) -> list[Envelope]:
    """A session that starts with a prompt."""
    known: dict[str, Any] = {"session_id": name, "cwd": f"/{name}"} | more
    return [
        hook("SessionStart", at, source="startup", **known),
        hook("UserPromptSubmit", at + 1, prompt="Fix it", prompt_id=f"p-{name}", **known),
    ]


def status_line(name: str, at: int, **limits: tuple[float, int | None]) -> Envelope:
    """A status line that reports rate limits."""
    reported = {key: {"used_percentage": used, "resets_at": resets} for key, (used, resets) in limits.items()}
    window = {"context_window_size": 200_000, "current_usage": {"input_tokens": 10}}
    known: dict[str, Any] = {"session_id": name, "cwd": f"/{name}", "rate_limits": reported, "context_window": window}
    return hook("StatusLine", at, origin=Origin.STATUS_LINE, **known)


def current(journal: TemporaryJournal, host: str = "laptop", now: int = NOW, **rule: Any) -> UsageLimits:
    """The limits now. The project `lab` has a rule of its own."""
    own = (("lab", {**DEFAULTS, "cost": Rule(day_budget=1.0)}),)
    rules = Rules(kinds={**DEFAULTS, "cost": Rule(**rule)}, projects=own)
    return UsageLimitQueries(journal, lambda: now, host).current(rules)


def test_budgets() -> None:
    """Of a day, a month, a project, and of each running agent and session; the most used first."""
    journal = TemporaryJournal()
    store(journal, *session("shop"), *session("lab"), *session("docs"))
    store(
        journal, totals(START + SECOND, "shop", 4.0, opus=(100, 4.0)), totals(START + SECOND, "lab", 0.5, opus=(9, 0.5))
    )
    found = current(journal, day_budget=10.0, month_budget=100.0, agent_budget=5.0).budgets
    assert [(each.kind, each.project, each.used_usd, each.dollars) for each in found] == [
        ("day", "", 4.5, 10.0),
        ("month", "", 4.5, 100.0),
        ("day", "lab", 0.5, 1.0),
        ("agent", "shop", 4.0, 5.0),
        ("agent", "docs", None, 5.0),
    ]


def test_a_budget_with_unknown_costs_is_a_minimum() -> None:
    """Tokens without a price are not counted as free."""
    journal = TemporaryJournal()
    store(journal, *session("shop"), totals(START + SECOND, "shop", None, local=(400, None)))
    [day, *_others] = current(journal, day_budget=10.0).budgets
    assert (day.used_usd, day.is_minimum) == (0.0, True)


def test_without_budgets() -> None:
    """Nothing is invented, and other hosts have budgets of their own."""
    journal = TemporaryJournal()
    store(journal, *session("shop"), totals(START + SECOND, "shop", 4.0, opus=(100, 4.0)))
    assert [each.project for each in current(journal).budgets] == ["lab"]
    assert current(journal, host="other", agent_budget=5.0).budgets[1:] == []


def test_the_newest_rate_limits_of_a_client() -> None:
    """Two agents of one account report the same limits; the newest report counts."""
    journal = TemporaryJournal()
    resets = NOW // SECOND + 3_600
    store(journal, *session("shop"), *session("lab"))
    store(journal, status_line("shop", START + 3, five_hour=(40.0, resets), seven_day=(12.5, None)))
    store(journal, status_line("lab", START + 2, five_hour=(35.0, resets)))
    found = current(journal).rate_limits
    assert [(each.client, each.name, each.used_percent) for each in found] == [
        ("claude-code", "five_hour", 40.0),
        ("claude-code", "seven_day", 12.5),
    ]
    [after, *_others] = current(journal, now=NOW + 2 * 3_600 * SECOND).rate_limits
    assert (after.used_percent, after.resets_at) == (None, found[0].resets_at)
