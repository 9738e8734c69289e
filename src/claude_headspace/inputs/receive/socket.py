r"""The Unix socket: one JSON object per line in, one per line out. Only its user can open it.

    {"cmd": "hooks.preToolUse", "args": {…}, "env": {"AGENT_ID": "main:0.1"}}
    {"ok": true, "result": {…}}    or    {"ok": false, "error": {"code": …, "message": …, "hint": …}}

Rules
- Every line gets a reply, in order, whatever it contains. A list of requests gets a list of replies. An `id` is
  returned.
- A client that closes its writing side after its last request, with or without a newline, still gets the reply.
- Each request names its sender (`env`). Nothing is remembered from an earlier request.
- The socket has mode 0600, its directory 0700.
- Line length, list length, number of connections, idle time and memory are limited (`connection_limits.py`).
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import structlog

from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.inputs.receive.connection_limits import Connection, ConnectionGuard, ConnectionLimits

log = structlog.get_logger(__name__)

Env = dict[str, str]
Command = Callable[[str, msgspec.Raw, Env], Awaitable[object]]
"""Runs a request: command name, arguments as JSON, environment."""

MAX_PATH_BYTES = 100
"""The longest socket path that every system accepts."""
MAX_CONNECTIONS = 64
MAX_BATCH_REQUESTS = 100
"""The limit for one list of requests."""
IDLE_SECONDS = 120.0
"""How long a connection may be idle. It may be open for a whole session, and only the user can connect."""
CHUNK_BYTES = 65_536
IO_TIMEOUT_SECONDS = 10.0
MAX_DISCARDED_BYTES = 32 * 1024 * 1024
"""How much of a line that is too long is read, so that the sender sees the error."""

EMPTY = msgspec.Raw(b"{}")


class Request(msgspec.Struct):
    """One request."""

    cmd: str
    args: msgspec.Raw = EMPTY
    env: dict[str, Any] = {}
    id: Any = None


class LineTooLong(Exception):
    """A line exceeds the limit."""

    def __init__(self, *, is_complete: bool) -> None:
        super().__init__()
        self.is_complete = is_complete


_request = msgspec.json.Decoder(Request)
_requests = msgspec.json.Decoder(list[msgspec.Raw])
_BUSY = HeadspaceError("busy", "Too many clients are connected.", "Close some, or try again in a moment.")
_INTERNAL_ERROR = HeadspaceError("bug", "Internal error.", "See `headspace logs`, and report it.")
_JSON = 'Send one JSON object per line: {"cmd": …, "args": {…}, "env": {…}}.'


class RpcServer:
    """Listens on the socket and runs requests."""

    def __init__(
        self, path: Path, command: Command, max_line_bytes: int, limits: ConnectionLimits | None = None
    ) -> None:
        self._guard = ConnectionGuard(
            msgspec.structs.replace(
                limits or ConnectionLimits(),
                max_connections=MAX_CONNECTIONS,
                max_per_peer=MAX_CONNECTIONS,
                idle_seconds=IDLE_SECONDS,
            )
        )
        self._path = path
        self._command = command
        self._max_line_bytes = max_line_bytes
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self.failure: str | None = None

    @property
    def running(self) -> bool:
        """Whether it listens."""
        return self._server is not None and self._server.is_serving()

    @property
    def connections(self) -> int:
        """The number of connected clients."""
        return len(self._connections)

    def health(self) -> tuple[bool, str | None, str]:
        """Whether it listens, why it does not, and how many clients are connected."""
        return self.running, self.failure, self._guard.describe()

    async def start(self) -> None:
        """Start listening. Replaces the socket of an earlier daemon; the lock proves that it is not running."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._path.unlink(missing_ok=True)
            with socket_path(self._path) as path, _private_umask():
                self._server = await asyncio.start_unix_server(self._handle_connection, path, limit=CHUNK_BYTES)
            self._path.chmod(0o600)
        except OSError as error:
            self.failure = f"cannot listen on {self._path}: {error}"
            log.warning("socket_not_available", path=str(self._path), error=str(error))

    async def stop(self) -> None:
        """Stop listening, and close all connections."""
        if self._server is not None:
            self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        self._path.unlink(missing_ok=True)

    async def _handle_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        connection = Connection("", lambda _reason: writer.close())
        try:
            if self._guard.add(connection):
                await self._serve(connection, reader, writer)
            else:
                await _write(writer, _error_reply(_BUSY))
        except (OSError, TimeoutError, asyncio.CancelledError):
            pass  # the client disconnected, or the daemon stops
        finally:
            self._connections.discard(task)
            self._guard.remove(connection)
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _serve(self, connection: Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async for line in self._lines(connection, reader):
                await _write(writer, await self._run(line))
                connection.wait()
        except LineTooLong as error:
            connection.complete_request()
            if not error.is_complete:
                await _discard_line(reader)
            message = f"The line is longer than {self._max_line_bytes} bytes."
            hint = "Send less, or raise `max_body_bytes`."
            await _write(writer, _error_reply(BadRequest("too_large", message, hint, status=413)))

    async def _lines(self, connection: Connection, reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
        """The lines that are not blank. The last one needs no newline."""
        rest = bytearray()
        while chunk := await reader.read(CHUNK_BYTES):
            if not rest:
                connection.begin_request()
            connection.receive(len(chunk))
            self._guard.buffer(connection, len(chunk))
            rest += chunk
            if b"\n" in chunk:
                *lines, rest = rest.split(b"\n")
                for line in filter(bytearray.strip, lines):
                    if len(line) > self._max_line_bytes:
                        raise LineTooLong(is_complete=True)
                    connection.complete_request()
                    yield bytes(line)
                connection.receiving = False
                if rest:
                    connection.begin_request()
                self._guard.release(connection)
                self._guard.buffer(connection, len(rest))
            if len(rest) > self._max_line_bytes:
                raise LineTooLong(is_complete=False)
        if rest.strip() and not connection.is_closed:
            connection.complete_request()
            yield bytes(rest)

    async def _run(self, line: bytes) -> bytes:
        if line.lstrip()[:1] != b"[":
            return await self._run_one(line)
        try:
            requests = _requests.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
            return _error_reply(_not_json(error))
        if len(requests) > MAX_BATCH_REQUESTS:
            hint = f"Send at most {MAX_BATCH_REQUESTS}."
            return _error_reply(BadRequest("too_many", f"{len(requests)} requests in one list.", hint))
        return b"[" + b",".join([await self._run_one(bytes(each)) for each in requests]) + b"]"

    async def _run_one(self, line: bytes) -> bytes:
        try:
            request = _request.decode(line)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
            return _error_reply(_not_json(error))
        env = {name: value for name, value in request.env.items() if isinstance(value, str)}
        try:
            reply: dict[str, Any] = {"ok": True, "result": await self._command(request.cmd, request.args, env)}
        except HeadspaceError as error:
            reply = {"ok": False, **error.body()}
        except Exception:
            log.exception("command_failed", cmd=request.cmd[:100])
            reply = {"ok": False, **_INTERNAL_ERROR.body()}
        return msgspec.json.encode(reply if request.id is None else {**reply, "id": request.id})


async def _discard_line(reader: asyncio.StreamReader) -> None:
    """Read and discard the rest of a line that is too long, up to a limit."""
    discarded = 0
    while discarded < MAX_DISCARDED_BYTES:
        chunk = await asyncio.wait_for(reader.read(65_536), IO_TIMEOUT_SECONDS)
        discarded += len(chunk)
        if not chunk or b"\n" in chunk:
            return


async def _write(writer: asyncio.StreamWriter, reply: bytes) -> None:
    writer.write(reply + b"\n")
    await asyncio.wait_for(writer.drain(), IO_TIMEOUT_SECONDS)


@contextlib.contextmanager
def socket_path(path: Path) -> Iterator[str]:
    """A path of the socket that the system accepts. A path that is too long goes through an open directory."""
    if len(os.fsencode(path)) <= MAX_PATH_BYTES or not Path("/proc/self/fd").is_dir():
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


@contextlib.contextmanager
def _private_umask() -> Iterator[None]:
    """Files that are created here are private from the start."""
    before = os.umask(0o177)
    try:
        yield
    finally:
        os.umask(before)


def _error_reply(error: HeadspaceError) -> bytes:
    return msgspec.json.encode({"ok": False, **error.body()})


def _not_json(error: Exception) -> BadRequest:
    reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
    return BadRequest("bad_request", f"The request is not valid: {reason}.", _JSON)
