"""Metrics for Prometheus (`/metrics`)."""

import math
from collections import Counter as Counts

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from claude_headspace.clients.hooks import KNOWN_HOOKS
from claude_headspace.kernel.agent import AgentState
from claude_headspace.kernel.hooks import PROBE

LATENCIES = (0.001, 0.0025, 0.005, 0.01, 0.015, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Metrics:
    """The metrics of one daemon."""

    def __init__(self) -> None:
        self.events = 0
        self.refusals: Counts[str] = Counts()
        """Stored hooks, and refusals by error code, since the start. `/hook/status` shows them."""
        self.registry = CollectorRegistry()
        self._events = Counter(
            "headspace_events", "Stored hook events, by event name.", ["event"], registry=self.registry
        )
        self._refused = Counter(
            "headspace_refused", "Refused requests, by error code.", ["code"], registry=self.registry
        )
        self._hook = Histogram(
            "headspace_hook_seconds",
            "Time from the arrival of a hook, over HTTP or from the spool, until it is stored.",
            buckets=LATENCIES,
            registry=self.registry,
        )
        self._commit = Histogram(
            "headspace_commit_seconds",
            "Time of one batch, from its first lookup to its commit.",
            buckets=LATENCIES,
            registry=self.registry,
        )
        self._batch = Histogram(
            "headspace_batch_events", "Number of events in one batch.", buckets=BATCHES, registry=self.registry
        )
        self._agents = Gauge("headspace_agents", "Agents, by state.", ["state"], registry=self.registry)
        self._readers = Gauge("headspace_stream_readers", "Open event streams.", registry=self.registry)
        self._spool = Gauge("headspace_spool_events", "Events waiting in the spool.", registry=self.registry)
        self._by_name = {name: self._events.labels(name) for name in KNOWN_HOOKS}

    def stored(self, name: str, seconds: float) -> None:
        """A hook was stored and answered. Unknown names share one label, so that no sender can add labels."""
        self.events += name != PROBE
        (self._by_name.get(name) or self._events.labels("unknown")).inc()
        self._hook.observe(seconds)

    def refused(self, code: str) -> None:
        """A request was refused."""
        self.refusals[code] += 1
        self._refused.labels(code).inc()

    def committed(self, seconds: float, size: int) -> None:
        """A batch was committed."""
        self._commit.observe(seconds)
        self._batch.observe(size)

    def text(self, by_state: dict[str, int] | None, stream_readers: int, spool_depth: int) -> bytes:
        """All metrics in text format. The numbers of agents are NaN while the database is unavailable."""
        for state in AgentState:
            self._agents.labels(state.value).set(math.nan if by_state is None else by_state.get(state.value, 0))
        self._readers.set(stream_readers)
        self._spool.set(spool_depth)
        return generate_latest(self.registry)
