"""Named tokens: random, stored as digests, valid immediately and revoked immediately."""

import asyncio

import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.surfaces.auth.named_tokens import NamedTokens, Principal, digest_of, scopes_of
from claude_headspace.surfaces.auth.tokens import Scope
from claude_headspace.testing import ManualClock
from tests.journals import TemporaryJournal


class TokenRegistry:
    """Named tokens over a journal, and a clock."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.journal = TemporaryJournal()
        self.tokens = NamedTokens(self.journal, self.clock)

    def principal(self, text: str) -> Principal | None:
        """The principal of a token."""
        return asyncio.run(self.tokens.principal(text.encode()))


@pytest.fixture
def registry() -> TokenRegistry:
    """A journal without tokens."""
    return TokenRegistry()


def test_a_token_is_valid_until_it_is_revoked(registry: TokenRegistry) -> None:
    """For its scopes and those that they include."""
    made, text = registry.tokens.create("grafana", [Scope.ACT, Scope.INGEST], "Ann", None)
    assert made.scopes == ("ingest", "act")
    assert registry.principal(text) == Principal("grafana", frozenset({Scope.INGEST, Scope.READ, Scope.ACT}))
    registry.tokens.revoke("grafana")
    assert registry.principal(text) is None
    with pytest.raises(BadRequest) as refusal:
        registry.tokens.revoke("grafana")
    assert refusal.value.status == 404


def test_the_text_is_not_stored(registry: TokenRegistry) -> None:
    """The journal has only the digest, and two tokens are never equal."""
    _, one = registry.tokens.create("one", [Scope.READ], "", None)
    _, two = registry.tokens.create("two", [Scope.READ], "", None)
    assert one != two
    stored = b"".join(file.read_bytes() for file in registry.journal.directory.iterdir())
    assert one.encode() not in stored
    assert digest_of(one).encode() in stored


def test_expiry(registry: TokenRegistry) -> None:
    """At its expiry time, which cannot be in the past."""
    _, text = registry.tokens.create("guest", [Scope.READ], "", registry.clock() + 10 * SECOND)
    assert registry.principal(text)
    registry.clock.advance(10)
    assert registry.principal(text) == Principal("guest", frozenset(), registry.clock())
    with pytest.raises(BadRequest):
        registry.tokens.create("late", [Scope.READ], "", registry.clock())


def test_last_use(registry: TokenRegistry) -> None:
    """It is stored at once, and then once a minute."""
    _, text = registry.tokens.create("bot", [Scope.READ], "", None)
    [before] = registry.tokens.all()
    assert before.last_used_at is None
    registry.principal(text)
    first = registry.clock()
    registry.clock.advance(30)
    registry.principal(text)
    assert [token.last_used_at for token in registry.tokens.all()] == [first]
    registry.clock.advance(31)
    registry.principal(text)
    assert [token.last_used_at for token in registry.tokens.all()] == [registry.clock()]


@pytest.mark.parametrize(
    "text", ["", "hs_named_", "hs_named_" + "x" * 43, "hs_admin_" + "x" * 43, "\xff" * 52, "x" * 10_000]
)
def test_unknown_tokens(registry: TokenRegistry, text: str) -> None:
    """Neither malformed nor guessed tokens are accepted."""
    registry.tokens.create("real", [Scope.ADMIN], "", None)
    assert asyncio.run(registry.tokens.principal(text.encode("latin-1"))) is None


@pytest.mark.parametrize("name", ["", "Grafana", "a b", "-x", "x" * 41, "ä"])
def test_invalid_names(registry: TokenRegistry, name: str) -> None:
    """The rules are those of agent names."""
    with pytest.raises(BadRequest, match="not a valid token name"):
        registry.tokens.create(name, [Scope.READ], "", None)


def test_duplicate_names_and_missing_scopes(registry: TokenRegistry) -> None:
    """Both are refused with a message."""
    registry.tokens.create("one", [Scope.READ], "", None)
    with pytest.raises(BadRequest) as refusal:
        registry.tokens.create("one", [Scope.ADMIN], "", None)
    assert refusal.value.status == 409
    with pytest.raises(BadRequest, match="needs at least one scope"):
        registry.tokens.create("two", [], "", None)
    with pytest.raises(BadRequest, match="owner"):
        registry.tokens.create("two", [Scope.READ], "\x1b[31m", None)


def test_an_unknown_scope_allows_nothing() -> None:
    """A newer version may have created it."""
    assert scopes_of(["fly", "read"]) == {Scope.READ}
