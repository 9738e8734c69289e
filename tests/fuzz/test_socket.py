"""Malformed bytes at the port: no 5xx, no hanging connection, no leak, and later requests are served."""

import random
import socket
from collections.abc import Iterator

import psutil
import pytest

from tests.support import LIMIT_SECONDS, RunningDaemon, running_daemon

BODY = b'{"session_id": "fuzz", "cwd": "/tmp", "prompt": "hello"}'


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """A daemon that receives malformed requests."""
    with running_daemon(tmp_path_factory.mktemp("socket"), max_body_bytes=100_000) as running:
        yield running


def request(path: bytes = b"/hook/user-prompt-submit", body: bytes = BODY, *headers: bytes) -> bytes:
    """A valid request."""
    lines = (b"Host: 127.0.0.1", b"Content-Type: application/json", b"Content-Length: %d" % len(body), *headers)
    return b"POST " + path + b" HTTP/1.1\r\n" + b"\r\n".join(lines) + b"\r\n\r\n" + body


def chunked(*chunks: bytes) -> bytes:
    """A request with a chunked body of the given chunks."""
    head = request(body=b"").replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
    return head + b"".join(chunks)


MALFORMED = {
    "nothing": b"",
    "an empty line": b"\r\n",
    "not HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256)),
    "no path": b"POST\r\n\r\n",
    "an old version": b"GET /health HTTP/0.9\r\n\r\n",
    "no host": b"GET /health HTTP/1.1\r\n\r\n",
    "two hosts": request(BODY, BODY, b"Host: evil.example"),
    "a long path": request(b"/" + b"a" * 70_000),
    "a long header": request(b"/hook/stop", BODY, b"X-Long: " + b"a" * 200_000),
    "many headers": request(b"/hook/stop", BODY, *(b"X-%d: a" % n for n in range(5_000))),
    "a negative length": request().replace(b"Content-Length: 56", b"Content-Length: -5"),
    "a length without end": request().replace(b"Content-Length: 56", b"Content-Length: 99999999999999999999"),
    "two lengths": request(b"/hook/stop", BODY, b"Content-Length: 3"),
    "a length and chunks": request(b"/hook/stop", BODY, b"Transfer-Encoding: chunked"),
    "half a body": request()[:-20],
    "chunks": chunked(b"%x\r\n" % len(BODY), BODY, b"\r\n0\r\n\r\n"),
    "broken chunks": chunked(b"zz\r\n", BODY),
    "a chunk without end": chunked(b"ffffffffffffffff\r\n", BODY),
    "an upgrade": request(b"/hook/stop", BODY, b"Upgrade: websocket", b"Connection: Upgrade"),
    "two at once": request() + request(),
    "many at once": request(b"/health", b"") * 50,
    "NUL in a header": request(b"/hook/stop", BODY, b"X-Headspace-Delivery-Id: a\0b"),
    "a header in two lines": request(b"/hook/stop", BODY, b"X-Odd: a\r\n b"),
    "escapes in the path": request(b"/hook/%00%ff%2e%2e%2f"),
    "a path of dots": request(b"/../../etc/passwd"),
    "an absolute address": request(b"http://evil.example/hook/stop"),
    "too much": request(body=b'{"session_id": "' + b"a" * 150_000 + b'"}'),
    "deep JSON": request(body=b'{"session_id":"x","a":' + b"[" * 40_000 + b"]" * 40_000 + b"}"),
    "not UTF-8": request(body=b'{"session_id": "\xff\xfe"}'),
    "expect": request(b"/hook/stop", BODY, b"Expect: 100-continue"),
    "an unknown method": request().replace(b"POST", b"BREW", 1),
}


def exchange(daemon: RunningDaemon, sent: bytes) -> bytes:
    """Send bytes, close the sending side, and read until the daemon closes. A hang is an error."""
    answer = b""
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=LIMIT_SECONDS) as connection:
        try:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            while chunk := connection.recv(65_536):
                answer += chunk
        except TimeoutError:
            raise
        except OSError:
            pass  # the daemon closed before it read everything
    return answer


def statuses(answer: bytes) -> list[int]:
    """The status codes of all replies in the received bytes."""
    parts = answer.split(b"HTTP/1.1 ")[1:]
    return [int(part[:3]) for part in parts if part[:3].isdigit()]


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_requests_cause_no_server_error(daemon: RunningDaemon, name: str) -> None:
    """The daemon replies or closes the connection, but never with a 5xx."""
    assert [status for status in statuses(exchange(daemon, MALFORMED[name])) if status >= 500] == []


def mutated(chance: random.Random) -> bytes:
    """A valid or malformed request with some bytes changed, removed, duplicated or inserted."""
    sent = bytearray(chance.choice([request(), request(b"/api/agents", b""), *MALFORMED.values()]))
    for _ in range(chance.randint(1, 8)):
        position = chance.randrange(len(sent) + 1)
        match chance.randrange(4):
            case 0:
                sent[position : position + 1] = bytes([chance.randrange(256)])
            case 1:
                del sent[position : position + chance.randint(1, 20)]
            case 2:
                sent[position:position] = sent[position : position + chance.randint(1, 50)]
            case _:
                sent[position:position] = chance.choice(
                    [b"\0", b"\r\n", b"\n", b"\r\n\r\n", b"%00", b": ", b"\xff" * 9]
                )
    return bytes(sent)


def test_mutated_requests_cause_no_server_error_and_no_leak(
    daemon: RunningDaemon, request: pytest.FixtureRequest
) -> None:
    """After many of them the daemon has no more files or threads and little more memory, and is healthy."""
    chance, rounds = random.Random(7), 5_000 if request.config.getoption("--full") else 150
    for _ in range(30):
        exchange(daemon, mutated(chance))
    before = in_use(daemon.pid)
    for _ in range(rounds):
        sent = mutated(chance)
        wrong = [status for status in statuses(exchange(daemon, sent)) if status >= 500]
        assert wrong == [], sent[:300]
    after = in_use(daemon.pid)
    assert after["files"] <= before["files"] + 5
    assert after["threads"] <= before["threads"] + 40, "the pool of readers has at most forty threads"
    assert after["kilobytes"] <= before["kilobytes"] + 80_000
    assert daemon.get("/health", scope=None).json()["status"] == "ok"
    assert daemon.verified()
    assert "request_failed" not in daemon.log


def in_use(pid: int) -> dict[str, int]:
    """Open files, threads and memory of a process."""
    process = psutil.Process(pid)
    kilobytes = process.memory_info().rss // 1024
    return {"files": process.num_fds(), "threads": process.num_threads(), "kilobytes": kilobytes}
