"""The endpoint of `POST /hook/{event}`: reads the body, wraps it in an envelope, submits it and replies.

Plain ASGI without a router, because nearly all requests are hooks. Large bodies are read one at a time, so that many of
them do not fill the memory.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from typing import Any, NamedTuple, Protocol

import msgspec
import structlog
from starlette.types import ASGIApp, Receive, Scope, Send

from claude_headspace.clients import catalog
from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.inputs.receive.receiver import HookReceiver, event_name
from claude_headspace.ports import HookCounters, Received

log = structlog.get_logger(__name__)

Held = Callable[[Awaitable[None]], Awaitable[bytes]]
"""A reply that a person gives later. Its argument completes when the sender disconnects."""


class Reply(NamedTuple):
    """The reply to a hook, which may be empty, and whether its event is in the journal and not only in the spool."""

    content: bytes | Held
    is_stored: bool


ReplyToRefused = Callable[[str, str, str], bytes]
"""The reply to a hook that cannot be processed: its client, its name and the reason. Empty if there is none."""


class ReplyToHook(Protocol):
    """Processes a hook. The reply is meant for the client, or is a report for API users."""

    async def __call__(self, received: Received, *, reply_reaches_client: bool) -> Reply:
        """The reply."""


HOOK_PREFIX = "/hook/"
STATUS_PATH = "/hook/status"
"""Not a hook."""
TRUSTED = "headspace.trusted"
"""The scope key that authentication sets if the sender has the ingest token: it is the hook script."""
HOOK_REPLY_HEADER = (b"x-headspace-reply", b"hook")
"""The header with which the hook script asks for the reply to the client alone."""
CLIENT_HEADER = b"x-headspace-client"
"""The header with the client that runs the hook. Without it, Claude Code."""
FIRED_AT_HEADER = b"x-headspace-fired-at"
"""The header with the fire time. The last one counts."""
JSON = (b"content-type", b"application/json")
MAX_DISCARDED_BYTES = 64 * 1024 * 1024
"""How much of a body that is too large is read, so that the sender sees the error."""
SMALL_BODY_BYTES = 4 * 1024 * 1024
"""Larger bodies, and those without a length, are read one at a time."""
LARGE_BODY_SECONDS = 60.0
"""The time limit for reading a large body, because others wait for it."""


class HookEndpoint:
    """Receives hooks. Their name is the end of the path, unless `read_event` reads name and fire time from the body."""

    def __init__(
        self,
        receiver: HookReceiver,
        reply_to: ReplyToHook,
        max_body_bytes: int,
        counters: HookCounters,
        read_event: Callable[[bytes], tuple[str, float | None]] | None = None,
        reply_to_refused: ReplyToRefused = lambda _client, _name, _reason: b"",
    ) -> None:
        self._receiver = receiver
        self._reply_to = reply_to
        self._max_body_bytes = max_body_bytes
        self._counters = counters
        self._read_event = read_event
        self._reply_to_refused = reply_to_refused
        self._large_body = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Receive one hook and reply."""
        started = time.perf_counter()
        try:
            if scope["method"] != "POST":
                raise BadRequest("method_not_allowed", "Hooks are sent with POST.", "Use POST.", status=405)
            reply, stored = await self._process(scope, receive)
        except HeadspaceError as error:
            self._counters.refused(error.code)
            answer = self._refusal(scope, error.message) if isinstance(error, BadRequest) else b""
            await send_json(send, 200 if answer else error.status, answer or msgspec.json.encode(error.body()))
            return
        except Exception as error:
            if not (answer := self._refusal(scope, f"internal error ({type(error).__name__})")):
                raise
            log.exception("hook_failed")
            self._counters.refused("internal_error")
            await send_json(send, 200, answer)
            return
        if stored:
            self._counters.stored(stored, time.perf_counter() - started)
        if not isinstance(reply, bytes):
            reply = await reply(_disconnected(receive))
        if reply:
            await send_json(send, 200, reply)
        else:
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b""})

    def _refusal(self, scope: Scope, reason: str) -> bytes:
        """What the client gets instead of an error, if it waits for a decision: an error would let the call through."""
        if not scope.get(TRUSTED) or HOOK_REPLY_HEADER not in scope["headers"]:
            return b""
        headers = dict(scope["headers"])
        client = headers.get(CLIENT_HEADER, catalog.DEFAULT.encode()).decode("utf-8", "replace")
        try:
            name = event_name(scope["path"].removeprefix(HOOK_PREFIX), client)
        except BadRequest:
            return b""
        return self._reply_to_refused(client, name, reason)

    async def _process(self, scope: Scope, receive: Receive) -> tuple[bytes | Held, str]:
        """The reply, and the name of the event if it is stored in the journal."""
        headers = scope["headers"]
        length = next((int(value) for key, value in headers if key == b"content-length" and value.isdigit()), None)
        is_large = length is None or length > SMALL_BODY_BYTES
        async with self._large_body if is_large else nullcontext():
            try:
                async with asyncio.timeout(LARGE_BODY_SECONDS if is_large else None):
                    body = await read_body(receive, length or 0, self._max_body_bytes)
            except TimeoutError as error:
                raise BadRequest("too_slow", "The body took too long.", "Send it again.", status=408) from error
            event = scope["path"].removeprefix(HOOK_PREFIX)
            if self._read_event is not None:
                event, fired_at = self._read_event(body)
                headers = headers if fired_at is None else [(FIRED_AT_HEADER, str(fired_at).encode()), *headers]
            trusted = bool(scope.get(TRUSTED))
            received = await self._receiver.receive(event, body, headers, trusted=trusted)
            for_client = trusted and HOOK_REPLY_HEADER in headers
            reply = await self._reply_to(received, reply_reaches_client=for_client)
        return reply.content, received.envelope.name if reply.is_stored else ""


def dispatch(hooks: ASGIApp, by_path: Mapping[str, ASGIApp], others: ASGIApp) -> ASGIApp:
    """An application that passes hooks and these paths on without the router: they are nearly all requests."""

    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        app, path = others, scope.get("path", "")
        if scope["type"] == "http" and path != STATUS_PATH:
            app = hooks if path.startswith(HOOK_PREFIX) else by_path.get(path, others)
        await app(scope, receive, send)

    return choose


async def _disconnected(receive: Receive) -> None:
    """Wait until the sender disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def send_json(send: Send, status: int, body: bytes) -> None:
    """Reply with JSON."""
    headers = [JSON, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def read_body(receive: Receive, length: int, max_bytes: int) -> bytes:
    """The body, if it is not too large.

    A body that is too large is read to its end and discarded, up to a limit: a sender that is cut off never sees the
    error.
    """
    if length > max_bytes + MAX_DISCARDED_BYTES:
        raise _too_large(max_bytes)
    chunks: list[bytes] = []
    size, more = 0, True
    while more and size <= max_bytes + MAX_DISCARDED_BYTES:
        message: dict[str, Any] = dict(await receive())
        if message["type"] == "http.disconnect":
            raise BadRequest("body_incomplete", "The sender disconnected before the body ended.", "Send it again.")
        chunk, more = message.get("body", b""), message.get("more_body", False)
        size += len(chunk)
        if size <= max_bytes:
            chunks.append(chunk)
    if size > max_bytes:
        raise _too_large(max_bytes)
    return b"".join(chunks)


def _too_large(max_bytes: int) -> BadRequest:
    return BadRequest(
        "too_large",
        f"The body is larger than {max_bytes} bytes.",
        "Send less, or raise `max_body_bytes` in the configuration.",
        status=413,
    )
