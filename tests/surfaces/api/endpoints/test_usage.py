"""Usage as CSV, its limits, and the timeline over HTTP."""

import pytest

from tests.support import RunningDaemon


def spend(daemon: RunningDaemon) -> str:
    """A session with a known cost; returns the id of its agent."""
    session = {"session_id": "usage-one", "cwd": "/projects/till"}
    daemon.post("user-prompt-submit", {**session, "prompt": "Fix it"})
    line = {"model": {"id": "claude-opus-5-5"}, "cost": {"total_cost_usd": 1.25}}
    found: str = daemon.post("StatusLine", session | line).json()["agent_id"]
    return found


def test_usage_as_csv(daemon: RunningDaemon) -> None:
    """The first line has the names of the columns."""
    agent = spend(daemon)
    reply = daemon.get(f"/api/usage.csv?by=day,project&agent={agent}")
    head, row = reply.body.decode().splitlines()
    assert head.startswith("day,project,project_root,cost_usd,total_tokens")
    assert row.split(",")[1:4] == ["till", "/projects/till", "1.25"]
    assert daemon.get("/api/usage.csv?by=moon").status == 400


def test_limits_without_budgets(daemon: RunningDaemon) -> None:
    """No budget is set by default."""
    assert daemon.get("/api/usage/limits").json()["budgets"] == []


def test_the_timeline_of_a_day(daemon: RunningDaemon) -> None:
    """The last 24 hours, as arrays."""
    agent = spend(daemon)
    found = daemon.get("/api/timeline").json()
    [own] = [each for each in found["agents"] if each["id"] == agent]
    _seq, at, state, waiting_for, evidence = own["states"][-1]
    assert (state, waiting_for, own["commands"][-1][1]) == ("working", None, "Fix it")
    assert found["evidence"][evidence]["source"] == "hook"
    assert at >= own["created_at"]
    assert found["projects"][own["project"]]["name"] == "till"


@pytest.mark.parametrize("query", ["since=1h&until=2h", "since=2026-01-01&until=2026-03-01", "since=tomorrow"])
def test_a_time_range_must_be_valid(daemon: RunningDaemon, query: str) -> None:
    """It ends after it begins, and has at most 31 days."""
    assert daemon.get(f"/api/timeline?{query}").status == 400
