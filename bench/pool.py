"""A few connections that many senders share, for requests at a given rate."""

import asyncio
from collections import deque
from collections.abc import Callable

from bench.report import BenchError
from bench.wire import Connection, connect

Answer = Callable[[int, bytes], None]


class Pool:
    """Sends on a free connection. Requests without a free connection are queued."""

    def __init__(self) -> None:
        self._all: list[Connection] = []
        self._free: deque[Connection] = deque()
        self._queue: deque[tuple[bytes, Answer]] = deque()
        self._waiting: dict[Connection, Answer] = {}

    @classmethod
    async def connected(cls, port: int, connections: int) -> "Pool":
        """Open the connections."""
        pool = cls()
        pool._all = [await connect(port, pool._replied) for _ in range(connections)]
        pool._free.extend(pool._all)
        return pool

    def send(self, request: bytes, answer: Answer) -> None:
        """Send now, or as soon as a connection is free; `answer` is called with status and body."""
        if self._free:
            self._send(self._free.popleft(), request, answer)
        else:
            self._queue.append((request, answer))

    async def ask(self, request: bytes) -> bytes:
        """Send and wait for the body of a 200."""
        reply: asyncio.Future[tuple[int, bytes]] = asyncio.get_running_loop().create_future()
        self.send(request, lambda status, body: None if reply.done() else reply.set_result((status, body)))
        status, body = await asyncio.wait_for(reply, timeout=30.0)
        if status != 200:
            raise BenchError(f"a hook got the status {status}: {body[:200].decode(errors='replace')}")
        return body

    def _send(self, connection: Connection, request: bytes, answer: Answer) -> None:
        self._waiting[connection] = answer
        connection.send(request)

    def _replied(self, connection: Connection, status: int, body: bytes) -> None:
        answer = self._waiting.pop(connection)
        if self._queue and not connection.broken:
            self._send(connection, *self._queue.popleft())
        elif not connection.broken:
            self._free.append(connection)
        answer(status, body)

    def close(self) -> None:
        """Close every connection."""
        for connection in self._all:
            connection.close()
