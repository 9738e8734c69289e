"""Names that people remember and can say."""

from itertools import islice

import pytest

from claude_headspace.kernel.names import CREATURES, MANNERS, NAME, suggestions


def test_the_first_choice_follows_from_the_id() -> None:
    """A replay gives the same agent the same name, and another agent most likely another."""
    assert next(suggestions("agent-1")) == next(suggestions("agent-1"))
    assert len({next(suggestions(f"agent-{number}")) for number in range(1000)}) > 900


def test_names_are_two_words_that_differ() -> None:
    """All choices are different, and each is a name that a person may give too."""
    total = len(MANNERS) * len(CREATURES)
    names = list(islice(suggestions("agent-1"), total))
    assert len(set(names)) == total > 9000
    assert all(NAME.fullmatch(name) and len(set(name.split("-"))) == 2 for name in names)


def test_names_never_run_out() -> None:
    """After the last pair of words come numbers."""
    total = len(MANNERS) * len(CREATURES)
    assert list(islice(suggestions("agent-1"), total, total + 2)) == ["agent-2", "agent-3"]


def test_an_odd_id_has_a_name() -> None:
    """Half a character in an id does no harm."""
    assert NAME.fullmatch(next(suggestions("\ud83d")))


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
def test_what_a_person_may_call_an_agent(name: str, allowed: bool) -> None:
    """Lower case letters, digits and a few signs in between."""
    assert bool(NAME.fullmatch(name)) is allowed
