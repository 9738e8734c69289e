"""Ingest: the hook events per second of one daemon, durable and completely processed.

32 connections with one request in flight each, and 320 sessions, send to a real daemon. In the same run the same
payloads go to an endpoint that does nothing. The two alternate. Every number is the median of its rounds. Afterwards
the daemon must have counted exactly the acknowledged events.
"""

import asyncio
import os
import pstats
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from bench import daemon, processes, sessions
from bench.load import Load, Round
from bench.machine import Interference
from bench.options import Options
from bench.postgres import postgres
from bench.report import BenchError, Row, at_least, at_most, failed

CONNECTIONS = 32
SESSIONS = 320
ROUNDS = 3
SECONDS = 3.0
WARM_UP_SECONDS = 1.5
COUNT_SECONDS = 5.0
PROFILED_FUNCTIONS = 30


@dataclass
class Outcome:
    """The rounds of both servers, and the number of counted events."""

    daemon: list[Round] = field(default_factory=list)
    noop: list[Round] = field(default_factory=list)
    warm_up: list[Round] = field(default_factory=list)
    counted: int | None = None
    others: float | None = None

    @property
    def to_daemon(self) -> list[Round]:
        """Every round of the daemon."""
        return self.warm_up + self.daemon


def run(options: Options) -> list[Row]:
    """Measure with SQLite and return the rows."""
    return _run(options, "")


def run_on_postgres(options: Options) -> list[Row]:
    """Measure with PostgreSQL on the same machine. Only the exact count has a budget."""
    with postgres() as database:
        rows = _run(options, database)
    kept = [row.budget if row.budget == at_most(0) else None for row in rows]
    return [
        Row(f"PostgreSQL: {row.what}", row.value, row.unit, budget, row.note)
        for row, budget in zip(rows, kept, strict=True)
    ]


def _run(options: Options, database: str) -> list[Row]:
    with processes.scratch() as home:
        profile = home.root / "daemon.prof" if options.profile else None
        with daemon.daemon(home, profile, database) as server, noop(home) as (noop_port, noop_pid):
            interference = Interference([os.getpid(), server.pid, noop_pid])
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                outcome = runner.run(_measure(home, server.port, noop_port, options))
            outcome.others = interference.share()
            outcome.counted = _count(server.port, sum(r.acknowledged for r in outcome.to_daemon))
        if profile:
            print_profile(profile)
    rows = rows_of(outcome)
    return [without_budget(row) for row in rows] if options.profile else rows


@contextmanager
def noop(home: processes.Scratch) -> Iterator[tuple[int, int]]:
    """The endpoint that does nothing, in a separate process; yields its port and pid."""
    port, log = processes.free_port(), home.root / "noop.log"
    with processes.process([sys.executable, "-m", "bench.noop", str(port)], home.env, log) as child:
        daemon.wait_until_answering(port, "/health", child.poll, log)
        yield port, child.pid


async def _measure(home: processes.Scratch, port: int, noop_port: int, options: Options) -> Outcome:
    scripts = [sessions.script(n, home.project(f"p{n:03}"), home.root / "home/.claude") for n in range(SESSIONS)]
    outcome, seconds = Outcome(), options.seconds or SECONDS
    target, reference = await _load(scripts, port), await _load(scripts, noop_port)
    try:
        options.progress("ingest: warm-up")
        outcome.warm_up.append(await target.run(WARM_UP_SECONDS))
        await reference.run(WARM_UP_SECONDS)
        for number in range(1, ROUNDS + 1):
            options.progress(f"ingest: round {number} of {ROUNDS}")
            outcome.daemon.append(await target.run(seconds))
            outcome.noop.append(await reference.run(seconds))
    finally:
        target.close()
        reference.close()
    return outcome


async def _load(scripts: list[sessions.Script], port: int) -> Load:
    return await Load.connected(port, [sessions.walk(s.as_requests(port)) for s in scripts], CONNECTIONS)


def _count(port: int, expected: int) -> int | None:
    """The count of the daemon, after a short time to catch up."""
    deadline = time.monotonic() + COUNT_SECONDS
    while (counted := daemon.events_counted(port)) is not None and counted < expected and time.monotonic() < deadline:
        time.sleep(0.1)
    return counted


def rows_of(outcome: Outcome) -> list[Row]:
    """The rows with their budgets."""
    rate, noop_rate = _median_rate(outcome.daemon), _median_rate(outcome.noop)
    if not noop_rate:
        raise BenchError("the no-op endpoint sent no reply")
    p99s = [r.percentile(99) for r in outcome.daemon]
    errors = sum(r.errors for r in outcome.to_daemon)
    return [
        Row("ingest, events per second", rate, "/s", at_least(6000), _spread([r.rate for r in outcome.daemon], ",.0f")),
        Row("ingest, ratio to no-op", rate / noop_rate, "×", at_least(0.4), _other_programs(outcome.others)),
        Row("ingest, p99", statistics.median(p99s), "ms", at_most(15), _spread(p99s, ".1f")),
        Row("ingest, p50", statistics.median(r.percentile(50) for r in outcome.daemon), "ms"),
        Row("ingest, errors", errors, "", at_most(0), "replies other than 200, lost connections"),
        _uncounted(outcome),
        Row("no-op, events per second", noop_rate, "/s", note=_generator(outcome.noop)),
    ]


def _median_rate(rounds: list[Round]) -> float:
    return statistics.median(r.rate for r in rounds)


def _spread(values: list[float], form: str) -> str:
    return "rounds " + ", ".join(format(value, form) for value in values)


def _other_programs(others: float | None) -> str:
    """The processor time of other programs."""
    return "" if others is None else f"other programs used {others:.0%} of the CPU"


def _generator(rounds: list[Round]) -> str:
    """The processor time of the generator. It must be well below one core, otherwise it limits the result."""
    spent = sum(r.generator_seconds for r in rounds)
    each = spent / max(1, sum(r.acknowledged for r in rounds))
    return f"generator {each * 1e6:.0f} µs CPU per event, {spent / sum(r.seconds for r in rounds):.0%} of a core"


def _uncounted(outcome: Outcome) -> Row:
    what, acknowledged = "ingest, counted − acknowledged", sum(r.acknowledged for r in outcome.to_daemon)
    if outcome.counted is None:
        return failed(what, "/hook/status has no events_total")
    note = f"{outcome.counted:,} counted, {acknowledged:,} acknowledged"
    return Row(what, abs(outcome.counted - acknowledged), "", at_most(0), note)


def without_budget(row: Row) -> Row:
    """A number that is measured under the profiler has no budget."""
    return Row(row.what, row.value, row.unit, note=f"profiled; {row.note}".rstrip("; "))


def print_profile(path: Path) -> None:
    """Print the functions with the most time of their own."""
    if not path.exists():
        raise BenchError("the daemon wrote no profile")
    pstats.Stats(str(path), stream=sys.stderr).strip_dirs().sort_stats("tottime").print_stats(PROFILED_FUNCTIONS)
