"""A day, summed up: the arithmetic of stretches, hours and percentiles, and the whole from a journal."""

import pytest

from claude_headspace.kernel.envelope import SECOND
from claude_headspace.ports import StateRow
from claude_headspace.surfaces.read.activity import HOUR, ActivityQueries, Interval, by_hour, intervals, latency
from claude_headspace.testing import START, hook
from tests.journals import TemporaryJournal, store

MINUTE = 60 * SECOND


def row(at: int, state: str, agent: str = "a") -> StateRow:
    """An agent comes into a state, some minutes after the start."""
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
    """Who was what for how many minutes."""
    return [(each.agent_id, each.state, (each.end - each.start) / MINUTE) for each in found]


def test_a_state_counts_until_the_next_one() -> None:
    """Working and waiting count, rest does not; the last state counts until now."""
    rows = [row(0, "working"), row(3, "waiting"), row(5, "idle"), row(8, "working")]
    found = list(intervals(rows, START, START + 10 * MINUTE))
    assert minutes(found) == [("a", "working", 3), ("a", "waiting", 2), ("a", "working", 2)]


def test_a_day_counts_only_what_lies_in_it() -> None:
    """What began the evening before counts from midnight, what goes on counts until the end."""
    rows = [row(-30, "working"), row(5, "idle"), row(-30, "waiting", "b")]
    found = list(intervals(rows, START, START + 10 * MINUTE))
    assert sorted(minutes(found)) == [("a", "working", 5), ("b", "waiting", 10)]


def test_time_is_dealt_out_to_its_hours() -> None:
    """A stretch over the full hour counts in both."""
    spent = [Interval("a", "working", START + HOUR // 2, START + HOUR + HOUR // 4)]
    hours = by_hour(spent, START, START + 3 * HOUR)
    assert [hour.working_seconds for hour in hours] == [1800, 900, 0]


def test_latency_is_told_in_percentiles() -> None:
    """Those that waited for a daemon are only counted; a clock that went back is no delay."""
    found = latency([*(n * 1_000 for n in range(1, 101)), -5, 3_600 * SECOND])
    assert found is not None
    assert (found.p50, found.slowest, found.events, found.late) == (50.0, 100.0, 101, 1)
    assert latency([]) is None
    single = latency([7_000])
    assert single is not None
    assert single.p99 == 7.0


def test_a_day_is_put_together_from_the_journal() -> None:
    """Per project: agents, commands with their outcomes, time and tools; and the tools of all."""
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


def test_a_day_without_anything_is_empty() -> None:
    """Nothing is invented."""
    found = ActivityQueries(TemporaryJournal(), lambda: START).of_day("2026-09-21", START, START + HOUR)
    assert (found.projects, found.tools, found.latency_ms) == ([], {}, None)
