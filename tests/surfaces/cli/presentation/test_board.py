"""The table: what is shown at which width."""

from datetime import UTC, datetime
from typing import Any

import pytest
from rich.cells import cell_len

from claude_headspace.surfaces.cli.output import Line
from claude_headspace.surfaces.cli.presentation.board import board_footer, board_table, tally

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)


def agent(name: str, state: str, **fields: Any) -> dict[str, Any]:
    """An agent with what a row needs."""
    return {
        "name": name,
        "state": state,
        "host": "laptop",
        "project": {"name": "shop"},
        "branch": "feature/expired-cards",
        "state_since": "2026-03-14T11:56:00+00:00",
        "context_percent": None,
        "cost_usd": None,
        "command": {"text": "Fix the login", "ended_at": None},
        **fields,
    }


def text(line: Line) -> str:
    """A line without its roles."""
    return "".join(span.text for span in line).rstrip()


AGENTS = [
    agent("calm-otter", "error", error="rate_limit", context_percent=61.7, cost_usd=0.421),
    agent("brisk-heron", "working", cost_usd=1204.5),
]


def test_a_wide_table_has_every_column() -> None:
    """Project with branch, words, since, context and cost; numbers stand to the right."""
    assert [text(line) for line in board_table(AGENTS, NOW, 200)] == [
        "  agent        project                       activity                since  context       cost",
        "✕ calm-otter   shop (feature/expired-cards)  stopped: rate limit     4 min     62 %      $0.42",
        "● brisk-heron  shop (feature/expired-cards)  working: Fix the login  4 min           $1,204.50",
    ]


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (200, ["project", "since", "context", "cost"]),
        (80, ["project", "since", "context", "cost"]),
        (70, ["project", "since", "context"]),
        (60, ["project", "since"]),
        (44, ["since"]),
        (36, []),
        (20, []),
    ],
)
def test_a_narrow_table_keeps_what_matters(width: int, columns: list[str]) -> None:
    """Cost goes first, then context, then the place, then the time; who it is and what it does stay."""
    lines = [text(line) for line in board_table(AGENTS, NOW, width)]
    assert [name for name in ("project", "since", "context", "cost") if name in lines[0]] == columns
    assert max(cell_len(line) for line in lines) <= max(width, 20)
    assert lines[1].startswith("✕ calm-otter")


def test_nothing_is_shown_for_what_nobody_tells() -> None:
    """A column without content is left out."""
    assert "cost" not in text(board_table([agent("calm-otter", "working")], NOW, 200)[0])


def test_several_machines_are_told_apart() -> None:
    """The host stands with the project only when there is more than one."""
    lines = board_table([agent("a", "idle"), agent("b", "idle", host="server")], NOW, 200)
    assert "on server" in text(lines[2])
    assert "on laptop" not in text(board_table([agent("a", "idle")], NOW, 200)[1])


def test_after_the_table_comes_who_to_look_at() -> None:
    """The tally, then the commands for whoever needs somebody."""
    assert text(tally(AGENTS)) == "✕ 1 error · ● 1 working"
    assert "headspace show calm-otter" in text(board_footer(AGENTS)[-1])
