"""Finding agents by what a person types."""

import pytest

from claude_headspace.surfaces.text.matching import Closeness, closeness, closest, filter_agents, suggestion
from tests.tui.board import make_agent, sample_agents


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("calm-otter", Closeness.EXACT),
        ("Calm-Otter", Closeness.EXACT),
        ("CAL", Closeness.PREFIX),
        ("otter", Closeness.PART),
        ("c-o", Closeness.LETTERS),
        ("cotr", Closeness.LETTERS),
        ("ottr", Closeness.LETTERS),
        ("clam-otter", Closeness.SPELLING),
        ("calm-oter", Closeness.LETTERS),
        ("r", Closeness.PART),
        ("le", Closeness.NONE),
        ("elk", Closeness.NONE),
        ("", Closeness.NONE),
    ],
)
def test_how_closely_a_name_matches(text: str, expected: Closeness) -> None:
    """Upper and lower case are the same; single letters in order must begin at a word."""
    assert closeness(text, "calm-otter") is expected


def test_the_closest_agents() -> None:
    """All of the best kind, in their order."""
    agents = [make_agent(name, "idle", 1) for name in ("calm-owl", "calm-otter", "red-calm")]
    best, found = closest("calm", agents)
    assert (best, [agent["name"] for agent in found]) == (Closeness.PREFIX, ["calm-owl", "calm-otter"])
    assert closest("xyz", agents) == (Closeness.NONE, [])


def test_suggestions() -> None:
    """At most three names, the closest first; none if nothing is similar."""
    names = ["calm-otter", "calm-owl", "red-fox", "calm-elk", "calm-bee"]
    assert suggestion("clam-owl", names) == "Did you mean calm-owl?"
    assert suggestion("calm", names) == "Did you mean calm-bee or calm-elk or calm-otter?"
    assert suggestion("zzz", names) == ""


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("infra", ["able-ant"]),
        ("qe", ["quick-elk"]),
        ("docs idle", ["quick-elk"]),
        ("prune", ["able-ant"]),
        ("s api", ["snug-plover", "sage-wombat", "golden-trout"]),
        ("nothing", []),
    ],
)
def test_a_filter_matches_names_places_and_activities(text: str, names: list[str]) -> None:
    """All words must match; agents with matching names come first."""
    assert [agent["name"] for agent in filter_agents(text, sample_agents())] == names
    assert len(filter_agents("", sample_agents())) == len(sample_agents())
