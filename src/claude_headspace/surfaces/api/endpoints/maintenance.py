"""`POST /api/admin/db/prune`: old events go, as the retention says."""

import asyncio

import msgspec
from starlette.requests import Request

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.ports import PruneResult
from claude_headspace.surfaces.api.openapi import Endpoint
from claude_headspace.surfaces.api.parameters import read_body
from claude_headspace.surfaces.api.services import Serving

DAY: Micros = 86_400 * SECOND
MOST_DAYS = 36_500


class Pruning(msgspec.Struct, frozen=True):
    """How many days to keep (None: as `retention_days` says), and whether only to say what would go."""

    days: int | None = None
    dry_run: bool = False


def prune_before(days: int | None, retention_days: int, now: Micros) -> Micros:
    """The moment before which everything goes."""
    kept = retention_days if days is None else days
    if not 0 < kept <= MOST_DAYS:
        raise BadRequest(
            "keeps_everything",
            "Nothing says how long events are kept.",
            "Set `retention_days` in the configuration, or say `headspace db prune --days 90`.",
        )
    return now - kept * DAY


async def prune(api: Serving, request: Request) -> PruneResult:
    """Take old events out."""
    wanted, services = await read_body(request, Pruning), api.services
    before = prune_before(wanted.days, services.settings.retention_days, services.clock())
    return await asyncio.to_thread(services.journal.prune, before, dry_run=wanted.dry_run)


ENDPOINTS = (
    Endpoint(
        "POST",
        "/api/admin/db/prune",
        "Take out what is older than the retention; agents that go on keep a snapshot.",
        prune,
        PruneResult,
        scope="admin",
        takes=Pruning,
    ),
)
