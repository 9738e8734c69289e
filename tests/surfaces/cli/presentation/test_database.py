"""What became of the database, in words."""

import pytest

from claude_headspace.surfaces.cli.output import Line
from claude_headspace.surfaces.cli.presentation.database import prune_result


def texts(lines: list[Line]) -> list[str]:
    """Lines without roles."""
    return ["".join(span.text for span in line) for line in lines]


@pytest.mark.parametrize(("days", "command"), [(30, "headspace db prune --days 30 "), (None, "headspace db prune  ")])
def test_what_would_go_is_followed_by_what_does_it(days: int | None, command: str) -> None:
    """With the days that were asked for, so that the same is meant."""
    result = {"events": 3, "announcements": 0, "agents": 1, "efforts": 0, "up_to": 0}
    first, then = texts(prune_result(result, days=days, dry_run=True))
    assert first == "Would delete 3 events, and 1 agent completely."
    assert then.strip().startswith(command)


def test_an_effort_that_goes_is_counted() -> None:
    """It goes wholly, like an agent."""
    result = {"events": 0, "announcements": 0, "agents": 0, "efforts": 2, "up_to": 0}
    assert (
        texts(prune_result(result, days=None, dry_run=False))[0]
        == "Deleted 0 events, and 0 agents and 2 efforts completely."
    )
