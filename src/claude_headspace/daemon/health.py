"""What the daemon reports about itself: `/health` by component, and `/hook/status` with its counters.

Every component reports its own health as `(running, failure, detail)`. This module only collects and counts.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from claude_headspace import __version__
from claude_headspace.clients.catalog import CLIENTS, DEFAULT
from claude_headspace.clients.config_dirs import installed_config_dirs
from claude_headspace.clients.registration import find_registrations
from claude_headspace.daemon.components import Base
from claude_headspace.engine.outages import Outage, Outages
from claude_headspace.errors import JournalUnavailable
from claude_headspace.inputs.receive.spool import SpoolReader
from claude_headspace.inputs.watch.reconcile import Mode, Reconciler
from claude_headspace.kernel.text import iso
from claude_headspace.ports import GuardProblem, Journal, JournalCounts
from claude_headspace.surfaces.api.health import (
    WAITING_FOR_DATABASE,
    ComponentStatus,
    GuardProblemView,
    Health,
    HookStatus,
    OutageView,
    SpoolStatus,
    component_status,
    hook_reception,
)
from claude_headspace.surfaces.live.stream import EventStream

ReportHealth = Callable[[], tuple[bool, str | None, str]]
"""Whether a component runs, why it fails, and a detail."""

SOURCES = ("registry", "transcripts", "processes")
"""Components that watch the clients without hooks; `/hook/status` lists them."""


def journal_health(journal: Journal, outages: Outages) -> ReportHealth:
    """The health of the database."""

    def report() -> tuple[bool, str | None, str]:
        outage = outages.current
        failure = f"{outage.reason} (since {iso(outage.since)})" if outage else journal.storage_problem()
        return True, failure, "shared with other daemons" if journal.is_shared else "not shared"

    return report


class ComponentHealth:
    """The health of all components."""

    def __init__(
        self,
        reports: Mapping[str, ReportHealth],
        is_starting: Callable[[], bool],
        guard_problems: Callable[[], list[GuardProblem]] = list,
    ) -> None:
        self._reports = reports
        self._guard_problems = guard_problems
        self._is_starting = is_starting
        """Whether the daemon still waits for its database."""

    def of(self, *names: str) -> dict[str, ComponentStatus]:
        """The health of these components. Those that start with the database have not stopped while it is awaited."""
        found = {name: component_status(*self._reports[name]()) for name in names}
        if not self._is_starting():
            return found
        return {name: WAITING_FOR_DATABASE if each.status == "stopped" else each for name, each in found.items()}

    def all(self) -> Health:
        """The health of the daemon."""
        parts = self.of(*self._reports)
        is_ok = all(each.status == "ok" for each in parts.values())
        problems = guard_problem_views(self._guard_problems())
        return Health("ok" if is_ok else "degraded", __version__, parts, problems)


def guard_problem_views(problems: Iterable[GuardProblem]) -> list[GuardProblemView]:
    """Why guards are off, for the API and the stream."""
    return [GuardProblemView(iso(each.since), each.text, each.hint, each.client) for each in problems]


@dataclass(frozen=True, kw_only=True)
class StatusReport:
    """Implements `surfaces.api.health.DaemonStatus`."""

    base: Base
    components: ComponentHealth
    reconciler: Reconciler
    spool: SpoolReader
    stream: EventStream

    def health(self) -> Health:
        """The health of every component."""
        return self.components.all()

    def metrics_page(self) -> bytes:
        """All metrics, in the text format of Prometheus."""
        return self.base.metrics.text(self.status().agents, self.stream.readers, self.spool.counts().depth)

    def status(self) -> HookStatus:
        """The status of event reception."""
        counts, polling = self._journal_counts(), self.reconciler.polling
        last, looked_at = self.reconciler.last_event_at, self.reconciler.checked_at
        registrations = find_registrations(self._config_dirs(), self.base.paths.state)
        hooks = hook_reception(registrations, firing=polling.mode is Mode.HOOKS_ACTIVE, received=last is not None)
        return HookStatus(
            enabled=hooks.installed or hooks.firing,
            hooks=hooks,
            mode=polling.mode.value,
            polling_interval_seconds=polling.interval_seconds,
            last_event_at=iso(last) if last else None,
            seconds_since_last_event=round((self.base.clock() - last) / 1e6, 1) if last else None,
            last_look_at=iso(looked_at) if looked_at else None,
            events_total=counts.events - counts.probes if counts else None,
            events_since_start=self.base.metrics.events,
            agents=counts.by_state if counts else None,
            anomalies=counts.anomalies if counts else None,
            anomalies_by_client=counts.anomalies_by_client if counts else None,
            last_seq=counts.last_seq if counts else None,
            refused=dict(self.base.metrics.refusals),
            spool=self._spool(),
            sources=self.components.of(*SOURCES),
            journal=self.components.of("journal")["journal"],
            troubles=[self._outage(each) for each in self.base.outages.all],
            version=__version__,
            pid=os.getpid(),
            started_at=iso(self.reconciler.started_at),
        )

    def _config_dirs(self) -> Iterator[tuple[str, Path]]:
        """The known config dirs of Claude Code, and those of other clients with installed hooks."""
        yield from ((DEFAULT, path) for path in self.base.config_dirs())
        for client in CLIENTS:
            yield from ((client, path) for path in installed_config_dirs(self.base.paths, client))

    def _journal_counts(self) -> JournalCounts | None:
        """The counts of the journal; None while it is unavailable. A file can be read even if its disk is full."""
        if self.base.outages.current is None or not self.base.journal.is_shared:
            with suppress(JournalUnavailable):
                return self.base.journal.counts()
        return None

    def _outage(self, outage: Outage) -> OutageView:
        """An outage. For one that lasts, the events that wait now are counted."""
        since, until = iso(outage.since), iso(outage.until) if outage.until else None
        waited = outage.spooled if until else max(outage.spooled, self.spool.counts().depth)
        return OutageView(since, until, outage.reason, waited, outage.lost)

    def _spool(self) -> SpoolStatus:
        counts = self.spool.counts()
        return SpoolStatus(
            depth=counts.depth,
            rejected=counts.rejected,
            rejected_by_client=counts.rejected_by_client,
            quarantined=counts.quarantined,
            lost=counts.lost,
            taken=counts.processed,
            last_drain_at=iso(counts.last_drain_at) if counts.last_drain_at else None,
        )
