"""Maintenance of the database: verify, rebuild, prune."""

import msgspec
from starlette.requests import Request

from claude_headspace.ports import PruneResult
from claude_headspace.surfaces.api.administration import Verification
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable
from claude_headspace.surfaces.api.parameters import read_body

endpoints = EndpointTable()


class Rebuilt(msgspec.Struct, frozen=True):
    """The number of replayed events."""

    events: int


class PruneRequest(msgspec.Struct, frozen=True):
    """How many days to keep (null: `retention_days`), and whether only to report what would be removed."""

    days: int | None = None
    dry_run: bool = False


@endpoints.post("/api/admin/db/verify", scope="admin")
async def verify(context: ApiContext, _request: Request) -> Verification:
    """Replay the log and compare the result with the projections."""
    return await context.administration.verify()


@endpoints.post("/api/admin/db/rebuild", scope="admin")
async def rebuild(context: ApiContext, _request: Request) -> Rebuilt:
    """Rebuild the projections from the log."""
    return Rebuilt(await context.administration.rebuild())


@endpoints.post("/api/admin/db/prune", PruneRequest, scope="admin")
async def prune(context: ApiContext, request: Request) -> PruneResult:
    """Remove events older than the retention period. Agents that are still in use keep a snapshot."""
    wanted = await read_body(request, PruneRequest)
    return await context.administration.prune(wanted.days, dry_run=wanted.dry_run)
