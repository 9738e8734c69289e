"""Named tokens: list, create, revoke."""

import asyncio

import msgspec
from starlette.requests import Request

from claude_headspace.kernel.views import Time, iso
from claude_headspace.ports import NamedToken
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable
from claude_headspace.surfaces.api.parameters import read_body
from claude_headspace.surfaces.auth.tokens import Scope
from claude_headspace.surfaces.text.timestamps import parse_time

endpoints = EndpointTable()


class TokenView(msgspec.Struct, frozen=True):
    """A named token, without its text."""

    name: str
    scopes: list[str]
    owner: str
    created_at: Time
    expires_at: Time | None
    last_used_at: Time | None
    expired: bool


class CreatedToken(msgspec.Struct, frozen=True):
    """A new token with its text, which is not stored and cannot be shown again."""

    token: str
    details: TokenView


class NewToken(msgspec.Struct, frozen=True):
    """The token to create."""

    name: str
    scopes: list[Scope]
    owner: str = ""
    expires_at: str | None = None


class RevokedToken(msgspec.Struct, frozen=True):
    """The name of the revoked token."""

    revoked: str


@endpoints.get("/api/admin/tokens", scope="admin")
async def list_tokens(context: ApiContext, _request: Request) -> list[TokenView]:
    """All named tokens, without their text."""
    now = context.read.clock()
    return [_view(token, now) for token in await asyncio.to_thread(context.administration.tokens.all)]


@endpoints.post("/api/admin/tokens", NewToken, scope="admin")
async def create_token(context: ApiContext, request: Request) -> CreatedToken:
    """Create a named token. Its text is returned only once."""
    wanted, now = await read_body(request, NewToken), context.read.clock()
    expires_at = parse_time("expires_at", wanted.expires_at, now) if wanted.expires_at else None
    token, text = await asyncio.to_thread(
        context.administration.tokens.create, wanted.name, wanted.scopes, wanted.owner, expires_at
    )
    return CreatedToken(text, _view(token, now))


@endpoints.post("/api/admin/tokens/{token}/revoke", scope="admin")
async def revoke_token(context: ApiContext, request: Request) -> RevokedToken:
    """Revoke a named token, immediately and on every host."""
    name = request.path_params["token"]
    await asyncio.to_thread(context.administration.tokens.revoke, name)
    return RevokedToken(name)


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
