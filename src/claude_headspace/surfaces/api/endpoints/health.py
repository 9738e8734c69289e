"""Health, status and metrics of the daemon."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.health import Health, HookStatus
from claude_headspace.surfaces.api.openapi import Endpoint


async def health(context: ApiContext, _request: Request) -> Health:
    """The health of every component."""
    return context.installation.status.health()


async def hook_status(context: ApiContext, _request: Request) -> HookStatus:
    """The status of event reception."""
    return await asyncio.to_thread(context.installation.status.status)


async def metrics(context: ApiContext, _request: Request) -> Response:
    """All metrics."""
    page = await asyncio.to_thread(context.installation.status.metrics_page)
    return Response(page, media_type="text/plain; version=0.0.4")


ENDPOINTS = (
    Endpoint("GET", "/health", "Health of every component of the daemon.", health, Health, scope="none"),
    Endpoint("GET", "/hook/status", "Status of event reception, with counts.", hook_status, HookStatus, scope="none"),
    Endpoint("GET", "/metrics", "Metrics for Prometheus.", metrics, str, produces="text/plain"),
)
