"""An agent's past in words: the ribbon, the moments, and the agent as it was."""

from datetime import UTC, datetime
from typing import Any

from claude_headspace.surfaces.cli.presentation.timeline import log_import_result, state_timeline, timeline_footer

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
AGENT = {"name": "calm-otter", "state": "idle", "ended_at": None}


def state(at: str, name: str, **more: Any) -> dict[str, Any]:
    """A state that the agent came into."""
    return {"at": f"2026-03-01T{at}+00:00", "state": name, "waiting_for": None, "why": f"why {name}", **more}


def texts(lines: list[Any]) -> list[str]:
    """Lines without roles."""
    return ["".join(span.text for span in line) for line in lines]


def test_moments_have_time_length_and_reason() -> None:
    """One line each; the ribbon is as long as the states lasted, and each has its own colour."""
    states = [
        state("11:00:00", "working"),
        state("11:50:00", "waiting", waiting_for="question"),
        state("11:55:00", "idle"),
    ]
    title, ribbon, _empty, *rows = state_timeline(AGENT, states, NOW, 100)
    assert texts([title]) == ["○ calm-otter  3 states"]
    blocks = {span.role: len(span.text) for span in ribbon if span.role}
    assert blocks["working"] == 50
    assert blocks["waiting"] == blocks["idle"] == 5
    assert texts(rows)[0].split() == ["11:00:00", "50", "min", "●", "working", "why", "working"]
    assert "waiting for an answer" in texts(rows)[1]
    assert "--at 2026-03-01T11:50:00Z" in texts(timeline_footer(AGENT, states))[-1]


def test_many_moments_fit_one_ribbon() -> None:
    """Each has at least one block; the newest are shown."""
    states = [state(f"11:{n // 60:02d}:{n % 60:02d}", "working" if n % 2 else "idle") for n in range(500)]
    ribbon = texts(state_timeline(AGENT, states, NOW, 80))[1]
    assert len(ribbon) <= 62


def test_nothing_kept_is_said() -> None:
    """A past that was pruned is no list."""
    assert "Its past states are no longer stored" in texts(state_timeline(AGENT, [], NOW, 80))[-1]
    assert timeline_footer(AGENT, []) == []


def test_what_was_brought_in_is_said() -> None:
    """With what was there already."""
    header = {"name": "calm-otter", "host": "laptop"}
    result = {"agent_id": "a1", "events": 1_200, "known": 3}
    assert (
        texts(log_import_result(header, result))[0]
        == "Imported calm-otter from laptop: 1,200 events, 3 were already here."
    )
