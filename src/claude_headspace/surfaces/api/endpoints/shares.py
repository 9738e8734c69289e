"""Links that show one agent to people without access."""

import asyncio
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request

from claude_headspace.kernel.envelope import SECOND
from claude_headspace.kernel.text import Time, iso
from claude_headspace.ports import NamedToken
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.endpoints.agent_actions import Empty
from claude_headspace.surfaces.api.openapi import EndpointTable
from claude_headspace.surfaces.api.parameters import read_body

endpoints = EndpointTable()


class NewShare(msgspec.Struct, frozen=True):
    """How long the link works."""

    seconds: Annotated[int, Meta(ge=60, le=2_592_000)] = 86_400


class ShareView(msgspec.Struct, frozen=True):
    """A link, without its address. `name` revokes it."""

    name: str
    owner: str
    created_at: Time
    expires_at: Time | None
    last_used_at: Time | None


class CreatedShare(msgspec.Struct, frozen=True):
    """A new link with its path, which is not stored and cannot be shown again. `url` is empty without `public_url`."""

    path: str
    url: str
    details: ShareView


@endpoints.get("/api/agents/{agent}/shares")
async def list_shares(context: ApiContext, request: Request) -> list[ShareView]:
    """The links that show the agent, without their addresses."""
    return [
        _view(each)
        for each in await asyncio.to_thread(context.administration.shares.of_agent, await _agent_id(context, request))
    ]


@endpoints.post("/api/agents/{agent}/shares", NewShare)
async def create_share(context: ApiContext, request: Request) -> CreatedShare:
    """Create a link that shows the agent to anybody who has it, until it expires. Agents get none."""
    requester = await context.requesters.identify(request)
    wanted = await read_body(request, NewShare)
    agent_id, expires_at = await _agent_id(context, request), context.read.clock() + wanted.seconds * SECOND
    entry, path = await asyncio.to_thread(context.administration.shares.create, agent_id, requester.name, expires_at)
    public_url = context.installation.settings.public_url.rstrip("/")
    return CreatedShare(path, f"{public_url}{path}" if public_url else "", _view(entry))


@endpoints.post("/api/agents/{agent}/shares/{share}/revoke", Empty)
async def revoke_share(context: ApiContext, request: Request) -> list[ShareView]:
    """Revoke a link, immediately and on every host. Returns the remaining ones."""
    await context.requesters.refuse_agents(request)
    await read_body(request, Empty)
    agent_id = await _agent_id(context, request)
    await asyncio.to_thread(context.administration.shares.revoke, agent_id, request.path_params["share"])
    return [_view(each) for each in await asyncio.to_thread(context.administration.shares.of_agent, agent_id)]


async def _agent_id(context: ApiContext, request: Request) -> str:
    return (await asyncio.to_thread(context.read.agents.find, request.path_params["agent"])).id


def _view(entry: NamedToken) -> ShareView:
    return ShareView(
        entry.name,
        entry.owner,
        iso(entry.created_at),
        iso(entry.expires_at) if entry.expires_at is not None else None,
        iso(entry.last_used_at) if entry.last_used_at is not None else None,
    )
