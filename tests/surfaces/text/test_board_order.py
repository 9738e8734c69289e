"""The order of the board."""

import pytest

from claude_headspace.surfaces.cli.agents import SortName
from claude_headspace.surfaces.text.board_order import (
    GROUPS,
    SORTS,
    BoardView,
    following,
    group_agents,
    sort_agents,
    toggled,
)
from tests.tui.board import sample_agents


def names(view: BoardView) -> list[str]:
    """The names in the order of a view."""
    return [agent["name"] for agent in sort_agents(sample_agents(), view)]


@pytest.mark.parametrize(
    ("sort", "first"),
    [
        ("urgency", ["able-ant", "nimble-kestrel", "olive-bee"]),
        ("name", ["able-ant", "fresh-mole", "golden-trout"]),
        ("project", ["sage-wombat", "snug-plover", "golden-trout"]),
        ("context", ["sage-wombat", "olive-bee", "nimble-kestrel"]),
        ("cost", ["sage-wombat", "nimble-kestrel", "snug-plover"]),
        ("unknown", ["able-ant", "nimble-kestrel", "olive-bee"]),
    ],
)
def test_sorting(sort: str, first: list[str]) -> None:
    """Equal agents are sorted by urgency."""
    assert names(BoardView(sort=sort))[:3] == first


def test_activity_and_start_are_newest_first() -> None:
    """Times sort as text."""
    for sort, field in (("activity", "last_active_at"), ("started", "created_at")):
        times = [agent[field] for agent in sort_agents(sample_agents(), BoardView(sort=sort))]
        assert times == sorted(times, reverse=True)


def test_pinned_agents_come_first() -> None:
    """In every order."""
    assert names(BoardView(pins=("id-quick-elk", "id-late-wren")))[:3] == ["quick-elk", "late-wren", "able-ant"]
    assert names(BoardView(sort="name", pins=("id-quick-elk",)))[:2] == ["quick-elk", "able-ant"]


def test_groups() -> None:
    """By name, states by urgency; pinned agents are a group of their own."""
    view = BoardView(group="project", pins=("id-quick-elk",))
    found = group_agents(sort_agents(sample_agents(), view), view)
    assert [group.title for group in found] == ["pinned", "api", "docs", "infra", "shop"]
    assert [agent["name"] for agent in found[1].agents] == ["sage-wombat", "snug-plover", "golden-trout"]
    states = group_agents(sort_agents(sample_agents(), BoardView()), BoardView(group="state"))
    assert [group.title for group in states] == ["waiting", "error", "working", "idle", "starting", "ended"]
    assert [group.title for group in group_agents(sample_agents(), BoardView())] == [""]


def test_the_options_of_list_are_all_orders() -> None:
    """`list --sort` knows every order of `top`."""
    assert SortName.__args__ == SORTS  # type: ignore[attr-defined]  # the arguments of a Literal


def test_small_steps() -> None:
    """Toggling and going to the next value."""
    assert toggled(("a", "b"), "a") == ("b",)
    assert toggled(("b",), "a") == ("b", "a")
    assert [following(GROUPS, each) for each in ("none", "client", "other")] == ["project", "none", "none"]
