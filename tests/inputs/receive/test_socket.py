"""The socket: who may open it, what is answered to what, and that nothing makes it hang or grow."""

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
from claude_headspace.inputs.receive.socket import MAX_BATCH_REQUESTS, MAX_CONNECTIONS, RpcServer, socket_path

LONGEST = 64 * 1024


async def answer(cmd: str, args: msgspec.Raw, env: dict[str, str]) -> object:
    """A command that tells what it was given, and fails when told to."""
    if cmd == "refuse":
        raise BadRequest("no", "No.", "Ask for something else.")
    if cmd == "break":
        raise ZeroDivisionError
    if cmd == "wait":
        await asyncio.sleep(random.random() / 100)
    return {"cmd": cmd, "args": args, "env": env}


def serve(tmp_path: Path, play: Callable[[Path, RpcServer], Awaitable[None]]) -> None:
    """Play with a running server."""

    async def main() -> None:
        path = tmp_path / "run" / "headspace.sock"
        server = RpcServer(path, answer, LONGEST)
        await server.start()
        assert server.failure is None
        try:
            async with asyncio.timeout(60):
                await play(path, server)
        finally:
            await server.stop()
        assert server.connections == 0
        assert not path.exists()

    asyncio.run(main())


async def exchange(path: Path, sent: bytes, *, half_close: bool = True) -> list[Any]:
    """Send bytes, close the writing side, and read every answer until the server closes."""
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
    """Wait for something that tells nobody when it happens."""
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


def request(cmd: str = "echo", args: object = None, **more: object) -> bytes:
    """One request."""
    return json.dumps({"cmd": cmd, "args": args or {}, **more}).encode()


def mode(path: Path) -> int:
    """Who may do what with a file."""
    return stat.S_IMODE(path.stat().st_mode)


def code(answered: Any) -> str:
    """The code of an error, in the one shape that errors have."""
    assert answered["ok"] is False
    assert set(answered["error"]) == {"code", "message", "hint"}
    assert all(answered["error"].values())
    return str(answered["error"]["code"])


def test_only_its_user_can_open_it(tmp_path: Path) -> None:
    """The socket is 0600 in a directory that is 0700."""

    async def play(path: Path, _server: RpcServer) -> None:
        assert [mode(each) for each in (path, path.parent)] == [0o600, 0o700]

    serve(tmp_path, play)


@pytest.mark.parametrize("end", [b"", b"\n", b"\n\n \n"])
def test_a_client_that_half_closes_gets_its_answer(tmp_path: Path, end: bytes) -> None:
    """With or without a newline behind the last request."""

    async def play(path: Path, _server: RpcServer) -> None:
        assert await exchange(path, request("echo", {"a": 1}, env={"AGENT_ID": "x"}) + end) == [
            {"ok": True, "result": {"cmd": "echo", "args": {"a": 1}, "env": {"AGENT_ID": "x"}}}
        ]

    serve(tmp_path, play)


def test_requests_are_answered_in_order_each_with_its_own_environment(tmp_path: Path) -> None:
    """Nothing of a request is left over for the next one."""

    async def play(path: Path, _server: RpcServer) -> None:
        lines = [request("wait", {"n": n}, env={"AGENT_ID": str(n)} if n % 2 else {}, id=n) for n in range(20)]
        answers = await exchange(path, b"\n".join(lines))
        assert [each["id"] for each in answers] == list(range(20))
        assert [each["result"]["env"] for each in answers] == [{"AGENT_ID": str(n)} if n % 2 else {} for n in range(20)]

    serve(tmp_path, play)


def test_a_list_is_answered_with_a_list(tmp_path: Path) -> None:
    """In order, errors among them; one that is too long is refused as a whole."""

    async def play(path: Path, _server: RpcServer) -> None:
        both = b"[" + request("echo", {"n": 1}) + b"," + request("refuse") + b',7,"x"]'
        [[first, second, third, fourth]] = await exchange(path, both)
        assert first["result"]["args"] == {"n": 1}
        assert [code(second), code(third), code(fourth)] == ["no", "bad_request", "bad_request"]
        [refused] = await exchange(path, b"[" + b",".join([request()] * (MAX_BATCH_REQUESTS + 1)) + b"]")
        assert code(refused) == "too_many"
        assert await exchange(path, b"[]") == [[]]

    serve(tmp_path, play)


