"""Uvicorn's HTTP protocol, with two additions for malformed requests.

They are refused with the JSON error of the API, and a request head that exceeds the limit closes the connection.
"""

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from claude_headspace.errors import BadRequest

MAX_HEAD_BYTES = 64 * 1024


class HttpProtocol(HttpToolsProtocol):
    """One connection."""

    _head_size = 0
    _in_head = False

    def data_received(self, data: bytes) -> None:
        """Count the bytes of the request head."""
        super().data_received(data)
        if self._in_head:
            self._head_size += len(data)
            if self._head_size > MAX_HEAD_BYTES:
                self._in_head = False
                self.send_400_response("The request head is too long.")

    def on_message_begin(self) -> None:
        """A request head starts."""
        super().on_message_begin()
        self._in_head, self._head_size = True, 0

    def on_headers_complete(self) -> None:
        """The request head is complete."""
        self._in_head = False
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Send the error and close the connection."""
        refusal = BadRequest("bad_http", f"This is not a valid HTTP request: {msg}", "Use an HTTP/1.1 client.")
        body = msgspec.json.encode(refusal.body())
        head = b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: %d\r\n" % len(body)
        self.transport.write(head + b"connection: close\r\n\r\n" + body)
        self.transport.close()
