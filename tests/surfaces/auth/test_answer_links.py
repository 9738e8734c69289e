"""AnswerLinks that answer one wait: who can make them, when there is one, and what they are about."""

import pytest

from claude_headspace.kernel.agent import Answered, Wait
from claude_headspace.surfaces.auth.answer_links import AnswerGrant, AnswerLinks, hostname

LINKS = AnswerLinks(b"secret", "https://headspace.example.net/")


def wait(**known: object) -> Wait:
    """A wait that is held open."""
    parts = {"id": "e1-w0", "agent_id": "a1", "kind": "permission", "text": "?", "opened_at": 1, "held_until": 9}
    return Wait(**{**parts, **known})  # type: ignore[arg-type]  # the fields of Wait


def test_a_link_names_its_wait_and_whom_it_was_sent_to() -> None:
    """Whoever brings it back is known by it."""
    link = LINKS.create(wait(), "ann@example.org")
    assert link is not None
    base, _, sealed = link.rpartition("/")
    assert base == "https://headspace.example.net/answer"
    assert LINKS.verify(sealed) == AnswerGrant("e1-w0", "ann@example.org")


@pytest.mark.parametrize(
    "known", [{"held_until": 0}, {"closed_at": 5}, {"answered": Answered("allowed", "ann", "web", 5)}]
)
def test_what_cannot_be_answered_has_no_link(known: dict[str, object]) -> None:
    """Nothing is held, it is over, or somebody was first."""
    assert LINKS.create(wait(**known), "ann") is None


def test_without_an_address_there_is_no_link() -> None:
    """A link that nobody can open would only annoy."""
    assert AnswerLinks(b"secret", "").create(wait(), "ann") is None


@pytest.mark.parametrize("other", ["", ".", "x", "x.y", "é.ü", "WyJhIiwiYiJd." + "0" * 40])
def test_what_is_no_link_of_ours_says_nothing(other: str) -> None:
    """Neither what somebody made up nor half a link."""
    assert LINKS.verify(other) is None


def test_a_link_of_another_wait_or_home_does_not_fit() -> None:
    """The name in it cannot be changed, and another secret makes other links."""
    sealed = LINKS.sign(AnswerGrant("e1-w0", "ann"))
    forged = AnswerLinks(b"another", "").sign(AnswerGrant("e2-w0", "ann"))
    assert LINKS.verify(forged) is None
    assert LINKS.verify(forged.partition(".")[0] + "." + sealed.partition(".")[2]) is None
    assert LINKS.verify(sealed[:-1] + ("0" if sealed[-1] != "0" else "1")) is None


def test_the_name_of_an_address() -> None:
    """It is one that the guard must answer to."""
    assert hostname("https://headspace.example.net:8443/") == "headspace.example.net"
    assert hostname("") == ""
