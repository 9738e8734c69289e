"""Named tokens, for people and programs on other machines: `hs_named_…`.

A named token is random; the journal stores only its digest. Every daemon on the journal looks a token up when it is
used, so a new token works and a revoked token is refused immediately, on every host.
"""

import asyncio
import hashlib
import secrets
from collections.abc import Sequence
from contextlib import suppress

import msgspec
from starlette.requests import Request

from claude_headspace.errors import BadRequest, JournalUnavailable
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.names import VALID_NAME
from claude_headspace.ports import Clock, NamedToken, TokenStore
from claude_headspace.surfaces.auth.tokens import INCLUDED_SCOPES, Scope

PREFIX = "hs_named_"
LENGTH = len(PREFIX) + 43
LAST_USE_PRECISION: Micros = 60 * SECOND
"""The time of the last use is stored at most this often."""
MAX_OWNER_LENGTH = 100


class Principal(msgspec.Struct, frozen=True):
    """The owner of the credentials in a request, and what they allow."""

    name: str
    scopes: frozenset[Scope]
    expired_at: Micros | None = None
    """When the token expired."""


def digest_of(token: str) -> str:
    """The stored digest of a token. Tokens are long and random, so a plain hash is enough."""
    return hashlib.sha256(token.encode()).hexdigest()


class NamedTokens:
    """Creates, verifies and revokes named tokens."""

    def __init__(self, store: TokenStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def principal(self, token: bytes) -> Principal | None:
        """The principal of a token; None if there is no such token. An expired token has no scopes."""
        text = token.decode("latin-1")
        if len(text) != LENGTH or not text.startswith(PREFIX):
            return None
        return await asyncio.to_thread(self._look_up, text)

    def _look_up(self, text: str) -> Principal | None:
        found, now = self._store.token(digest_of(text)), self._clock()
        if found is None:
            return None
        if found.expires_at is not None and found.expires_at <= now:
            return Principal(found.name, frozenset(), found.expires_at)
        if found.last_used_at is None or abs(now - found.last_used_at) >= LAST_USE_PRECISION:
            with suppress(JournalUnavailable):  # the token is valid even if its use cannot be stored
                self._store.record_token_use(found.name, now)
        return Principal(found.name, scopes_of(found.scopes))

    def create(
        self, name: str, scopes: Sequence[Scope], owner: str, expires_at: Micros | None
    ) -> tuple[NamedToken, str]:
        """Create a token. Its text is returned once and never stored."""
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
                "name_taken",
                f"A token named {name} exists already.",
                f"Choose another name, or revoke {name}.",
                status=409,
            )
        return token, text

    def revoke(self, name: str) -> None:
        """Revoke a token. It is refused from now on."""
        if not self._store.remove_token(name):
            raise BadRequest(
                "unknown_token",
                f"There is no token {name[:60]}.",
                "`headspace token list` shows all tokens.",
                status=404,
            )

    def all(self) -> list[NamedToken]:
        """All tokens, by name."""
        return self._store.tokens()


def is_named_token(request: Request) -> bool:
    """Whether a request comes with a named token."""
    return PREFIX in request.headers.get("authorization", "")


def scopes_of(names: Sequence[str]) -> frozenset[Scope]:
    """Scopes by name, with those that they include. Unknown names are ignored."""
    known = [Scope(name) for name in names if name in set(Scope)]
    return frozenset(included for scope in known for included in INCLUDED_SCOPES[scope])


def _check(name: str, scopes: Sequence[Scope], owner: str, expires_at: Micros | None, now: Micros) -> None:
    if not VALID_NAME.fullmatch(name):
        raise BadRequest(
            "bad_name",
            f"{name[:60]!r} is not a valid token name.",
            "Use up to 40 lowercase letters, digits, dots and dashes, starting and ending with a letter or digit.",
        )
    if not scopes:
        raise BadRequest("bad_scope", "A token needs at least one scope.", f"Scopes: {', '.join(Scope)}.")
    if len(owner) > MAX_OWNER_LENGTH or not owner.isprintable():
        hint = f"Use up to {MAX_OWNER_LENGTH} printable characters."
        raise BadRequest("bad_owner", "The owner is too long or contains control characters.", hint)
    if expires_at is not None and expires_at <= now:
        raise BadRequest("bad_time", "The expiry time is in the past.", "Choose a future time, or omit it.")
