"""The clients that Headspace supports, and what each can do."""

from starlette.requests import Request

from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable
from claude_headspace.surfaces.text.clients import ClientView, ToolView, client_views, tool_views

endpoints = EndpointTable()


@endpoints.get("/api/clients")
async def clients(_context: ApiContext, _request: Request) -> list[ClientView]:
    """All clients that Headspace supports, with what each can do and the reason for what it cannot."""
    return client_views()


@endpoints.get("/api/tools")
async def tools(_context: ApiContext, _request: Request) -> list[ToolView]:
    """The tools of all clients, with the words that every surface uses for their calls."""
    return tool_views()
