"""Health, status and metrics of the daemon."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.health import Health, HookStatus
from claude_headspace.surfaces.api.openapi import EndpointTable

endpoints = EndpointTable()


@endpoints.get("/health", scope="none")
async def health(context: ApiContext, _request: Request) -> Health:
    """Health of every component of the daemon."""
    return context.installation.status.health()


@endpoints.get("/hook/status", scope="none")
async def hook_status(context: ApiContext, _request: Request) -> HookStatus:
    """Status of event reception, with counts."""
    return await asyncio.to_thread(context.installation.status.status)


@endpoints.get("/metrics", produces="text/plain")
async def metrics(context: ApiContext, _request: Request) -> Response:
    """Metrics for Prometheus."""
    page = await asyncio.to_thread(context.installation.status.metrics_page)
    return Response(page, media_type="text/plain; version=0.0.4")
