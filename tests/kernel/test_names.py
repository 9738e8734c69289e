"""Suggested names of agents."""

from itertools import islice

import pytest

from claude_headspace.kernel.names import ADJECTIVES, ANIMALS, PAIR_SUGGESTIONS, VALID_NAME, suggest_names


def test_the_first_suggestion_follows_from_the_id() -> None:
    """A replay gives an agent the same name; other agents very likely get other names."""
    assert next(suggest_names("agent-1")) == next(suggest_names("agent-1"))
    assert len({next(suggest_names(f"agent-{number}")) for number in range(1000)}) > 900


def test_suggestions_are_different_pairs_of_words() -> None:
    """Each suggestion is a valid name."""
    names = list(islice(suggest_names("agent-1"), PAIR_SUGGESTIONS))
    assert len(set(names)) == PAIR_SUGGESTIONS
    assert len(ADJECTIVES) * len(ANIMALS) > 9000
    assert all(VALID_NAME.fullmatch(name) and len(set(name.split("-"))) == 2 for name in names)


def test_a_free_name_is_found_in_a_few_steps() -> None:
    """Fifty thousand agents need at most 80 suggestions each."""
    taken: set[str] = set()
    for number in range(50_000):
        candidates = islice(suggest_names(f"agent-{number}"), 80)
        free = next((name for name in candidates if name not in taken), None)
        assert free is not None
        taken.add(free)
    assert all(VALID_NAME.fullmatch(name) for name in taken)


def test_an_id_with_a_lone_surrogate_has_a_name() -> None:
    """An id that cannot be encoded never raises."""
    assert VALID_NAME.fullmatch(next(suggest_names("\ud83d")))


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("anna", True),
        ("a", True),
        ("fix-2.1_beta", True),
        ("a" * 40, True),
        ("a" * 41, False),
        ("", False),
        ("Anna", False),
        ("-anna", False),
        ("anna-", False),
        ("an na", False),
        ("ann\u00e4", False),
        ("anna\n", False),
    ],
)
def test_valid_names(name: str, allowed: bool) -> None:
    """Lower case letters and digits; dots, hyphens and underscores only in between."""
    assert bool(VALID_NAME.fullmatch(name)) is allowed
