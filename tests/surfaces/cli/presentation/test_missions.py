"""Missions as lines."""

from datetime import UTC, datetime

import pytest
from rich.cells import cell_len

from claude_headspace.surfaces.cli.presentation.missions import mission_table

NOW = datetime(2026, 3, 14, 12, tzinfo=UTC)


def mission(outcome: str | None) -> dict[str, object]:
    """A mission with a long goal."""
    return {
        "id": "3f2a91c4-0000-4000-8000-000000000000",
        "outcome": outcome,
        "goal": "Find out why the nightly build is slow, and make it faster.",
        "started_at": "2026-03-14T10:00:00+00:00",
        "ended_at": None,
        "workers": [{"name": "patient-kingfisher", "state": "working"}],
    }


@pytest.mark.parametrize(
    ("width", "headings"), [(120, "mission worker outcome took started goal"), (60, "mission worker goal")]
)
def test_a_narrow_terminal_shows_fewer_columns(width: int, headings: str) -> None:
    """No line is wider than the terminal, and the goal stays readable."""
    lines = [
        "".join(span.text for span in line).rstrip()
        for line in mission_table([mission(None), mission("succeeded")], NOW, width)
    ]
    assert lines[0].split() == headings.split()
    assert all(cell_len(line) <= width for line in lines), lines
    assert all("Find out why" in line for line in lines[1:])
