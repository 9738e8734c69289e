"""The load generator: some connections that each keep one request in flight, as fast as the server answers.

`Load` keeps its connections and its sessions over several rounds, so a daemon and a no-op can take turns on one
machine. A round counts what was answered inside its window; what was in flight at its end is waited for and counted as
acknowledged, so that afterwards sender and receiver can compare their sums.
"""

import asyncio
import gc
import statistics
import time
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import cycle

from bench.report import BenchError
from bench.wire import Connection, connect

DRAIN_SECONDS = 10.0


@dataclass
class Round:
    """What one round saw."""

    seconds: float
    in_window: int = 0
    acknowledged: int = 0
    errors: int = 0
    generator_seconds: float = 0.0
    latencies: "array[float]" = field(default_factory=lambda: array("d"))

    @property
    def rate(self) -> float:
        """Answered events a second."""
        return self.in_window / self.seconds

    def percentile(self, percent: int) -> float:
        """A percentile of the latency, in milliseconds."""
        return percentile(self.latencies, percent)


def percentile(seconds: "array[float] | list[float]", percent: int) -> float:
    """A percentile of some times, in milliseconds."""
    if len(seconds) < 2:
        raise BenchError("nothing was answered")
    return statistics.quantiles(seconds, n=100, method="inclusive")[percent - 1] * 1000


class Load:
    """Keep-alive connections to one server, with sessions that each connection walks through in turn."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._work: dict[Connection, Iterator[Iterator[bytes]]] = {}
        self._round = Round(0.0)
        self._deadline = 0.0
        self._in_flight = 0
        self._drained = asyncio.Event()

    @classmethod
    async def connected(cls, port: int, walks: list[Iterator[bytes]], connections: int) -> "Load":
        """Open the connections and deal the sessions out to them."""
        load = cls(port)
        for number in range(connections):
            await load._connect(cycle(walks[number::connections]))
        return load

    async def _connect(self, work: Iterator[Iterator[bytes]]) -> None:
        self._work[await connect(self._port, self._replied)] = work

    async def run(self, seconds: float) -> Round:
        """One round."""
        await self._reconnect()
        self._round = Round(seconds)
        self._drained.clear()
        gc.collect()
        gc.disable()
        try:
            await self._send_and_wait(seconds)
        finally:
            gc.enable()
        return self._round

    async def _reconnect(self) -> None:
        """Servers close a connection that was idle while the other server had its round."""
        for connection in [connection for connection in self._work if connection.broken]:
            await self._connect(self._work.pop(connection))

    async def _send_and_wait(self, seconds: float) -> None:
        cpu = time.process_time()
        self._deadline = time.perf_counter() + seconds
        self._in_flight = len(self._work)
        for connection in self._work:
            self._next(connection)
        try:
            await asyncio.wait_for(self._drained.wait(), seconds + DRAIN_SECONDS)
        except TimeoutError:
            self._round.errors += self._in_flight
        self._round.generator_seconds = time.process_time() - cpu

    def _next(self, connection: Connection) -> None:
        request = next(next(self._work[connection]))
        connection.sent_at = time.perf_counter()
        connection.send(request)

    def _replied(self, connection: Connection, status: int, _body: bytes) -> None:
        now = time.perf_counter()
        current = self._round
        if status == 200:
            current.acknowledged += 1
            current.latencies.append(now - connection.sent_at)
            current.in_window += now <= self._deadline
        else:
            current.errors += 1
        if now < self._deadline and not connection.broken:
            self._next(connection)
            return
        self._in_flight -= 1
        if self._in_flight == 0:
            self._drained.set()

    def close(self) -> None:
        """Close every connection."""
        for connection in self._work:
            connection.close()
