"""Maintenance of the database: verify, rebuild, prune."""

import msgspec
from starlette.requests import Request

from claude_headspace.ports import PruneResult
from claude_headspace.surfaces.api.administration import Verification
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import Endpoint
from claude_headspace.surfaces.api.parameters import read_body


class Rebuilt(msgspec.Struct, frozen=True):
    """The number of replayed events."""

    events: int


class PruneRequest(msgspec.Struct, frozen=True):
    """How many days to keep (null: `retention_days`), and whether only to report what would be removed."""

    days: int | None = None
    dry_run: bool = False


async def verify(context: ApiContext, _request: Request) -> Verification:
    """Compare the projections with the log."""
    return await context.administration.verify()


async def rebuild(context: ApiContext, _request: Request) -> Rebuilt:
    """Rebuild the projections."""
    return Rebuilt(await context.administration.rebuild())


async def prune(context: ApiContext, request: Request) -> PruneResult:
    """Remove old events."""
    wanted = await read_body(request, PruneRequest)
    return await context.administration.prune(wanted.days, dry_run=wanted.dry_run)


ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/admin/db/verify",
        "Replay the log and compare the result with the projections.",
        verify,
        Verification,
        scope="admin",
    ),
    Endpoint("POST", "/api/admin/db/rebuild", "Rebuild the projections from the log.", rebuild, Rebuilt, scope="admin"),
    Endpoint(
        "POST",
        "/api/admin/db/prune",
        "Remove events older than the retention period. Agents that are still in use keep a snapshot.",
        prune,
        PruneResult,
        scope="admin",
        body=PruneRequest,
    ),
)
