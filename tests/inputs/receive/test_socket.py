"""The socket: permissions, replies and limits."""

import asyncio
import json
import random
import socket
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.inputs.receive.connection_limits import ConnectionLimits
from claude_headspace.inputs.receive.socket import MAX_BATCH_REQUESTS, MAX_CONNECTIONS, RpcServer, socket_path

MAX_LINE_BYTES = 64 * 1024


async def run_command(cmd: str, args: msgspec.Raw, env: dict[str, str]) -> object:
    """A command that returns its arguments, and fails on request."""
    if cmd == "refuse":
        raise BadRequest("no", "No.", "Ask for something else.")
    if cmd == "break":
        raise ZeroDivisionError
    if cmd == "wait":
        await asyncio.sleep(random.random() / 100)
    return {"cmd": cmd, "args": args, "env": env}


def serve(
    tmp_path: Path, test: Callable[[Path, RpcServer], Awaitable[None]], limits: ConnectionLimits | None = None
) -> None:
    """Run a test with a running server."""

    async def main() -> None:
        path = tmp_path / "run" / "headspace.sock"
        server = RpcServer(path, run_command, MAX_LINE_BYTES, limits)
        await server.start()
        assert server.failure is None
        try:
            async with asyncio.timeout(60):
                await test(path, server)
        finally:
            await server.stop()
        assert server.connections == 0
        assert not path.exists()

    asyncio.run(main())


async def exchange(path: Path, sent: bytes, *, half_close: bool = True) -> list[Any]:
    """Send bytes, close the writing side, and read every reply until the server closes."""
    with socket_path(path) as name:
        reader, writer = await asyncio.open_unix_connection(name, limit=2**26)
    try:
        writer.write(sent)
        if half_close:
            writer.write_eof()
        received = await reader.read()
    finally:
        writer.close()
    return [json.loads(line) for line in received.splitlines()]


async def until(condition: Callable[[], bool]) -> None:
    """Poll until a condition holds."""
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


def request(cmd: str = "echo", args: object = None, **more: object) -> bytes:
    """One request."""
    return json.dumps({"cmd": cmd, "args": args or {}, **more}).encode()


