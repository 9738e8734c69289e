"""The board as a table, at different widths."""

from datetime import UTC, datetime
from typing import Any

import pytest
from rich.cells import cell_len

from claude_headspace.surfaces.cli.output import Line
from claude_headspace.surfaces.cli.presentation.board import board_footer, board_table, project_and_branch, tally

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)


def agent(name: str, state: str, **fields: Any) -> dict[str, Any]:
    """An agent with what a row needs."""
    return {
        "id": f"id-{name}",
        "name": name,
        "state": state,
        "host": "laptop",
        "client": "claude-code",
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


def test_the_distance_of_a_worktree_is_shown_with_its_branch() -> None:
    """Commits ahead and behind, and uncommitted files; only those that exist."""
    distance = {"root": "/w", "base": "main", "ahead": 2, "behind": 0, "uncommitted": 3, "removed": False}
    ahead = agent("a", "idle", branch="login", worktree=distance)
    assert project_and_branch(ahead) == "shop (login ↑2 ±3)"
    assert project_and_branch({**ahead, "worktree": {**distance, "removed": True}}) == "shop (login removed)"
    assert project_and_branch({**ahead, "worktree": None}) == "shop (login)"


AGENTS = [
    agent("calm-otter", "error", error="rate_limit", context_percent=61.7, cost_usd=0.421),
    agent("brisk-heron", "working", cost_usd=1204.5),
]


def test_a_wide_table_has_every_column() -> None:
    """Numbers are right-aligned."""
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
def test_a_narrow_table_hides_columns(width: int, columns: list[str]) -> None:
    """Cost first, then context, project and time; agent and activity stay."""
    lines = [text(line) for line in board_table(AGENTS, NOW, width)]
    assert [name for name in ("project", "since", "context", "cost") if name in lines[0]] == columns
    assert max(cell_len(line) for line in lines) <= max(width, 20)
    assert lines[1].startswith("✕ calm-otter")


def test_empty_columns_are_hidden() -> None:
    """A column needs at least one value."""
    assert "cost" not in text(board_table([agent("calm-otter", "working")], NOW, 200)[0])


def test_host_names_of_several_machines() -> None:
    """They are shown only if there are several."""
    lines = board_table([agent("a", "idle"), agent("b", "idle", host="server")], NOW, 200)
    assert "on server" in text(lines[2])
    assert "on laptop" not in text(board_table([agent("a", "idle")], NOW, 200)[1])


def test_the_footer_suggests_commands() -> None:
    """The number of agents by state, then commands for the first agent that needs a person."""
    assert text(tally(AGENTS)) == "✕ 1 error · ● 1 working"
    assert "headspace show calm-otter" in text(board_footer(AGENTS)[-1])


def test_clients_are_shown_if_they_differ() -> None:
    """A quiet column with short names; it goes before the project on a narrow terminal."""
    agents = [agent("calm-otter", "working"), agent("brisk-heron", "working", client="codex")]
    heading, first, second = (text(line) for line in board_table(agents, NOW, 200))
    assert heading.split()[:3] == ["agent", "client", "project"]
    assert (first.split()[2], second.split()[2]) == ("claude", "codex")
    assert "client" not in text(board_table(agents[:1], NOW, 200)[0])
    assert "client" not in text(board_table(agents, NOW, 50)[0])
