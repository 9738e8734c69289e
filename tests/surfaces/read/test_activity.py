"""The activity of a day: intervals, hours, percentiles, and the totals from a journal."""

import pytest

from claude_headspace.kernel.envelope import SECOND
from claude_headspace.ports import StateRow
from claude_headspace.surfaces.read.activity import HOUR, ActivityQueries, Interval, by_hour, intervals, latency
from claude_headspace.testing import START, hook
from tests.journals import TemporaryJournal, store

MINUTE = 60 * SECOND


def row(at: int, state: str, agent: str = "a") -> StateRow:
    """An agent enters a state, some minutes after the start."""
    return StateRow(
        seq=at + 100,
        agent_id=agent,
        at=START + at * MINUTE,
        state=state,
        waiting_for=None,
        source="hook",
        confidence="high",
        why="",
        event="",
    )


def minutes(found: list[Interval]) -> list[tuple[str, str, float]]:
    """Agent, state and minutes of each interval."""
    return [(each.agent_id, each.state, (each.end - each.start) / MINUTE) for each in found]


def test_a_state_counts_until_the_next_one() -> None:
    """Working and waiting count, idle does not. The last state counts until now."""
    rows = [row(0, "working"), row(3, "waiting"), row(5, "idle"), row(8, "working")]
    found = list(intervals(rows, START, START + 10 * MINUTE))
    assert minutes(found) == [("a", "working", 3), ("a", "waiting", 2), ("a", "working", 2)]


def test_intervals_are_limited_to_the_day() -> None:
    """They are cut at both ends."""
    rows = [row(-30, "working"), row(5, "idle"), row(-30, "waiting", "b")]
    found = list(intervals(rows, START, START + 10 * MINUTE))
    assert sorted(minutes(found)) == [("a", "working", 5), ("b", "waiting", 10)]


def test_time_by_hour() -> None:
    """An interval across the full hour counts in both hours."""
    spent = [Interval("a", "working", START + HOUR // 2, START + HOUR + HOUR // 4)]
    hours = by_hour(spent, START, START + 3 * HOUR)
    assert [hour.working_seconds for hour in hours] == [1800, 900, 0]


def test_latency() -> None:
    """Late hooks are only counted. A negative delay counts as zero."""
    found = latency([*(n * 1_000 for n in range(1, 101)), -5, 3_600 * SECOND])
    assert found is not None
    assert (found.p50, found.slowest, found.events, found.late) == (50.0, 100.0, 101, 1)
    assert latency([]) is None
    single = latency([7_000])
    assert single is not None
    assert single.p99 == 7.0


def test_activity_of_a_day() -> None:
    """Agents, commands by outcome, time and tools per project, and all tools."""
    journal = TemporaryJournal()
    steps = [
        hook("SessionStart", START, source="startup"),
        hook("UserPromptSubmit", START + MINUTE, prompt="Fix it", prompt_id="p"),
        hook("PreToolUse", START + 2 * MINUTE, tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t"),
        hook("PostToolUse", START + 3 * MINUTE, tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t"),
        hook("Stop", START + 4 * MINUTE, last_assistant_message="Done.", prompt_id="p"),
    ]
    store(journal, *steps)
    found = ActivityQueries(journal, lambda: START + 10 * MINUTE).of_day("2026-09-21", START - HOUR, START + HOUR)
    [project] = found.projects
    assert (project.project.name, project.agents, project.commands) == ("app", 1, 1)
    assert project.outcomes == {"completed": 1}
    assert project.working_seconds == pytest.approx(180)
    assert project.tools == found.tools == {"Bash": 1}
    assert sum(hour.working_seconds for hour in found.hours) == pytest.approx(180)
    assert found.latency_ms is not None
    assert found.latency_ms.events == len(steps)


def test_an_empty_day() -> None:
    """All totals are empty."""
    found = ActivityQueries(TemporaryJournal(), lambda: START).of_day("2026-09-21", START, START + HOUR)
    assert (found.projects, found.tools, found.latency_ms) == ([], {}, None)
