"""RPC: the time that a hook over the Unix socket waits for its reply.

500 requests per second, evenly spaced, from twenty panes of a fleet, each with its own effort. Every request is
counted, committed and answered. A connection has one request in flight. The time starts when the request is due, so it
includes waiting for a free connection.
"""

import asyncio
import time
from collections import deque
from collections.abc import Mapping
from itertools import count
from pathlib import Path

import msgspec
import uvloop

from bench import processes
from bench.daemon import daemon
from bench.load import percentile
from bench.options import Options
from bench.report import BenchError, Row, at_most

PANES = 20
RATE = 500
CONNECTIONS = 16
SECONDS = 10.0
WARM_UP_SECONDS = 1.0
NO_LIMITS = {"heartbeat_limit": 1_000_000, "heartbeat_warn": 1_000_000}


class Answer(msgspec.Struct):
    """Whether a request succeeded."""

    ok: bool = False


_answer = msgspec.json.Decoder(Answer)


class Requests:
    """Sends requests at a constant rate, over free connections."""

    def __init__(self, streams: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]], project: Path) -> None:
        self._streams = streams
        self._project = str(project)
        self._due: deque[float] = deque()
        self._wake = asyncio.Semaphore(0)
        self._numbers = count()
        self.latencies: list[float] = []
        self.errors = 0

    async def run(self, seconds: float) -> None:
        """Send evenly spaced requests. Timers are coarse, so each wake-up sends all requests that are due."""
        workers = [asyncio.create_task(self._work(*stream)) for stream in self._streams]
        began = time.perf_counter()
        for number in range(int(seconds * RATE)):
            early = began + number / RATE - time.perf_counter()
            if early > 0:
                await asyncio.sleep(early)
            self._due.append(time.perf_counter())
            self._wake.release()
        for _ in workers:
            self._due.append(0.0)
            self._wake.release()
        await asyncio.gather(*workers)

    async def _work(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await self._wake.acquire()
            due = self._due.popleft()
            if not due:
                return
            writer.write(self._request(next(self._numbers)))
            answer = _answer.decode(await reader.readline())
            self.latencies.append(time.perf_counter() - due)
            self.errors += not answer.ok

    def _request(self, number: int) -> bytes:
        pane = f"bench:{number // 2 % PANES}"
        cmd = ("hooks.preToolUse", "hooks.postToolUse")[number % 2]
        args = {
            "sessionId": pane,
            "cwd": self._project,
            "toolName": "Bash",
            "toolInput": {"command": f"make test-{number}"},
            "toolUseId": f"t{number // 2}",
        }
        return request(cmd, args, pane)


def request(cmd: str, args: Mapping[str, object], pane: str) -> bytes:
    """One request line."""
    return msgspec.json.encode({"cmd": cmd, "args": args, "env": {"AGENT_ID": pane}}) + b"\n"


def run(options: Options) -> list[Row]:
    """Measure and return the rows."""
    with processes.scratch() as home, daemon(home), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_measure(home, options))


async def _measure(home: processes.Scratch, options: Options) -> list[Row]:
    path = Path(home.env["HEADSPACE_HOME"]) / "run" / "headspace.sock"
    streams = [await asyncio.open_unix_connection(path) for _ in range(CONNECTIONS)]
    try:
        project = home.project("fleet")
        options.progress(f"rpc: {PANES} efforts")
        for number in range(PANES):
            await _start_effort(*streams[0], project, f"bench:{number}")
        await Requests(streams, project).run(WARM_UP_SECONDS)
        options.progress(f"rpc: {RATE} requests per second")
        requests = Requests(streams, project)
        await requests.run(options.seconds or SECONDS)
        return _rows(requests)
    finally:
        for _, writer in streams:
            writer.close()


async def _start_effort(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, project: Path, pane: str) -> None:
    writer.write(request("effort.start", {"skill": "bench", "cwd": str(project), "metadata": NO_LIMITS}, pane))
    answer = await reader.readline()
    if not _answer.decode(answer).ok:
        raise BenchError(f"an effort could not be started: {answer.decode()[:200]}")


def _rows(requests: Requests) -> list[Row]:
    slowest = f"slowest {max(requests.latencies, default=0) * 1000:.1f} ms"
    return [
        Row(f"rpc, p99 at {RATE} requests/s", percentile(requests.latencies, 99), "ms", at_most(5), slowest),
        Row("rpc, p50", percentile(requests.latencies, 50), "ms", note=f"{len(requests.latencies):,} requests"),
        Row("rpc, errors", requests.errors, "", at_most(0), "refused requests"),
    ]
