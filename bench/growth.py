"""Growth: the effect of a long history. The same measurements with 0, 100,000 and 1,000,000 events.

For each size: ingested events per second, the time to list the board, and the start time of a daemon. Also the speed of
a rebuild compared with ingest, and the memory of a daemon with a thousand live agents.
"""

import asyncio
import http.client
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import psutil
import uvloop

from bench import daemon, prefill, processes, sessions
from bench.load import Load
from bench.options import Options
from bench.report import Row, at_least, at_most

SIZES = (0, 100_000, 1_000_000)
CONNECTIONS = 32
SESSIONS = 320
SECONDS = 3.0
WARM_UP_SECONDS = 1.0
ROUNDS = 3
LISTINGS = 20
LIST, SEARCH = "/api/agents", "/api/search?q=pytest%20login"
READY_MS = 1_500.0
LIVE_AGENTS = 1_000
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Size:
    """The measurements at one size."""

    events: int
    rate: float
    list_ms: float
    search_ms: float
    ready_ms: float


def run(options: Options) -> list[Row]:
    """Measure and return the rows."""
    found: list[Size] = []
    with processes.scratch() as home:
        for before, size in zip((0, *SIZES), SIZES, strict=False):
            prefill.fill(_database(home), before, size, partial(_progress, options, size))
            found.append(_measure(home, size, options))
            if size == SIZES[1]:
                rebuilt = _rebuild(home, options.progress)
        memory = _memory(options.progress)
    return [*_rows(found), _rebuild_row(rebuilt, found[1].rate), memory]


def _progress(options: Options, size: int, done: int) -> None:
    options.progress(f"growth: {done:,} of {size:,}")


def _database(home: processes.Scratch) -> str:
    return f"sqlite:///{home.env['HEADSPACE_HOME']}/headspace.db"


def _measure(home: processes.Scratch, size: int, options: Options) -> Size:
    """Measure a daemon with this history, and the start time of the next one."""
    options.progress(f"growth: at {size:,} events")
    with daemon.daemon(home) as server:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            rate = runner.run(_ingest(home, server.port, options.seconds or SECONDS))
        listing, search = (
            statistics.median(_took(home, server.port, path) for _ in range(LISTINGS)) for path in (LIST, SEARCH)
        )
    with daemon.daemon(home) as again:
        ready = again.ready_ms
    return Size(size, rate, listing, search, ready)


async def _ingest(home: processes.Scratch, port: int, seconds: float) -> float:
    """Events per second. Every size has the same sessions, so that the board has equally many agents."""
    scripts = [sessions.script(n, home.project(f"p{n:03}"), home.root / "home/.claude") for n in range(SESSIONS)]
    load = await Load.connected(port, [sessions.walk(each.as_requests(port)) for each in scripts], CONNECTIONS)
    try:
        await load.run(WARM_UP_SECONDS)
        return statistics.median([(await load.run(seconds)).rate for _ in range(ROUNDS)])
    finally:
        load.close()


def _took(home: processes.Scratch, port: int, path: str) -> float:
    began = time.perf_counter()
    _ask(home, port, "GET", path, "read")
    return (time.perf_counter() - began) * 1000


def _rebuild(home: processes.Scratch, progress: Callable[[str], None]) -> float:
    """Events per second of a rebuild."""
    progress("growth: rebuild")
    with daemon.daemon(home) as server:
        began = time.perf_counter()
        events = _ask(home, server.port, "POST", "/api/admin/db/rebuild", "admin")["events"]
        return float(events) / (time.perf_counter() - began)


def _ask(home: processes.Scratch, port: int, method: str, path: str, scope: str) -> dict[str, int]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    token = daemon.read_token(home, scope)
    try:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection.request(method, path, headers=headers)
        body = json.loads(connection.getresponse().read())
        return body if isinstance(body, dict) else {}
    finally:
        connection.close()


def _memory(progress: Callable[[str], None]) -> Row:
    """The memory of a daemon after a turn of each of a thousand agents."""
    progress("growth: memory")
    with processes.scratch() as home, daemon.daemon(home) as server:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_turns(home, server.port))
        resident = psutil.Process(server.pid).memory_info().rss / MEGABYTE
    return Row("memory, 1,000 live agents", resident, "MB", at_most(150), "resident, after a turn of each")


async def _turns(home: processes.Scratch, port: int) -> None:
    scripts = [sessions.script(n, home.project(f"p{n:03}"), home.root / "home/.claude") for n in range(LIVE_AGENTS)]
    load = await Load.connected(port, [sessions.walk(each.as_requests(port)) for each in scripts], CONNECTIONS)
    try:
        sent = 0
        while sent < LIVE_AGENTS * 10:
            sent += (await load.run(1.0)).acknowledged
    finally:
        load.close()


def _rows(found: list[Size]) -> list[Row]:
    empty, largest = found[0], found[-1]
    ratio = largest.rate / empty.rate
    table = [
        row
        for size in found
        for row in (
            Row(f"at {size.events:,} events, ingest", size.rate, "/s"),
            Row(f"at {size.events:,} events, list", size.list_ms, "ms", note=f"the board with {SESSIONS} agents"),
            Row(f"at {size.events:,} events, search", size.search_ms, "ms", note="two words, the best hits"),
            Row(f"at {size.events:,} events, daemon ready", size.ready_ms, "ms", at_most(READY_MS)),
        )
    ]
    return [*table, Row(f"ingest at {largest.events:,} to empty", ratio, "×", at_least(0.8))]


def _rebuild_row(rebuilt: float, ingested: float) -> Row:
    note = f"{rebuilt:,.0f} events per second rebuilt, {ingested:,.0f} ingested"
    return Row("rebuild, ratio to ingest", rebuilt / ingested, "×", at_least(5), note)