def test_every_failure_has_one_shape(tmp_path: Path) -> None:
    """Refusals, mistakes of ours, nonsense: a code, a message, a hint, and the next line is answered."""

    async def play(path: Path, _server: RpcServer) -> None:
        lines = [request("refuse"), request("break"), b"{", b"3", b'"x"', b"{}", b'{"cmd": 5}', b"\xff\xfe", request()]
        *errors, last = await exchange(path, b"\n".join(lines))
        assert [code(each) for each in errors] == ["no", "bug"] + ["bad_request"] * 6
        assert last["ok"] is True

    serve(tmp_path, play)


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    """A line that no parser survives is answered like any other nonsense."""

    async def play(path: Path, _server: RpcServer) -> None:
        for deep in (b"[" * 30_000, b'{"cmd":"echo","env":{"a":' + b"[" * 30_000):
            [answered] = await exchange(path, deep)
            assert code(answered) == "bad_request"

    serve(tmp_path, play)


def test_a_line_that_is_too_long_is_told_so(tmp_path: Path) -> None:
    """Its sender sees why, although it has sent megabytes; the server is well."""

    async def play(path: Path, _server: RpcServer) -> None:
        [answered] = await exchange(path, request("echo", {"a": "x" * 3_000_000}) + b"\n")
        assert code(answered) == "too_large"
        assert (await exchange(path, request()))[0]["ok"] is True

    serve(tmp_path, play)


def test_connections_are_bounded(tmp_path: Path) -> None:
    """Who comes when all places are taken is told so; when they are free again there is room."""

    async def play(path: Path, server: RpcServer) -> None:
        idle = [await asyncio.open_unix_connection(path) for _ in range(MAX_CONNECTIONS)]
        await until(lambda: server.connections == MAX_CONNECTIONS)
        [refused] = await exchange(path, request())
        assert code(refused) == "busy"
        for _, writer in idle:
            writer.close()
        await until(lambda: not server.connections)
        assert (await exchange(path, request()))[0]["ok"] is True

    serve(tmp_path, play)


def test_a_client_that_vanishes_leaves_nothing_behind(tmp_path: Path) -> None:
    """Before its request is whole, while it is answered, without reading."""

    async def play(path: Path, server: RpcServer) -> None:
        for sent in (b"", b'{"cmd"', request("wait") + b"\n", (request("echo", {"a": "x" * 9_000}) + b"\n") * 50):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(path))
                client.setblocking(False)
                if sent:
                    client.send(sent)
        await until(lambda: not server.connections)
        assert (await exchange(path, request()))[0]["ok"] is True

    serve(tmp_path, play)


def test_whatever_is_sent_is_answered_line_by_line(tmp_path: Path) -> None:
    """Fuzz: broken, cut and shuffled requests, each line with one answer in the one shape."""
    chance = random.Random(6)
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

    async def play(path: Path, _server: RpcServer) -> None:
        for _ in range(150):
            lines = [b"".join(chance.choices(pieces, k=chance.randint(1, 6))) for _ in range(chance.randint(1, 8))]
            answers = await exchange(path, b"\n".join(lines))
            assert len(answers) == sum(1 for line in lines if line.strip())
            for answered in answers:
                for one in answered if isinstance(answered, list) else [answered]:
                    assert one["ok"] is True or code(one)

    serve(tmp_path, play)


def test_a_path_that_is_too_long_for_a_socket_is_reached_all_the_same(tmp_path: Path) -> None:
    """Systems take some hundred characters; a home may have more."""
    long = tmp_path / ("d" * 100)

    async def play(path: Path, _server: RpcServer) -> None:
        assert len(str(path)) > 108
        assert (await exchange(path, request()))[0]["ok"] is True

    if not Path("/proc/self/fd").is_dir():
        pytest.skip("only where /proc is")
    serve(long, play)


def test_a_socket_that_was_left_behind_is_replaced(tmp_path: Path) -> None:
    """A daemon that was killed leaves its socket; the next one takes its place."""
    path = tmp_path / "run" / "headspace.sock"
    path.parent.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(path))

    async def play(path: Path, _server: RpcServer) -> None:
        assert (await exchange(path, request()))[0]["ok"] is True

    serve(tmp_path, play)


def test_a_place_that_cannot_be_used_is_said_and_stops_nothing(tmp_path: Path) -> None:
    """The daemon goes on without its socket, and tells why."""
    (tmp_path / "run").write_text("a file")

    async def main() -> RpcServer:
        server = RpcServer(tmp_path / "run" / "headspace.sock", answer, LONGEST)
        await server.start()
        return server

    server = asyncio.run(main())
    assert not server.running
    assert "cannot listen" in (server.failure or "")
