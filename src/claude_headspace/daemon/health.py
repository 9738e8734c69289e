"""What the daemon says of itself: `/health`, part by part, and `/hook/status`, with what it counted."""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass

from claude_headspace import __version__
from claude_headspace.engine.outages import Outage, Outages
from claude_headspace.engine.writer import Engine
from claude_headspace.errors import JournalUnavailable
from claude_headspace.inputs.policy.guard import PolicyGuard
from claude_headspace.inputs.receive.socket import RpcServer
from claude_headspace.inputs.receive.spool import Spool
from claude_headspace.inputs.watch.reconcile import Reconciler
from claude_headspace.inputs.watch.sources import Sources
from claude_headspace.journal.listener import CommitListener
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.views import iso
from claude_headspace.outputs.held_hooks import Holds
from claude_headspace.outputs.mission_reports import Conversations
from claude_headspace.outputs.notify.notifier import Notifier
from claude_headspace.ports import Journal, JournalCounts
from claude_headspace.surfaces.api.health import AWAY, Health, HookStatus, PartHealth, SpoolStatus, TroubleView, part
from claude_headspace.surfaces.api.metrics import Metrics
from claude_headspace.surfaces.live.follower import StreamFollower
from claude_headspace.surfaces.live.stream import EventStream


class Tally:
    """What was counted since the start, and what the journal held then."""

    def __init__(self, metrics: Metrics) -> None:
        self.metrics = metrics
        self.counts = JournalCounts(0, 0, 0, 0, {})
        self.heard_before: Micros | None = None
        """When a hook of this machine fired last, before the start."""
        self.events = 0
        self.refusals: Counter[str] = Counter()

    def recall(self, journal: Journal, host: str) -> None:
        """Begin with what the journal knows."""
        self.counts = journal.counts()
        self.heard_before = journal.last_hook_at(host)

    def stored(self, name: str, seconds: float) -> None:
        """An event was stored, and how long that took."""
        self.events += 1
        self.metrics.stored(name, seconds)

    def refused(self, code: str) -> None:
        """Something was refused."""
        self.refusals[code] += 1
        self.metrics.refused(code)


@dataclass(frozen=True)
class Standing:
    """How the parts are."""

    _: KW_ONLY
    journal: Journal
    outages: Outages
    tally: Tally
    clock: Callable[[], Micros]
    engine: Engine
    reconciler: Reconciler
    spool: Spool
    guard: PolicyGuard
    sources: Sources
    conversations: Conversations
    holds: Holds
    notifier: Notifier
    rpc: RpcServer
    broadcaster: EventStream
    following: Sequence[CommitListener | StreamFollower]
    """What follows a shared database."""
    is_waking: Callable[[], bool]
    """Whether the database is not there yet."""
    started_at: Micros

    def health(self) -> Health:
        """Every background part's state."""
        parts = {
            "journal": self._journal(),
            "writer": part(*self.engine.health()),
            "reconciler": part(self.reconciler.running, self.reconciler.failure, self.reconciler.polling.mode.value),
            "spool": part(*self.spool.health()),
            "policy": part(*self.guard.health()),
            **self._sources(),
            "conversations": part(*self.conversations.health()),
            "holds": PartHealth("ok", f"{self.holds.count} questions held open"),
            "notifications": part(self.notifier.running, self.notifier.keeper.failure, "on"),
            "socket": part(self.rpc.running, self.rpc.failure, f"{self.rpc.connections} clients"),
            "stream": self._stream(),
        }
        parts = self._when_awake(parts)
        ok = all(each.status == "ok" for each in parts.values())
        return Health("ok" if ok else "degraded", __version__, parts)

    def _when_awake(self, parts: dict[str, PartHealth]) -> dict[str, PartHealth]:
        """Parts that begin when the database is there have not stopped."""
        if not self.is_waking():
            return parts
        return {name: AWAY if each.status == "stopped" else each for name, each in parts.items()}

    def _journal(self) -> PartHealth:
        trouble = self.outages.current
        kind = "shared with other daemons" if self.journal.is_shared else "this daemon's own"
        failure = f"{trouble.reason} (since {iso(trouble.since)})" if trouble else self.journal.storage_problem()
        return part(True, failure, kind)

    def _stream(self) -> PartHealth:
        failure = next((each.failure for each in self.following if each.failure), None)
        return part(True, failure, f"{self.broadcaster.readers} readers")

    def _sources(self) -> dict[str, PartHealth]:
        return {name: part(*each) for name, each in self.sources.health().items()}

    def _counted(self) -> JournalCounts | None:
        """What the journal holds; while it is away nobody knows. A file can be read though its disk is full."""
        if self.outages.current is None or not self.journal.is_shared:
            with suppress(JournalUnavailable):
                return self.journal.counts()
        return None

    def status(self) -> HookStatus:
        """How the receiver is doing."""
        counts, polling, now = self._counted(), self.reconciler.polling, self.clock()
        last = self.reconciler.last_event_at or self.tally.heard_before
        return HookStatus(
            enabled=True,
            mode=polling.mode.value,
            polling_interval_seconds=polling.interval_seconds,
            last_event_at=iso(last) if last else None,
            seconds_since_last_event=round((now - last) / 1e6, 1) if last else None,
            last_look_at=iso(self.reconciler.looked_at) if self.reconciler.looked_at else None,
            events_total=counts.events if counts else None,
            events_since_start=self.tally.events,
            agents=counts.by_state if counts else None,
            anomalies=counts.anomalies if counts else None,
            last_seq=counts.last_seq if counts else None,
            refused=dict(self.tally.refusals),
            spool=self._spool(),
            sources=self._when_awake(self._sources()),
            journal=self._journal(),
            troubles=[self._told(each) for each in self.outages.all],
            version=__version__,
            pid=os.getpid(),
            started_at=iso(self.started_at),
        )

    def metrics_page(self) -> bytes:
        """All metrics, in the text format of Prometheus."""
        return self.tally.metrics.text(self.status().agents, self.broadcaster.readers, self.spool.counts().depth)

    def _told(self, trouble: Outage) -> TroubleView:
        """A trouble; of one that lasts, how many events wait."""
        since, until = iso(trouble.since), iso(trouble.until) if trouble.until else None
        waited = trouble.spooled if until else max(trouble.spooled, self.spool.counts().depth)
        return TroubleView(since, until, trouble.reason, waited, trouble.lost)

    def _spool(self) -> SpoolStatus:
        spool = self.spool.counts()
        return SpoolStatus(
            depth=spool.depth,
            rejected=spool.rejected,
            lost=spool.lost,
            taken=spool.taken,
            last_drain_at=iso(spool.last_drain_at) if spool.last_drain_at else None,
        )
