"""Start: the start time of commands and of the daemon.

Commands are timed as complete processes, alternating with a bare `python -c pass`, which is subtracted. A daemon is
timed from its start until `/health` replies, in an empty home and in a used one.
"""

import statistics
import sys
import time
from pathlib import Path

from bench import processes
from bench.daemon import daemon
from bench.options import Options
from bench.report import BenchError, Row, at_most, failed

TIMES = 10
STARTS = 3
OWN_MS = 300.0
READY_MS = 1500.0

BARE = "python -c pass"


def run(options: Options) -> list[Row]:
    """Measure and return the rows."""
    with processes.scratch() as home:
        options.progress("start: daemon")
        with daemon(home) as first:
            options.progress("start: commands")
            working, broken = _warm_up(home.env, _commands())
            times = _times(home.env, working)
        again = [_ready_again(home) for _ in range(STARTS)]
    return [*_command_rows(times), *broken, *_daemon_rows(first.ready_ms, again)]


def _commands() -> dict[str, list[str]]:
    """The timed commands, with the installed `headspace` if it exists."""
    script = Path(sys.executable).with_name("headspace")
    headspace = [str(script)] if script.exists() else [sys.executable, "-m", "claude_headspace"]
    return {
        BARE: [sys.executable, "-c", "pass"],
        "headspace --help": [*headspace, "--help"],
        "headspace list --json": [*headspace, "list", "--json"],
    }


def _times(env: dict[str, str], commands: dict[str, list[str]]) -> dict[str, float]:
    """The median wall time of each command, in milliseconds."""
    durations: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(TIMES):
        for name, argv in commands.items():
            began = time.perf_counter()
            processes.run(argv, env)
            durations[name].append((time.perf_counter() - began) * 1000)
    return {name: statistics.median(values) for name, values in durations.items()}


def _warm_up(env: dict[str, str], commands: dict[str, list[str]]) -> tuple[dict[str, list[str]], list[Row]]:
    """Run each command once to warm the caches; return those that work, and rows of those that fail."""
    working, broken = {}, []
    for name, argv in commands.items():
        try:
            processes.run(argv, env)
        except BenchError as error:
            broken.append(failed(f"{name}, its own time", str(error)))
        else:
            working[name] = argv
    return working, broken


def _ready_again(home: processes.Scratch) -> float:
    with daemon(home) as server:
        return server.ready_ms


def _command_rows(times: dict[str, float]) -> list[Row]:
    bare = times.pop(BARE)
    return [
        Row(
            f"{name}, its own time",
            total - bare,
            "ms",
            at_most(OWN_MS),
            f"{total:.0f} ms in total, {BARE} {bare:.0f} ms",
        )
        for name, total in times.items()
    ]


def _daemon_rows(first: float, again: list[float]) -> list[Row]:
    each = ", ".join(f"{value:.0f}" for value in again)
    return [
        Row(
            "daemon ready, empty home", first, "ms", at_most(READY_MS), "process start to /health, including the schema"
        ),
        Row("daemon ready, used home", statistics.median(again), "ms", at_most(READY_MS), f"starts {each}"),
    ]
