"""Uvicorn's HTTP, with two additions for what never becomes a request.

It is refused in our one shape of errors, and a head without end is cut off instead of being collected.
"""

import msgspec
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from claude_headspace.errors import BadRequest

LONGEST_HEAD = 64 * 1024


class Protocol(HttpToolsProtocol):
    """One connection."""

    _head_size = 0
    _in_head = False

    def data_received(self, data: bytes) -> None:
        """Bytes arrived."""
        super().data_received(data)
        if self._in_head:
            self._head_size += len(data)
            if self._head_size > LONGEST_HEAD:
                self._in_head = False
                self.send_400_response("Its head is too long.")

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._in_head, self._head_size = True, 0

    def on_headers_complete(self) -> None:
        """Its head is here."""
        self._in_head = False
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Say what is wrong, and hang up."""
        refusal = BadRequest("bad_http", f"This is not HTTP as Headspace speaks it: {msg}", "Use an HTTP/1.1 client.")
        body = msgspec.json.encode(refusal.body())
        head = b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: %d\r\n" % len(body)
        self.transport.write(head + b"connection: close\r\n\r\n" + body)
        self.transport.close()
