"""Administration of the journal: verify, rebuild, prune, import, named tokens, and share links."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import msgspec

from claude_headspace.engine.log_transfer import ImportedLog, import_lines, read_header
from claude_headspace.engine.writer import EventWriter
from claude_headspace.errors import BadRequest
from claude_headspace.inputs.receive.receiver import new_id
from claude_headspace.inputs.watch.transcript_import import TranscriptImports
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.ports import Clock, Difference, Maintenance, PruneResult
from claude_headspace.surfaces.auth.named_tokens import NamedTokens
from claude_headspace.surfaces.auth.share_links import ShareLinks

DAY: Micros = 86_400 * SECOND
MAX_DAYS = 36_500
MAX_DIFFERENCES = 1_000


class Verification(msgspec.Struct, frozen=True):
    """Whether the projections match the log."""

    ok: bool
    differences: list[Difference]


@dataclass(frozen=True)
class Administration:
    """Maintains the journal of a running daemon."""

    journal: Maintenance
    engine: EventWriter
    clock: Clock
    retention_days: int
    transcripts: TranscriptImports
    tokens: NamedTokens
    shares: ShareLinks

    async def verify(self) -> Verification:
        """Replay the log and compare the result with the projections."""
        differences = await asyncio.to_thread(lambda: list(self.journal.verify()))
        return Verification(not differences, differences[:MAX_DIFFERENCES])

    async def rebuild(self) -> int:
        """Rebuild the projections from the log; the number of events."""
        return await asyncio.to_thread(self.journal.rebuild)

    async def prune(self, days: int | None, *, dry_run: bool) -> PruneResult:
        """Remove events older than a number of days, by default `retention_days`."""
        before = prune_before(days, self.retention_days, self.clock())
        return await asyncio.to_thread(self.journal.prune, before, dry_run=dry_run)

    async def import_log(self, header: str, lines: Sequence[str], first_line: int) -> ImportedLog:
        """Import lines of an exported log."""
        work = partial(
            import_lines,
            header=read_header(header.encode()),
            lines=[line.encode() for line in lines],
            first=first_line,
            new_id=new_id(),
            now=self.clock(),
        )
        return await self.engine.transact(work)


def prune_before(days: int | None, retention_days: int, now: Micros) -> Micros:
    """The time before which events are removed."""
    kept = retention_days if days is None else days
    if not 0 < kept <= MAX_DAYS:
        raise BadRequest(
            "keeps_everything",
            "No retention period is set.",
            "Set `retention_days` in the configuration, or use `headspace db prune --days 90`.",
        )
    return now - kept * DAY
