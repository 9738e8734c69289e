"""The load generator: each connection has one request in flight and sends the next one as soon as the reply arrives.

`Load` keeps its connections and sessions over several rounds, so a daemon and a no-op can alternate on one machine. The
rate of a round counts the replies within its time. Requests in flight at its end are awaited and counted as
acknowledged, so that sender and receiver can compare their counts.
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
    """The result of one round."""

    seconds: float
    in_window: int = 0
    acknowledged: int = 0
    errors: int = 0
    generator_seconds: float = 0.0
    latencies: "array[float]" = field(default_factory=lambda: array("d"))

    @property
    def rate(self) -> float:
        """Acknowledged events per second."""
        return self.in_window / self.seconds

    def percentile(self, percent: int) -> float:
        """A percentile of the latency, in milliseconds."""
        return percentile(self.latencies, percent)


def percentile(seconds: "array[float] | list[float]", percent: int) -> float:
    """A percentile of durations, in milliseconds."""
    if len(seconds) < 2:
        raise BenchError("no reply was received")
    return statistics.quantiles(seconds, n=100, method="inclusive")[percent - 1] * 1000


class Load:
    """Keep-alive connections to one server. Each connection sends the events of its sessions in turn."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._work: dict[Connection, Iterator[Iterator[bytes]]] = {}
        self._round = Round(0.0)
        self._deadline = 0.0
        self._in_flight = 0
        self._drained = asyncio.Event()

    @classmethod
    async def connected(cls, port: int, walks: list[Iterator[bytes]], connections: int) -> "Load":
        """Open the connections and distribute the sessions."""
        load = cls(port)
        for number in range(connections):
            await load._connect(cycle(walks[number::connections]))
        return load

    async def _connect(self, work: Iterator[Iterator[bytes]]) -> None:
        self._work[await connect(self._port, self._replied)] = work

    async def run(self, seconds: float) -> Round:
        """Run one round."""
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
        """Replace connections that the server closed because they were idle during the round of the other server."""
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
