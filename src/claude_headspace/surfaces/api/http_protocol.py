"""Uvicorn's HTTP protocol, with limits, and with errors in the format of the API.

Rules
- A request head that exceeds the limit closes the connection.
- Trailers are ignored: uvicorn would add them to the headers, after these were checked.
- Number, idle time and memory of connections are limited (`inputs/receive/connection_limits.py`).
"""

import asyncio
import time
from typing import Any

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from claude_headspace.errors import BadRequest
from claude_headspace.inputs.receive.connection_limits import MEMORY, SLOW, Connection, ConnectionGuard

MAX_HEAD_BYTES = 64 * 1024

TOO_SLOW = BadRequest("too_slow", "The request took too long.", "Send it again, without pauses.", status=408)
TOO_BUSY = BadRequest("busy", "Too many requests at once.", "Try again in a moment.", status=503)
REFUSALS = {SLOW: TOO_SLOW, MEMORY: TOO_BUSY}
"""The errors for requests that are not complete, by the reason why they are dropped."""


class HttpProtocol(HttpToolsProtocol):
    """One connection."""

    _head_size = 0
    _in_head = False

    def __init__(self, guard: ConnectionGuard, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._guard = guard

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client connected."""
        super().connection_made(transport)
        peer = self.client[0] if self.client else ""
        self._connection = Connection(peer, self._drop, lambda: self.flow.read_paused)
        if not self._guard.add(self._connection):
            self._refuse(TOO_BUSY)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed."""
        self._guard.remove(self._connection)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Count the bytes of the request."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self._connection.receiving:
            self._connection.receive(len(data))
        if self._in_head:
            self._head_size += len(data)
            if self._head_size > MAX_HEAD_BYTES:
                self._in_head = False
                self.send_400_response("The request head is too long.")

    def on_message_begin(self) -> None:
        """A request head starts."""
        super().on_message_begin()
        self._connection.begin_request()
        self._in_head, self._head_size = True, 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer, which is ignored."""
        if self._in_head:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """The request head is complete."""
        self._in_head = False
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """A part of the body arrived."""
        self._guard.buffer(self._connection, len(body))
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is complete."""
        self._connection.complete_request()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The reply was sent."""
        self._guard.release(self._connection)
        self._connection.wait()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """The client does not read."""
        self._connection.blocked_since = time.monotonic()
        super().pause_writing()

    def resume_writing(self) -> None:
        """The client reads again."""
        self._connection.blocked_since = None
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:
        """Send the error and close the connection."""
        self._refuse(BadRequest("bad_http", f"This is not a valid HTTP request: {msg}", "Use an HTTP/1.1 client."))

    def _drop(self, reason: str) -> None:
        """Close the connection because of a limit. A request that is not complete gets the reason."""
        is_replied = self.cycle is not None and self.cycle.response_started
        if reason in REFUSALS and not is_replied:
            self._refuse(REFUSALS[reason])
        else:
            self.transport.close()

    def _refuse(self, refusal: BadRequest) -> None:
        body = msgspec.json.encode(refusal.body())
        head = b"content-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n" % len(body)
        self.transport.write(STATUS_LINE[refusal.status] + head + body)
        self.transport.close()
