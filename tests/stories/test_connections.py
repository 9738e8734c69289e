"""Connections: idle, slow and half-sent ones end soon, and none of them keeps hooks out or fills the memory."""

import contextlib
import re
import resource
import socket
from collections.abc import Iterator
from pathlib import Path

from tests.support import RunningDaemon, running_daemon, wait_until

FLOOD = 1_100
HEAD = b"POST /hook/stop HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
EVENT = {"session_id": "one", "cwd": "/tmp"}


@contextlib.contextmanager
def connections(daemon: RunningDaemon, number: int, source: str = "127.0.0.1") -> Iterator[list[socket.socket]]:
    """Connections that send nothing."""
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(socket.create_connection(("127.0.0.1", daemon.port), 30, (source, 0)))
            for _ in range(number)
        ]


def received(connection: socket.socket) -> bytes:
    """Everything that the daemon sends until it closes the connection."""
    found = b""
    with contextlib.suppress(ConnectionResetError):
        while chunk := connection.recv(65_536):
            found += chunk
    return found


def is_open(connection: socket.socket) -> bool:
    """Whether the daemon has not closed the connection."""
    connection.setblocking(False)
    try:
        return connection.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionResetError:
        return False


def detail(daemon: RunningDaemon) -> str:
    """What `/health` reports about connections."""
    text: str = daemon.get("/health").json()["parts"]["connections"]["detail"]
    return text


def memory(daemon: RunningDaemon) -> int:
    """The resident memory of the daemon, in MiB."""
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{daemon.pid}/status").read_text())
    assert found is not None
    return int(found[1]) // 1024


def test_a_flood_of_idle_connections_does_not_keep_hooks_out(tmp_path: Path) -> None:
    """While 1,100 are open, a hook gets its reply. The oldest are closed in its favour, and `/health` says so."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4_096), hard))
    with running_daemon(tmp_path) as daemon, connections(daemon, FLOOD):
        assert daemon.post("session-start", EVENT).status == 200
        assert "too many" in detail(daemon)


def test_connections_without_progress_are_closed_and_others_stay(tmp_path: Path) -> None:
    """Idle ones, half a head and half a body end; a stream, which waits for events, still gets them."""
    with (
        running_daemon(tmp_path, request_seconds=0.5, idle_seconds=0.5) as daemon,
        daemon.stream() as stream,
        connections(daemon, 4) as (idle, head, body, used),
    ):
        head.sendall(HEAD)
        body.sendall(HEAD + b'Content-Length: 100\r\n\r\n{"session_id"')
        used.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert received(idle) == b""
        assert received(head).startswith(b"HTTP/1.1 408 ")
        assert b"too_slow" in received(body)
        assert received(used).startswith(b"HTTP/1.1 200 ")
        daemon.post("session-start", EVENT)
        assert stream.next()
        assert "idle" in detail(daemon)
        assert "slow" in detail(daemon)


def test_a_body_after_its_reply_does_not_keep_a_connection_open(tmp_path: Path) -> None:
    """A request that is refused at once has a reply before its body."""
    with running_daemon(tmp_path, idle_seconds=0.5) as daemon, connections(daemon, 1) as (early,):
        early.sendall(b"POST /hook/stop HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\n\r\n")
        assert early.recv(65_536).startswith(b"HTTP/1.1 415 ")
        early.sendall(b"{}")
        received(early)


def test_a_client_that_does_not_read_is_disconnected(tmp_path: Path) -> None:
    """Its replies would keep a connection busy forever."""
    with running_daemon(tmp_path, idle_seconds=0.5) as daemon, socket.socket() as greedy:
        greedy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        greedy.connect(("127.0.0.1", daemon.port))
        greedy.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 200)
        wait_until(lambda: "slow" in detail(daemon), "the connection to be closed")


def test_half_sent_bodies_do_not_fill_the_memory(tmp_path: Path) -> None:
    """200 bodies with two megabytes each stay within the limit, and a complete hook is processed."""
    half = HEAD + b"Content-Length: 4000000\r\n\r\n" + b"x" * 1_900_000
    with running_daemon(tmp_path, max_buffered_bytes=16 * 1024 * 1024) as daemon:
        before = memory(daemon)
        with connections(daemon, 200) as found:
            for connection in found:
                with contextlib.suppress(OSError):
                    connection.sendall(half)
            assert daemon.post("session-start", EVENT).status == 200
            assert memory(daemon) - before < 120
            assert "too much memory" in detail(daemon)


def test_one_address_does_not_use_up_the_connections_of_others(tmp_path: Path) -> None:
    """Above the limit of an address, its own oldest connection is closed."""
    with (
        running_daemon(tmp_path, max_connections_per_peer=16) as daemon,
        connections(daemon, 1) as mine,
        connections(daemon, 40, "127.0.0.2") as theirs,
    ):
        wait_until(lambda: sum(map(is_open, theirs)) <= 16, "the connections of the other address to be closed")
        assert is_open(mine[0])


def test_a_trailer_is_no_header(tmp_path: Path) -> None:
    """After the body, the header that asks for the reply to the client does not count."""
    body = b'{"session_id": "one", "cwd": "/tmp"}'
    with running_daemon(tmp_path) as daemon:
        token = f"Authorization: Bearer {daemon.token('ingest')}\r\n".encode()
        answer = daemon.raw(
            HEAD + token + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"%x\r\n%s\r\n0\r\nX-Headspace-Reply: hook\r\nHost: example.net\r\n\r\n" % (len(body), body)
        )
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert b"agent" in answer
