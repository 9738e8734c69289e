"""Share links: one agent, until they expire or are revoked."""

import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.surfaces.auth.share_links import MAX_LIFETIME, PATH, ShareLinks
from claude_headspace.testing import ManualClock
from tests.journals import TemporaryJournal


class Links:
    """Links over a journal, and a clock."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.journal = TemporaryJournal()
        self.links = ShareLinks(self.journal, self.clock)

    def create(self, agent: str = "a1", seconds: int = 60) -> tuple[str, str]:
        """A new link: its name, and the last part of its path."""
        entry, path = self.links.create(agent, "ann", self.clock() + seconds * SECOND)
        return entry.name, path.removeprefix(PATH)


@pytest.fixture
def made() -> Links:
    """A journal without links."""
    return Links()


def test_a_link_shows_its_agent_until_it_expires(made: Links) -> None:
    """Afterwards it is unknown, and no longer listed."""
    _, text = made.create()
    assert made.links.agent_id(text) == "a1"
    made.clock.advance(60 * SECOND)
    assert made.links.agent_id(text) is None
    assert made.links.of_agent("a1") == []


def test_a_revoked_link_shows_nothing(made: Links) -> None:
    """Other links to the agent stay."""
    name, text = made.create()
    _, other = made.create()
    made.links.revoke("a1", name)
    assert made.links.agent_id(text) is None
    assert made.links.agent_id(other) == "a1"


def test_a_link_is_revoked_only_with_its_agent(made: Links) -> None:
    """The name of a link, or of a named token, of another agent is unknown."""
    name, text = made.create("a2")
    with pytest.raises(BadRequest, match="no link"):
        made.links.revoke("a1", name)
    assert made.links.agent_id(text) == "a2"


@pytest.mark.parametrize("text", ["", "hs_share_", "hs_named_" + "x" * 43, "hs_share_" + "x" * 43, "é" * 52])
def test_other_texts_are_no_links(made: Links, text: str) -> None:
    """Too short, another kind of token, unknown, not ASCII."""
    made.create()
    assert made.links.agent_id(text) is None


def test_the_address_is_not_stored(made: Links) -> None:
    """The journal has only a digest, and the time of the last use."""
    _, text = made.create()
    assert made.links.of_agent("a1")[0].last_used_at is None
    made.links.agent_id(text)
    (entry,) = made.links.of_agent("a1")
    assert entry.last_used_at == made.clock()
    assert text not in str(entry)


@pytest.mark.parametrize("seconds", [0, -1, MAX_LIFETIME // SECOND + 1])
def test_a_link_always_expires(made: Links, seconds: int) -> None:
    """In the future, and within thirty days."""
    with pytest.raises(BadRequest, match="cannot expire"):
        made.create(seconds=seconds)
