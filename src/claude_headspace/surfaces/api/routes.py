"""The table of all endpoints. The routes, `/openapi.json` and docs/api.md are generated from it.

Large responses are compressed for requesters that accept gzip, at the fastest level and outside of the event loop.
"""

import asyncio
import gzip
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.endpoints import (
    administration,
    agent_actions,
    agents,
    clients,
    efforts,
    events,
    health,
    insights,
    installation,
    launches,
    missions,
    notifications,
    plate_spinner,
    push,
    retries,
    screens,
    shares,
    usage,
    waits,
    worktrees,
)
from claude_headspace.surfaces.api.openapi import Endpoint
from claude_headspace.surfaces.auth.middleware import check_scope
from claude_headspace.surfaces.auth.tokens import Scope

CHECKED_SCOPES = frozenset({Scope.READ, Scope.ACT, Scope.ADMIN})
"""Endpoints with the other scopes may be open (`ingest = "open"`)."""
COMPRESSED_BYTES = 4_096
"""The size from which on a response is compressed."""
GZIP_LEVEL = 1

ENDPOINTS: tuple[Endpoint, ...] = (
    *health.endpoints,
    *agents.endpoints,
    *clients.endpoints,
    *waits.endpoints,
    *events.endpoints,
    *insights.endpoints,
    *usage.endpoints,
    *agent_actions.endpoints,
    *shares.endpoints,
    *retries.endpoints,
    *launches.endpoints,
    *worktrees.endpoints,
    *screens.endpoints,
    *missions.endpoints,
    *efforts.endpoints,
    *notifications.endpoints,
    *push.endpoints,
    *installation.endpoints,
    *administration.endpoints,
    *plate_spinner.endpoints,
)


def api_routes(context: ApiContext) -> list[Route]:
    """The endpoints as Starlette routes."""
    return [
        Route(endpoint.path, _respond(endpoint, partial(endpoint.handler, context)), methods=[endpoint.method])
        for endpoint in ENDPOINTS
        if endpoint.handler
    ]


def _respond(
    endpoint: Endpoint, handler: Callable[[Request], Awaitable[object]]
) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        if endpoint.scope in CHECKED_SCOPES:
            check_scope(request.scope, Scope(endpoint.scope))
        result = await handler(request)
        if isinstance(result, Response):
            return result
        return await _json_response(request, msgspec.json.encode(result))

    return respond


async def _json_response(request: Request, body: bytes) -> Response:
    headers = {"vary": "accept-encoding"}
    if len(body) >= COMPRESSED_BYTES and "gzip" in request.headers.get("accept-encoding", ""):
        body = await asyncio.to_thread(gzip.compress, body, GZIP_LEVEL)
        headers["content-encoding"] = "gzip"
    return Response(body, media_type="application/json", headers=headers)
