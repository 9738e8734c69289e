"""Cost and tokens by day, project, model, client, agent and session, from a journal."""

from typing import Any

import pytest

from claude_headspace.kernel.envelope import SECOND, Envelope
from claude_headspace.surfaces.read.usage import UsageFilter, UsageQueries, UsageReport
from claude_headspace.testing import START, hook
from tests.journals import TemporaryJournal, store
from tests.usage_events import totals

HOUR = 3_600 * SECOND
DAY = 24 * HOUR


def session(at: int, name: str, **more: Any) -> list[Envelope]:
    """A session that starts with a prompt."""
    known: dict[str, Any] = {"session_id": name, "cwd": f"/{name}"} | more
    return [
        hook("SessionStart", at, source="startup", **known),
        hook("UserPromptSubmit", at + 1, prompt="Fix it", prompt_id=f"p-{name}", **known),
    ]


@pytest.fixture
def journal() -> TemporaryJournal:
    """Two agents: one worked on two days with two models, the other used a model without a price. A third is silent."""
    found = TemporaryJournal()
    store(found, *session(START, "shop"), *session(START + 1, "lab"), *session(START + 2, "silent"))
    store(found, totals(START + HOUR, "shop", 1.0, opus=(100, 1.0)))
    store(found, totals(START + DAY, "shop", 1.75, opus=(150, 1.5), haiku=(80, 0.25)))
    store(found, totals(START + DAY, "lab", None, local=(400, None)))
    return found


def report(journal: TemporaryJournal, *by: str, **which: Any) -> UsageReport:
    """A report about two days."""
    return UsageQueries(journal, lambda: START + 2 * DAY).report(UsageFilter(**which), by)


def test_costs_by_day(journal: TemporaryJournal) -> None:
    """In order of time. A day with tokens that have no price has a minimum."""
    rows = report(journal, "day").rows
    assert [(row.cost_usd, row.total_tokens, row.unpriced_tokens) for row in rows] == [(1.0, 100, 0), (0.75, 530, 400)]
    assert [row.day for row in rows] == sorted({row.day or "" for row in rows})


def test_groups(journal: TemporaryJournal) -> None:
    """The most expensive first; an unknown cost is None."""
    assert [(row.model, row.cost_usd) for row in report(journal, "model").rows] == [
        ("opus", 1.5),
        ("haiku", 0.25),
        ("local", None),
    ]
    assert [(row.project.name, row.cost_usd) for row in report(journal, "project").rows if row.project] == [
        ("shop", 1.75),
        ("lab", None),
    ]
    names = {agent.project.name: agent.name for agent in journal.agents()}
    assert [(row.agent, row.session_id) for row in report(journal, "agent", "session").rows] == [
        (names["shop"], "shop"),
        (names["lab"], "lab"),
    ]
    [client] = report(journal, "client").rows
    assert (client.client, client.cost_usd, client.unpriced_tokens) == ("claude-code", 1.75, 400)


def test_the_total_and_agents_without_reports(journal: TemporaryJournal) -> None:
    """An agent that reported nothing is counted apart: its use is not zero."""
    found = report(journal)
    assert (found.total.cost_usd, found.total.total_tokens, found.total.unpriced_tokens) == (1.75, 630, 400)
    assert [(each.client, each.agents) for each in found.unmeasured] == [("claude-code", 1)]
    assert report(journal, since=START + DAY).unmeasured == []


def test_sessions_whose_tokens_are_not_reported_yet(journal: TemporaryJournal) -> None:
    """A session with a cost and without tokens is counted until its client reports the tokens."""
    assert report(journal).sessions_without_tokens == 0
    store(journal, totals(START + DAY, "silent", 0.5))
    assert report(journal).sessions_without_tokens == 1
    store(journal, totals(START + DAY + HOUR, "silent", 0.5, opus=(10, 0.5)))
    assert report(journal).sessions_without_tokens == 0


@pytest.mark.parametrize(
    ("which", "cost", "tokens"),
    [
        ({"since": START + DAY}, 0.75, 530),
        ({"until": START + DAY - HOUR}, 1.0, 100),
        ({"client": "codex"}, None, 0),
        ({"model": "haiku"}, 0.25, 80),
    ],
)
def test_filters(journal: TemporaryJournal, which: dict[str, Any], cost: float | None, tokens: int) -> None:
    """By time, client and model."""
    total = report(journal, **which).total
    assert (total.cost_usd, total.total_tokens) == (cost, tokens)


def test_filters_by_agent_and_project(journal: TemporaryJournal) -> None:
    """Also agents that have ended count."""
    agent = next(each for each in journal.agents() if each.project.name == "shop")
    store(journal, hook("SessionEnd", START + DAY + 1, session_id="shop", cwd="/shop", reason="other"))
    assert report(journal, agent_id=agent.id).total.cost_usd == 1.75
    assert report(journal, project_ids=(agent.project.id,)).total.cost_usd == 1.75
    assert report(journal, project_ids=("other",)).total.cost_usd is None


def test_a_model_without_its_suffix_means_all_of_them() -> None:
    """Names of models end with a date or the size of the context."""
    which = UsageFilter(model="claude-opus-5")
    assert [which.has_model(name) for name in ("claude-opus-5", "claude-opus-5[1m]", "claude-opus-5-5", "opus")] == [
        *(True, True, True),
        False,
    ]
