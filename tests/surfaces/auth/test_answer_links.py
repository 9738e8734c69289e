"""Answer links: who can create them, for which waits, and what they contain."""

import pytest

from claude_headspace.kernel.agent import Answered, Wait
from claude_headspace.surfaces.auth.answer_links import AnswerGrant, AnswerLinks, hostname

LINKS = AnswerLinks(b"secret", "https://headspace.example.net/")


def wait(**known: object) -> Wait:
    """A wait whose hook is held open."""
    parts = {"id": "e1-w0", "agent_id": "a1", "kind": "permission", "text": "?", "opened_at": 1, "held_until": 9}
    return Wait(**{**parts, **known})  # type: ignore[arg-type]  # the fields of Wait


def test_a_link_contains_its_wait_and_recipient() -> None:
    """Both are verified."""
    link = LINKS.create(wait(), "ann@example.org")
    assert link is not None
    base, _, sealed = link.rpartition("/")
    assert base == "https://headspace.example.net/answer"
    assert LINKS.verify(sealed) == AnswerGrant("e1-w0", "ann@example.org")


@pytest.mark.parametrize(
    "known", [{"held_until": 0}, {"closed_at": 5}, {"answered": Answered("allowed", "ann", "web", 5)}]
)
def test_no_link_for_waits_that_cannot_be_answered(known: dict[str, object]) -> None:
    """Not held, closed, or already answered."""
    assert LINKS.create(wait(**known), "ann") is None


def test_no_link_without_a_public_url() -> None:
    """Nobody could open it."""
    assert AnswerLinks(b"secret", "").create(wait(), "ann") is None


@pytest.mark.parametrize("other", ["", ".", "x", "x.y", "é.ü", "WyJhIiwiYiJd." + "0" * 40])
def test_invalid_links_are_rejected(other: str) -> None:
    """Invented and incomplete ones."""
    assert LINKS.verify(other) is None


def test_a_link_cannot_be_changed() -> None:
    """The signature covers the wait and the recipient, and another secret creates other links."""
    sealed = LINKS.sign(AnswerGrant("e1-w0", "ann"))
    forged = AnswerLinks(b"another", "").sign(AnswerGrant("e2-w0", "ann"))
    assert LINKS.verify(forged) is None
    assert LINKS.verify(forged.partition(".")[0] + "." + sealed.partition(".")[2]) is None
    assert LINKS.verify(sealed[:-1] + ("0" if sealed[-1] != "0" else "1")) is None


def test_hostname() -> None:
    """The middleware accepts this name as `Host`."""
    assert hostname("https://headspace.example.net:8443/") == "headspace.example.net"
    assert hostname("") == ""
