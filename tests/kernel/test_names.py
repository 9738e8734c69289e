"""Names that people remember and can say."""

from itertools import islice

import pytest

from claude_headspace.kernel.names import ADJECTIVES, ANIMALS, PAIR_SUGGESTIONS, VALID_NAME, suggest_names


def test_the_first_choice_follows_from_the_id() -> None:
    """A replay gives the same agent the same name, and another agent most likely another."""
    assert next(suggest_names("agent-1")) == next(suggest_names("agent-1"))
    assert len({next(suggest_names(f"agent-{number}")) for number in range(1000)}) > 900


def test_names_are_two_words_that_differ() -> None:
    """The choices of one agent are different, and each is a name that a person may give too."""
    names = list(islice(suggest_names("agent-1"), PAIR_SUGGESTIONS))
    assert len(set(names)) == PAIR_SUGGESTIONS
    assert len(ADJECTIVES) * len(ANIMALS) > 9000
    assert all(VALID_NAME.fullmatch(name) and len(set(name.split("-"))) == 2 for name in names)


def test_a_free_name_is_found_in_a_few_steps() -> None:
    """Fifty thousand agents, a few dozen tries each at most."""
    taken: set[str] = set()
    for number in range(50_000):
        choices = islice(suggest_names(f"agent-{number}"), 80)
        free = next((name for name in choices if name not in taken), None)
        assert free is not None
        taken.add(free)
    assert all(VALID_NAME.fullmatch(name) for name in taken)


def test_an_odd_id_has_a_name() -> None:
    """Half a character in an id does no harm."""
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
    """Lower case letters, digits and a few characters in between."""
    assert bool(VALID_NAME.fullmatch(name)) is allowed
