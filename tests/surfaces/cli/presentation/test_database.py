"""Results of the `headspace db` commands."""

import pytest

from claude_headspace.surfaces.cli.output import Line
from claude_headspace.surfaces.cli.presentation.database import prune_result


def texts(lines: list[Line]) -> list[str]:
    """Lines without roles."""
    return ["".join(span.text for span in line) for line in lines]


@pytest.mark.parametrize(("days", "command"), [(30, "headspace db prune --days 30 "), (None, "headspace db prune  ")])
def test_a_dry_run_suggests_the_command(days: int | None, command: str) -> None:
    """With the same number of days."""
    result = {"events": 3, "announcements": 0, "agents": 1, "efforts": 0, "up_to": 0}
    first, then = texts(prune_result(result, days=days, dry_run=True))
    assert first == "Would delete 3 events, and 1 agent completely."
    assert then.strip().startswith(command)


def test_deleted_efforts_are_counted() -> None:
    """Like agents."""
    result = {"events": 0, "announcements": 0, "agents": 0, "efforts": 2, "up_to": 0}
    assert (
        texts(prune_result(result, days=None, dry_run=False))[0]
        == "Deleted 0 events, and 0 agents and 2 efforts completely."
    )
