"""Named tokens: random, kept as digests, good at once and gone at once."""

import asyncio

import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.surfaces.auth.named_tokens import NamedTokens, Principal, digest_of, scopes_of
from claude_headspace.surfaces.auth.tokens import Scope
from claude_headspace.testing import ManualClock
from tests.journals import TemporaryJournal


class Office:
    """A journal with its tokens, and a clock."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.journal = TemporaryJournal()
        self.tokens = NamedTokens(self.journal, self.clock)

    def principal(self, text: str) -> Principal | None:
        """Whose token it is."""
        return asyncio.run(self.tokens.principal(text.encode()))


@pytest.fixture
def office() -> Office:
    """One without tokens."""
    return Office()


def test_a_token_is_good_until_it_is_revoked(office: Office) -> None:
    """For its scopes and what they include, and for nothing afterwards."""
    made, text = office.tokens.create("grafana", [Scope.ACT, Scope.INGEST], "Ann", None)
    assert made.scopes == ("ingest", "act")
    assert office.principal(text) == Principal("grafana", frozenset({Scope.INGEST, Scope.READ, Scope.ACT}))
    office.tokens.revoke("grafana")
    assert office.principal(text) is None
    with pytest.raises(BadRequest) as refusal:
        office.tokens.revoke("grafana")
    assert refusal.value.status == 404


def test_the_text_is_nowhere(office: Office) -> None:
    """The journal knows the digest alone, and two tokens are never alike."""
    _, one = office.tokens.create("one", [Scope.READ], "", None)
    _, two = office.tokens.create("two", [Scope.READ], "", None)
    assert one != two
    stored = b"".join(file.read_bytes() for file in office.journal.directory.iterdir())
    assert one.encode() not in stored
    assert digest_of(one).encode() in stored


def test_a_token_expires(office: Office) -> None:
    """When it was said to, and it cannot be made expired."""
    _, text = office.tokens.create("guest", [Scope.READ], "", office.clock() + 10 * SECOND)
    assert office.principal(text)
    office.clock.advance(10)
    assert office.principal(text) == Principal("guest", frozenset(), office.clock())
    with pytest.raises(BadRequest):
        office.tokens.create("late", [Scope.READ], "", office.clock())


def test_its_last_use_is_known_to_the_minute(office: Office) -> None:
    """It is noted at once, and then once a minute."""
    _, text = office.tokens.create("bot", [Scope.READ], "", None)
    [before] = office.tokens.all()
    assert before.last_used_at is None
    office.principal(text)
    first = office.clock()
    office.clock.advance(30)
    office.principal(text)
    assert [token.last_used_at for token in office.tokens.all()] == [first]
    office.clock.advance(31)
    office.principal(text)
    assert [token.last_used_at for token in office.tokens.all()] == [office.clock()]


@pytest.mark.parametrize(
    "text", ["", "hs_named_", "hs_named_" + "x" * 43, "hs_admin_" + "x" * 43, "\xff" * 52, "x" * 10_000]
)
def test_what_is_no_token_opens_nothing(office: Office, text: str) -> None:
    """Neither nonsense nor a guess."""
    office.tokens.create("real", [Scope.ADMIN], "", None)
    assert asyncio.run(office.tokens.principal(text.encode("latin-1"))) is None


@pytest.mark.parametrize("name", ["", "Grafana", "a b", "-x", "x" * 41, "ä"])
def test_a_name_is_one_that_can_be_typed(office: Office, name: str) -> None:
    """As those of agents."""
    with pytest.raises(BadRequest, match="not a valid token name"):
        office.tokens.create(name, [Scope.READ], "", None)


def test_names_are_taken_once_and_scopes_are_needed(office: Office) -> None:
    """What is wrong is said."""
    office.tokens.create("one", [Scope.READ], "", None)
    with pytest.raises(BadRequest) as refusal:
        office.tokens.create("one", [Scope.ADMIN], "", None)
    assert refusal.value.status == 409
    with pytest.raises(BadRequest, match="needs at least one scope"):
        office.tokens.create("two", [], "", None)
    with pytest.raises(BadRequest, match="owner"):
        office.tokens.create("two", [Scope.READ], "\x1b[31m", None)


def test_an_unknown_scope_allows_nothing() -> None:
    """One that a newer version made."""
    assert scopes_of(["fly", "read"]) == {Scope.READ}
