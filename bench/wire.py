"""A minimal HTTP client: sends complete requests, returns status and body.

For servers that reply with a Content-Length on a persistent connection, with one request in flight. It parses only the
status line and that header, so that the generator costs far less than the server.
"""

import asyncio
from collections.abc import Callable
from typing import cast

Reply = Callable[["Connection", int, bytes], None]

LOST = 0
"""The status of a request whose connection broke."""


class Connection(asyncio.Protocol):
    """One keep-alive connection. `on_reply` is called with status and body, or once with `LOST` if it breaks."""

    def __init__(self, on_reply: Reply) -> None:
        self.on_reply = on_reply
        self.sent_at = 0.0
        self.broken = False
        self._busy = False
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio when the connection is open."""
        self._transport = cast(asyncio.Transport, transport)

    def send(self, request: bytes) -> None:
        """Write a complete request; `on_reply` gets its reply."""
        self._busy = True
        assert self._transport is not None
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Collect data until the reply is complete, then pass it to `on_reply`."""
        if self._buffer:
            data = self._buffer + data
        head = data.find(b"\r\n\r\n")
        end = head + 4 + _content_length(data[:head]) if head >= 0 else len(data) + 1
        if len(data) < end:
            self._buffer = data
            return
        self._buffer = b""
        self._busy = False
        self.on_reply(self, int(data[9:12]), data[head + 4 : end])

    def connection_lost(self, _error: Exception | None) -> None:
        """Called by asyncio when the connection broke or was closed."""
        self.broken = True
        if self._busy:
            self._busy = False
            self.on_reply(self, LOST, b"")

    def close(self) -> None:
        """Close the connection."""
        self._busy = False
        if self._transport is not None:
            self._transport.close()


def _content_length(head: bytes) -> int:
    at = head.lower().find(b"\r\ncontent-length:")
    if at < 0:
        raise ValueError("a reply without Content-Length")
    line_end = head.find(b"\r\n", at + 17)
    return int(head[at + 17 : line_end if line_end >= 0 else None])


async def connect(port: int, on_reply: Reply) -> Connection:
    """Open one connection to a port on 127.0.0.1."""
    loop = asyncio.get_running_loop()
    _, connection = await asyncio.wait_for(
        loop.create_connection(lambda: Connection(on_reply), "127.0.0.1", port), timeout=5.0
    )
    return connection
