"""A fast client of the event stream: llhttp parses the chunks, this module the lines."""

import asyncio
import time
from collections.abc import Callable
from typing import cast

import httptools

from bench.report import BenchError

Message = Callable[[str, bytes, float], None]


class EventStream(asyncio.Protocol):
    """One open stream. `on_message` is called with the event's name, its data and the time of arrival."""

    def __init__(self, on_message: Message) -> None:
        self._on_message = on_message
        self._parser = httptools.HttpResponseParser(self)
        self._opened: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._rest = b""
        self._event = "message"
        self._data: list[bytes] = []
        self._arrived = 0.0
        self._transport: asyncio.Transport | None = None
        self.ended = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio when the connection is open."""
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        """All data of one read has the same time of arrival."""
        self._arrived = time.perf_counter()
        self._parser.feed_data(data)

    def connection_lost(self, _error: Exception | None) -> None:
        """Called by asyncio when the stream has ended."""
        self.ended = True
        if not self._opened.done():
            self._opened.set_result(0)

    def on_headers_complete(self) -> None:
        """Called by llhttp when the status is known."""
        if not self._opened.done():
            self._opened.set_result(self._parser.get_status_code())

    def on_body(self, body: bytes) -> None:
        """A part of the stream, without the chunk headers."""
        *lines, self._rest = (self._rest + body).split(b"\n")
        for line in lines:
            self._line(line.rstrip(b"\r"))

    def _line(self, line: bytes) -> None:
        if not line:
            self._dispatch()
        elif line.startswith(b"data:"):
            self._data.append(line[5:].lstrip(b" "))
        elif line.startswith(b"event:"):
            self._event = line[6:].strip().decode()

    def _dispatch(self) -> None:
        if self._data:
            self._on_message(self._event, b"\n".join(self._data), self._arrived)
        self._event, self._data = "message", []

    async def open(self, request: bytes) -> None:
        """Send the request and wait until the stream is open."""
        assert self._transport is not None
        self._transport.write(request)
        status = await asyncio.wait_for(self._opened, timeout=5.0)
        if status != 200:
            raise BenchError(f"the event stream got {status or 'a closed connection'}")

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.close()


async def open_stream(port: int, path: str, token: str, on_message: Message) -> EventStream:
    """Open a stream on 127.0.0.1 with a read token."""
    loop = asyncio.get_running_loop()
    _, stream = await asyncio.wait_for(
        loop.create_connection(lambda: EventStream(on_message), "127.0.0.1", port), timeout=5.0
    )
    await stream.open(
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: text/event-stream\r\n"
        f"Authorization: Bearer {token}\r\n\r\n".encode()
    )
    return stream