def mode(path: Path) -> int:
    """The permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def code(reply: Any) -> str:
    """The code of an error, after checking the shape of the error."""
    assert reply["ok"] is False
    assert set(reply["error"]) == {"code", "message", "hint"}
    assert all(reply["error"].values())
    return str(reply["error"]["code"])


def test_only_its_user_can_open_it(tmp_path: Path) -> None:
    """The socket has mode 0600, its directory 0700."""

    async def test(path: Path, _server: RpcServer) -> None:
        assert [mode(each) for each in (path, path.parent)] == [0o600, 0o700]

    serve(tmp_path, test)


@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n \n"])
def test_a_client_that_closes_its_writing_side_gets_its_reply(tmp_path: Path, end: bytes) -> None:
    """With or without a newline after the last request."""

    async def test(path: Path, _server: RpcServer) -> None:
        assert await exchange(path, request("echo", {"a": 1}, env={"AGENT_ID": "x"}) + end) == [
            {"ok": True, "result": {"cmd": "echo", "args": {"a": 1}, "env": {"AGENT_ID": "x"}}}
        ]

    serve(tmp_path, test)


def test_replies_are_in_order_each_with_its_own_environment(tmp_path: Path) -> None:
    """Nothing is remembered from an earlier request."""

    async def test(path: Path, _server: RpcServer) -> None:
        lines = [request("wait", {"n": n}, env={"AGENT_ID": str(n)} if n % 2 else {}, id=n) for n in range(20)]
        replies = await exchange(path, b"\n".join(lines))
        assert [each["id"] for each in replies] == list(range(20))
        assert [each["result"]["env"] for each in replies] == [{"AGENT_ID": str(n)} if n % 2 else {} for n in range(20)]

    serve(tmp_path, test)


def test_a_list_of_requests_gets_a_list_of_replies(tmp_path: Path) -> None:
    """In order, including errors. A list that is too long is refused as a whole."""

    async def test(path: Path, _server: RpcServer) -> None:
        both = b"[" + request("echo", {"n": 1}) + b"," + request("refuse") + b',7,"x"]'
        [[first, second, third, fourth]] = await exchange(path, both)
        assert first["result"]["args"] == {"n": 1}
        assert [code(second), code(third), code(fourth)] == ["no", "bad_request", "bad_request"]
        [refused] = await exchange(path, b"[" + b",".join([request()] * (MAX_BATCH_REQUESTS + 1)) + b"]")
        assert code(refused) == "too_many"
        assert await exchange(path, b"[]") == [[]]

    serve(tmp_path, test)


def test_all_errors_have_the_same_shape(tmp_path: Path) -> None:
    """Refused, failed and invalid requests get code, message and hint, and the next line gets its reply."""

    async def test(path: Path, _server: RpcServer) -> None:
        lines = [request("refuse"), request("break"), b"{", b"3", b'"x"', b"{}", b'{"cmd": 5}', b"\xff\xfe", request()]
        *errors, last = await exchange(path, b"\n".join(lines))
        assert [code(each) for each in errors] == ["no", "bug"] + ["bad_request"] * 6
        assert last["ok"] is True

    serve(tmp_path, test)


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    """It gets the same reply as any other invalid request."""

    async def test(path: Path, _server: RpcServer) -> None:
        for deep in (b"[" * 30_000, b'{"cmd":"echo","env":{"a":' + b"[" * 30_000):
            [reply] = await exchange(path, deep)
            assert code(reply) == "bad_request"

    serve(tmp_path, test)


def test_a_line_that_is_too_long_gets_an_error(tmp_path: Path) -> None:
    """The sender sees it after sending megabytes, and the server keeps working."""

    async def test(path: Path, _server: RpcServer) -> None:
        [reply] = await exchange(path, request("echo", {"a": "x" * 3_000_000}) + b"\n")
        assert code(reply) == "too_large"
        assert (await exchange(path, request()))[0]["ok"] is True

    serve(tmp_path, test)


def test_the_number_of_connections_is_limited(tmp_path: Path) -> None:
    """Above the limit, the client that has been idle longest is disconnected: a further one gets its reply."""

    async def test(path: Path, server: RpcServer) -> None:
        idle = [await asyncio.open_unix_connection(path) for _ in range(MAX_CONNECTIONS)]
        await until(lambda: server.connections == MAX_CONNECTIONS)
        assert (await exchange(path, request()))[0]["ok"] is True
        assert await idle[0][0].read() == b""
        assert "closed because of a limit: 1 too many" in server.health()[2]
        idle[1][1].write(request() + b"\n")
        assert json.loads(await idle[1][0].readline())["ok"] is True
        for _, writer in idle:
            writer.close()
        await until(lambda: not server.connections)

    serve(tmp_path, test)


def test_a_line_that_is_not_completed_ends_the_connection(tmp_path: Path) -> None:
    """It is not run, although it is valid without its line end."""

    async def test(path: Path, _server: RpcServer) -> None:
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(request())
        assert await reader.read() == b""
        writer.close()

    serve(tmp_path, test, ConnectionLimits(request_seconds=0.1))


def test_lines_that_are_not_completed_have_a_limit_together(tmp_path: Path) -> None:
    """The one that stalled longest is dropped; a line that arrives completely is run."""

    async def test(path: Path, server: RpcServer) -> None:
        stalled = [await asyncio.open_unix_connection(path, limit=2**20) for _ in range(4)]
        for _, writer in stalled:
            writer.write(b"x" * 30_000)
            await writer.drain()
            await asyncio.sleep(0.05)
        assert await stalled[0][0].read() == b""
        assert "too much memory" in server.health()[2]
        assert (await exchange(path, request()))[0]["ok"] is True
        for _, writer in stalled:
            writer.close()

    serve(tmp_path, test, ConnectionLimits(max_buffered_bytes=100_000))


def test_a_client_may_disconnect_at_any_time(tmp_path: Path) -> None:
    """Before its request is complete, while it is processed, or without reading the reply."""

    async def test(path: Path, server: RpcServer) -> None:
        for sent in (b"", b'{"cmd"', request("wait") + b"\n", (request("echo", {"a": "x" * 9_000}) + b"\n") * 50):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(path))
                client.setblocking(False)
                if sent:
                    client.send(sent)
        await until(lambda: not server.connections)
        assert (await exchange(path, request()))[0]["ok"] is True

    serve(tmp_path, test)


def test_random_lines_get_one_reply_each(tmp_path: Path) -> None:
    """Fuzzing with broken, truncated and mixed requests."""
    rng = random.Random(6)
    pieces = [
        request(),
        b'{"cmd":',
        b"}",
        b"[",
        b"]",
        b"null",
        b"\x00",
        b"\xf0\x9f",
        b'"\\ud800"',
        b"1e999",
        b" ",
        b",",
    ]

    async def test(path: Path, _server: RpcServer) -> None:
        for _ in range(150):
            lines = [b"".join(rng.choices(pieces, k=rng.randint(1, 6))) for _ in range(rng.randint(1, 8))]
            replies = await exchange(path, b"\n".join(lines))
            assert len(replies) == sum(1 for line in lines if line.strip())
            for reply in replies:
                for one in reply if isinstance(reply, list) else [reply]:
                    assert one["ok"] is True or code(one)

    serve(tmp_path, test)


def test_a_socket_path_may_be_long(tmp_path: Path) -> None:
    """Systems accept about a hundred characters; the path of a home may be longer."""
    long = tmp_path / ("d" * 100)

    async def test(path: Path, _server: RpcServer) -> None:
        assert len(str(path)) > 108
        assert (await exchange(path, request()))[0]["ok"] is True

    if not Path("/proc/self/fd").is_dir():
        pytest.skip("needs /proc")
    serve(long, test)


def test_the_socket_of_a_killed_daemon_is_replaced(tmp_path: Path) -> None:
    """The next daemon creates it again."""
    path = tmp_path / "run" / "headspace.sock"
    path.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))

    async def test(path: Path, _server: RpcServer) -> None:
        assert (await exchange(path, request()))[0]["ok"] is True

    serve(tmp_path, test)


def test_a_directory_that_cannot_be_used_is_reported(tmp_path: Path) -> None:
    """The daemon runs without its socket and reports why."""
    (tmp_path / "run").write_text("a file")

    async def main() -> RpcServer:
        server = RpcServer(tmp_path / "run" / "headspace.sock", run_command, MAX_LINE_BYTES)
        await server.start()
        return server

    server = asyncio.run(main())
    assert not server.running
    assert "cannot listen" in (server.failure or "")
