"""The measured daemon: started as a process, used over HTTP, and ended. It is never imported."""

import http.client
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench import processes
from bench.report import BenchError

READY_SECONDS = 20.0
_POLL_SECONDS = 0.005
_ASK_SECONDS = 5.0


@dataclass(frozen=True)
class Daemon:
    """A running daemon."""

    port: int
    pid: int
    ready_ms: float


@contextmanager
def daemon(home: processes.Scratch, profile: Path | None = None, database: str = "") -> Iterator[Daemon]:
    """A ready daemon in a scratch home. With `profile`, it runs under the profiler, which writes that file."""
    port = processes.free_port()
    log = home.root / "daemon.log"
    under = ["bench.profiled", str(profile)] if profile else []
    # The profile is written when the program unwinds. SIGINT does that, but a SIGTERM forwarded by uvicorn does not.
    stop = signal.SIGINT if profile else signal.SIGTERM
    argv = [sys.executable, "-m", *under, "claude_headspace", "serve", "--port", str(port)]
    began = time.perf_counter()
    with processes.process(argv, {**home.env, "HEADSPACE_DATABASE": database}, log, stop) as child:
        wait_until_answering(port, "/health", child.poll, log)
        yield Daemon(port, child.pid, (time.perf_counter() - began) * 1000)


def wait_until_answering(port: int, path: str, exit_code: Callable[[], int | None], log: Path) -> None:
    """Poll an address until it replies with 200. An error contains the last line of the log."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if exit_code() is not None:
            raise BenchError(
                f"ended before it replied to {path}: {processes.last_line(log.read_text(errors='replace'))}"
            )
        try:
            if get(port, path)[0] == 200:
                return
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(_POLL_SECONDS)
    raise BenchError(f"no reply to {path} within {READY_SECONDS:.0f} s")


def get(port: int, path: str) -> tuple[int, bytes]:
    """Send a GET request on a new connection."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_ASK_SECONDS)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def events_counted(port: int) -> int | None:
    """The number of stored events according to the daemon, or None if `/hook/status` does not have it."""
    status, body = get(port, "/hook/status")
    if status != 200:
        return None
    total = json.loads(body).get("events_total")
    return total if isinstance(total, int) else None


@cache
def _token(root: Path, scope: str) -> str:
    env = {**os.environ, "HEADSPACE_HOME": str(root / "headspace")}
    return processes.last_line(
        processes.run([sys.executable, "-m", "claude_headspace", "token", "--scope", scope], env)
    )


def read_token(home: processes.Scratch, scope: str = "read") -> str:
    """The token of a scope, for a scratch home."""
    return _token(home.root, scope)
