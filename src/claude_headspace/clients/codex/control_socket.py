"""A connection to the control socket of Codex's shared daemon: its threads and open approvals.

    $CODEX_HOME/app-server-control/app-server-control.sock    WebSocket over a Unix socket

Rules
- A thread is subscribed to only while it shows an approval dialog: a subscriber keeps a thread from being closed.
- Requests that are not approvals are left to the terminal, which gets them, too.
- Everything that is known is forgotten when the connection ends.
"""

import asyncio
import contextlib
import os
import socket
import struct
from collections.abc import Callable, Coroutine
from itertools import count
from pathlib import Path
from typing import Any, Protocol

import msgspec
import structlog

from claude_headspace.clients.codex.control_protocol import (
    CLOSED,
    Approval,
    Message,
    RequestId,
    Status,
    Thread,
    read_approval,
    read_message,
    read_status,
    read_thread,
    write_decision,
    write_notification,
    write_request,
)

log = structlog.get_logger(__name__)

CLIENT_INFO = {"name": "headspace", "title": "Headspace", "version": "1"}
RESPONSE_SECONDS = 10.0
MAX_MESSAGE_BYTES = 64 * 1024 * 1024

OnThread = Callable[["ControlSocket", Thread, int], None]
"""Called with a socket, its thread that started, changed or closed, and when, in milliseconds; 0: now."""

OnAnswered = Callable[["ControlSocket", Approval, int], None]
"""Called with an approval that was answered in the terminal, and when, in milliseconds; 0: now."""


def socket_path(config_dir: Path) -> Path:
    """The control socket of the daemon with this config dir: a link to a path that is short enough for a socket."""
    return config_dir / "app-server-control" / "app-server-control.sock"


class Connection(Protocol):
    """A WebSocket."""

    async def send(self, message: str) -> None:
        """Send a text."""


