"""Tokens with a name and an owner, for people and programs beside this home: `hs_named_…`.

They are random, and the journal knows only their digest. Every daemon on the journal looks each one up when it is
used, so a new one works and a revoked one is refused at once, everywhere.
"""

import asyncio
import hashlib
import secrets
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from claude_headspace.errors import BadRequest, JournalUnavailable
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.names import NAME
from claude_headspace.ports import Clock, NamedToken, TokenStore
from claude_headspace.surfaces.auth.tokens import IMPLIED, Scope

PREFIX = "hs_named_"
LENGTH = len(PREFIX) + 43
NOTED_EVERY: Micros = 60 * SECOND
"""How exactly it is known when a token was last used."""
LONGEST_OWNER = 100


class Holder(msgspec.Struct, frozen=True):
    """Who sends a request, and what they may do."""

    name: str
    scopes: frozenset[Scope]
    expired_at: Micros | None = None
    """When the token ceased to be good: whoever has all of it may know that."""


def digest_of(token: str) -> str:
    """What is kept of a token. It is random and long, so that a plain hash cannot be turned back."""
    return hashlib.sha256(token.encode()).hexdigest()


class NamedTokens:
    """Makes, checks and revokes them."""

    def __init__(self, store: TokenStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def holder(self, token: bytes) -> Holder | None:
        """Whose token it is, if it is one; one that has expired is good for nothing."""
        text = token.decode("latin-1")
        if len(text) != LENGTH or not text.startswith(PREFIX):
            return None
        return await asyncio.to_thread(self._look_up, text)

    def _look_up(self, text: str) -> Holder | None:
        found, now = self._store.token(digest_of(text)), self._clock()
        if found is None:
            return None
        if found.expires_at is not None and found.expires_at <= now:
            return Holder(found.name, frozenset(), found.expires_at)
        if found.last_used_at is None or abs(now - found.last_used_at) >= NOTED_EVERY:
            with suppress(JournalUnavailable):  # it is good, whether or not that can be noted
                self._store.record_token_use(found.name, now)
        return Holder(found.name, scopes_of(found.scopes))

    def create(
        self, name: str, scopes: Sequence[Scope], owner: str, expires_at: Micros | None
    ) -> tuple[NamedToken, str]:
        """A new token, and the text that is told this once."""
        now = self._clock()
        _check(name, scopes, owner, expires_at, now)
        text = PREFIX + secrets.token_urlsafe(32)
        token = NamedToken(
            name=name,
            scopes=tuple(scope.value for scope in Scope if scope in scopes),
            owner=owner,
            created_at=now,
            expires_at=expires_at,
        )
        if not self._store.add_token(token, digest_of(text)):
            raise BadRequest(
                "name_taken", f"There is a token {name} already.", f"Choose another name, or revoke {name}.", status=409
            )
        return token, text

    def revoke(self, name: str) -> None:
        """Let a token be good for nothing, from now on."""
        if not self._store.remove_token(name):
            raise BadRequest(
                "unknown_token", f"There is no token {name[:60]}.", "See `headspace token list`.", status=404
            )

    def all(self) -> list[NamedToken]:
        """Every token, by name."""
        return self._store.tokens()


def scopes_of(names: Sequence[str]) -> frozenset[Scope]:
    """What scopes allow, with all that they include; one that this version does not know allows nothing."""
    known = [Scope(name) for name in names if name in set(Scope)]
    return frozenset(implied for scope in known for implied in IMPLIED[scope])


def _check(name: str, scopes: Sequence[Scope], owner: str, expires_at: Micros | None, now: Micros) -> None:
    if not NAME.fullmatch(name):
        raise BadRequest(
            "bad_name",
            f"A token cannot be called {name[:60]!r}.",
            "Use up to 40 small letters, digits, dots and dashes, beginning and ending with a letter or digit.",
        )
    if not scopes:
        raise BadRequest("bad_scope", "A token needs a scope.", f"There are: {', '.join(Scope)}.")
    if len(owner) > LONGEST_OWNER or not owner.isprintable():
        raise BadRequest("bad_owner", "The owner is no name.", f"Use up to {LONGEST_OWNER} printable characters.")
    if expires_at is not None and expires_at <= now:
        raise BadRequest("bad_time", "The token would have expired already.", "Choose a time to come, or none.")
