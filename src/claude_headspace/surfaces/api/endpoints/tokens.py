"""The endpoints of named tokens: make one, list them, revoke one."""

import asyncio

import msgspec
from starlette.requests import Request

from claude_headspace.kernel.views import Time, iso
from claude_headspace.ports import NamedToken
from claude_headspace.surfaces.api.openapi import Endpoint
from claude_headspace.surfaces.api.parameters import read_body
from claude_headspace.surfaces.api.services import Serving
from claude_headspace.surfaces.auth.named_tokens import NamedTokens
from claude_headspace.surfaces.auth.tokens import Scope
from claude_headspace.surfaces.text.timestamps import parse_time


class TokenView(msgspec.Struct, frozen=True):
    """A token as it is listed: never the token itself."""

    name: str
    scopes: list[str]
    owner: str
    created_at: Time
    expires_at: Time | None
    last_used_at: Time | None
    expired: bool


class NewToken(msgspec.Struct, frozen=True):
    """A token that was made; its text is told this once."""

    token: str
    details: TokenView


class Making(msgspec.Struct, frozen=True):
    """The token to make."""

    name: str
    scopes: list[Scope]
    owner: str = ""
    expires_at: str | None = None


class Revoked(msgspec.Struct, frozen=True):
    """The token that is good for nothing any more."""

    revoked: str


def _tokens(api: Serving) -> NamedTokens:
    return NamedTokens(api.services.journal, api.services.clock)


async def list_tokens(api: Serving, _request: Request) -> list[TokenView]:
    """Every named token."""
    now = api.services.clock()
    return [_view(token, now) for token in await asyncio.to_thread(_tokens(api).all)]


async def create_token(api: Serving, request: Request) -> NewToken:
    """Make a token."""
    wanted, now = await read_body(request, Making), api.services.clock()
    expires_at = parse_time("expires_at", wanted.expires_at, now) if wanted.expires_at else None
    made, text = await asyncio.to_thread(_tokens(api).create, wanted.name, wanted.scopes, wanted.owner, expires_at)
    return NewToken(text, _view(made, now))


async def revoke_token(api: Serving, request: Request) -> Revoked:
    """Let a token be good for nothing."""
    name = request.path_params["token"]
    await asyncio.to_thread(_tokens(api).revoke, name)
    return Revoked(name)


def _view(token: NamedToken, now: int) -> TokenView:
    return TokenView(
        token.name,
        list(token.scopes),
        token.owner,
        iso(token.created_at),
        iso(token.expires_at) if token.expires_at is not None else None,
        iso(token.last_used_at) if token.last_used_at is not None else None,
        token.expires_at is not None and token.expires_at <= now,
    )


ENDPOINTS = (
    Endpoint("GET", "/api/admin/tokens", "Every named token, never its text.", list_tokens, list[TokenView], "admin"),
    Endpoint(
        "POST",
        "/api/admin/tokens",
        "Make a named token; its text is told this once.",
        create_token,
        NewToken,
        scope="admin",
        takes=Making,
    ),
    Endpoint(
        "POST",
        "/api/admin/tokens/{token}/revoke",
        "Let a named token be good for nothing, at once and everywhere.",
        revoke_token,
        Revoked,
        scope="admin",
    ),
)