class ControlSocket:
    """One daemon of Codex."""

    def __init__(
        self, path: Path, on_thread: OnThread, on_answered: OnAnswered, on_approvals: Callable[[], None]
    ) -> None:
        self.path = path
        self.pid: int | None = None
        """The process of the daemon."""
        self.threads: dict[str, Thread] = {}
        self.loaded = asyncio.Event()
        """Set while all threads that the daemon has loaded are known."""
        self._on_thread = on_thread
        self._on_answered = on_answered
        self._on_approvals = on_approvals
        self._approvals: dict[RequestId, Approval] = {}
        self._resolved: dict[RequestId, asyncio.Event] = {}
        self._subscribed: set[str] = set()
        self._connection: Connection | None = None
        self._ids = count(1)
        self._responses: dict[RequestId, asyncio.Future[Message]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection."""
        return self._connection is not None

    def approvals_of(self, thread_id: str) -> list[Approval]:
        """The open approvals of a thread."""
        return [each for each in self._approvals.values() if each.thread_id == thread_id]

    async def run(self) -> None:
        """Connect, and read until the connection ends. Raises `OSError` if nobody listens."""
        from websockets.asyncio.client import unix_connect
        from websockets.exceptions import WebSocketException

        try:
            address = await asyncio.to_thread(os.path.realpath, self.path)
            async with unix_connect(
                address, uri="ws://localhost/", compression=None, max_size=MAX_MESSAGE_BYTES
            ) as connection:
                self._connection = connection
                self.pid = _peer_pid(connection.transport.get_extra_info("socket"))
                self._start(self._load())
                async for text in connection:
                    self._receive(text)
        except WebSocketException as error:
            raise OSError(str(error)) from error
        finally:
            await self._forget()

    async def answer(self, approval: Approval, decision: object) -> None:
        """Answer an approval, and wait until the daemon has applied it. Raises `OSError` if that is not possible."""
        if approval.request_id not in self._approvals:
            raise OSError("the dialog is closed")
        resolved = self._resolved.setdefault(approval.request_id, asyncio.Event())
        await self._send(write_decision(approval.request_id, decision))
        await resolved.wait()
        if not self.is_connected:
            raise OSError("the connection ended")

    async def steer(self, approval: Approval, text: str) -> None:
        """Give the model a text in the turn of an approval."""
        said = [{"type": "text", "text": text}]
        await self._request("turn/steer", threadId=approval.thread_id, expectedTurnId=approval.turn_id, input=said)

    # --- requests ---

    async def _load(self) -> None:
        """Introduce Headspace, and read the threads that are loaded."""
        await self._request("initialize", clientInfo=CLIENT_INFO)
        await self._send(write_notification("initialized"))
        listed = (await self._request("thread/loaded/list")).result
        for thread_id in listed.get("data", []) if isinstance(listed, dict) else []:
            await self._read(str(thread_id))
        self.loaded.set()

    async def _read(self, thread_id: str) -> None:
        found = (await self._request("thread/read", threadId=thread_id)).result
        thread = read_thread(found.get("thread")) if isinstance(found, dict) else None
        if thread is not None:
            self._update(thread)

    async def _subscribe(self, thread_id: str) -> None:
        if thread_id not in self._subscribed:
            self._subscribed.add(thread_id)
            await self._request("thread/resume", threadId=thread_id, excludeTurns=True)

    async def _unsubscribe(self, thread_id: str) -> None:
        if thread_id in self._subscribed:
            self._subscribed.discard(thread_id)
            await self._request("thread/unsubscribe", threadId=thread_id)

    async def _request(self, method: str, **params: Any) -> Message:
        """Send a request. Returns the response. Raises `OSError` without a connection."""
        request_id = f"headspace-{next(self._ids)}"
        response: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self._responses[request_id] = response
        try:
            await self._send(write_request(request_id, method, params))
            async with asyncio.timeout(RESPONSE_SECONDS):
                return await response
        finally:
            del self._responses[request_id]

    async def _send(self, text: str) -> None:
        if self._connection is None:
            raise OSError("there is no connection")
        try:
            await self._connection.send(text)
        except Exception as error:  # the library has its own errors for a connection that ended
            raise OSError(str(error)) from error

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(self._logged(work), name="codex control")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _logged(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except (OSError, TimeoutError) as error:
            log.warning("codex_request_failed", reason=str(error) or type(error).__name__)

    # --- messages ---

    def _receive(self, text: str | bytes) -> None:
        message = read_message(text)
        if message is None:
            return
        if not message.method:
            response = self._responses.get(message.id) if message.id is not None else None
            if response is not None and not response.done():
                response.set_result(message)
        elif (approval := read_approval(message)) is not None:
            self._approvals[approval.request_id] = approval
            self._on_approvals()
        elif message.method in _NOTIFICATIONS:
            _NOTIFICATIONS[message.method](self, message)

    def _thread_started(self, message: Message) -> None:
        if (thread := read_thread(message.param("thread"))) is not None:
            self._update(thread, message.emitted_at_ms)

    def _status_changed(self, message: Message) -> None:
        thread_id, status = str(message.param("threadId")), read_status(message.param("status"))
        if (known := self.threads.get(thread_id)) is not None:
            self._update(msgspec.structs.replace(known, status=status), message.emitted_at_ms)
        else:
            self._start(self._read(thread_id))

    def _thread_closed(self, message: Message) -> None:
        thread_id = str(message.param("threadId"))
        self._subscribed.discard(thread_id)
        if (known := self.threads.pop(thread_id, None)) is not None:
            self._on_thread(self, msgspec.structs.replace(known, status=Status(CLOSED)), message.emitted_at_ms)

    def _request_resolved(self, message: Message) -> None:
        request_id = message.param("requestId")
        approval = self._approvals.pop(request_id, None)
        if (resolved := self._resolved.pop(request_id, None)) is not None:
            resolved.set()
        elif approval is not None:
            self._on_answered(self, approval, message.emitted_at_ms)
        self._on_approvals()

    def _update(self, thread: Thread, at: int = 0) -> None:
        self.threads[thread.id] = thread
        if thread.ephemeral:
            return
        if thread.waits_for_approval:
            self._start(self._subscribe(thread.id))
        elif thread.id in self._subscribed:
            self._start(self._unsubscribe(thread.id))
        self._on_thread(self, thread, at)

    async def _forget(self) -> None:
        """The connection ended."""
        self._connection = None
        self.loaded.clear()
        self.threads.clear()
        self._subscribed.clear()
        self._approvals.clear()
        for resolved in self._resolved.values():
            resolved.set()
        self._resolved.clear()
        for task in self._tasks:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*self._tasks, return_exceptions=True)
        self._on_approvals()


_NOTIFICATIONS: dict[str, Callable[[ControlSocket, Message], None]] = {
    "thread/started": ControlSocket._thread_started,
    "thread/status/changed": ControlSocket._status_changed,
    "thread/closed": ControlSocket._thread_closed,
    "serverRequest/resolved": ControlSocket._request_resolved,
}
"""The notifications that count."""


def _peer_pid(connected: socket.socket) -> int | None:
    """The process at the other end; None if the system does not tell."""
    if hasattr(socket, "SO_PEERCRED"):
        return int(struct.unpack("3i", connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0])
    if hasattr(socket, "LOCAL_PEERCRED"):  # macOS: level SOL_LOCAL (0), option LOCAL_PEERPID (2)
        return int(struct.unpack("i", connected.getsockopt(0, 2, 4))[0])
    return None
