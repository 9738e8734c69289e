"""Hook script: the run time of one hook, compared with the cheapest command that a hook could run.

The installed script runs as Claude Code runs it: in exec form, with a socket as standard input and a real payload.
`sh -c true`, a bash that only exits, and the script with and without a daemon alternate, with pauses in which the
daemon processes the events. Every number is a median. All run in the C locale, because the cost of a locale in bash
depends on the machine; one row has the locale of this machine. Afterwards each event must be in the journal, or in the
spool of the home without a daemon.
"""

import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench import processes, sessions
from bench.daemon import daemon, events_counted
from bench.machine import Interference
from bench.options import Options
from bench.report import BenchError, Row, at_most

SECONDS = 20.0
FEWEST = 50
PAUSE_SECONDS = 0.015
RATIO = 2.0
OTHER_RATIO = 1.1
"""How much longer a hook of another client may take than one of Claude Code."""
SETTLE_SECONDS = 10.0

SHELL, BASH = "sh -c true", "bash that exits"
REPORTED, DOWN, ASKED = "reported, daemon up", "reported, daemon down", "asked, daemon up"
OTHER = "reported by another client"
LOCALE = "reported, in the locale of this machine"
LOCALES = ("LANG", "LC_ALL", "LC_CTYPE")
ASKED_EVENT = "PermissionRequest"


@dataclass
class Outcome:
    """The times of every command in milliseconds, and the counts of stored events."""

    times: dict[str, list[float]] = field(default_factory=dict)
    counted: int | None = None
    spooled: int = 0
    others: float | None = None

    def median(self, name: str) -> float:
        """The median time of a command."""
        return statistics.median(self.times[name])

    @property
    def expected_events(self) -> int:
        """How many events the daemon must have, including the first round."""
        return sum(len(self.times[name]) + 1 for name in (REPORTED, OTHER, ASKED, LOCALE) if name in self.times)


def run(options: Options) -> list[Row]:
    """Measure and return the rows."""
    with processes.scratch() as up, processes.scratch() as down:
        options.progress("hook script: installing")
        up.env["HEADSPACE_ASKED_HOOKS"] = ASKED_EVENT
        up.env["HEADSPACE_HOLD_SECONDS"] = "0"  # measure the reply, not the wait for a person's answer
        up.env["HEADSPACE_POLICY_PRESET"] = "off"  # otherwise the guard makes PreToolUse wait for a reply too
        scripts = {home.root: _install(home) for home in (up, down)}
        with daemon(up) as server:
            _wait_for(up.root / "headspace" / "address")
            runs = _runs(up, scripts[up.root], scripts[down.root])
            options.progress("hook script: measuring")
            interference = Interference([os.getpid(), server.pid])
            outcome = Outcome(_times(runs, _payload(up.env), options.seconds or SECONDS))
            outcome.others = interference.share()
            outcome.counted = _settled(server.port, outcome.expected_events)
        outcome.spooled = len(list((down.root / "headspace" / "spool").glob("*.json")))
    return rows_of(outcome)


def _install(home: processes.Scratch) -> str:
    processes.run([sys.executable, "-m", "claude_headspace", "install", "--yes"], home.env)
    return str(home.root / "home/.claude/hooks/notify-headspace.sh")


def _bare_bash(home: processes.Scratch) -> Path:
    script = home.root / "exit.sh"
    script.write_text("#!/bin/bash -p\nexit 0\n")
    script.chmod(0o700)
    return script


def _wait_for(path: Path) -> None:
    deadline = time.monotonic() + SETTLE_SECONDS
    while not path.exists():
        if time.monotonic() > deadline:
            raise BenchError(f"no {path.name} within {SETTLE_SECONDS:.0f} s")
        time.sleep(0.005)


def _runs(home: processes.Scratch, up: str, down: str) -> dict[str, tuple[list[str], dict[str, str]]]:
    """The commands with their environments."""
    plain = {name: value for name, value in home.env.items() if name not in LOCALES}
    runs = {
        SHELL: (["sh", "-c", "true"], plain),
        BASH: ([str(_bare_bash(home))], plain),
        REPORTED: ([up, "PreToolUse"], plain),
        OTHER: ([up, "PreToolUse", "codex"], plain),
        DOWN: ([down, "PreToolUse"], plain),
        ASKED: ([up, ASKED_EVENT], plain),
    }
    return {**runs, LOCALE: ([up, "PreToolUse"], home.env)} if plain != home.env else runs


def _times(runs: dict[str, tuple[list[str], dict[str, str]]], payload: bytes, seconds: float) -> dict[str, list[float]]:
    """Run all commands alternately until the time is up. The first round warms the caches."""
    durations: dict[str, list[float]] = {name: [] for name in runs}
    deadline = time.monotonic() + seconds
    while len(durations[SHELL]) < FEWEST + 1 or time.monotonic() < deadline:
        for name, (argv, env) in runs.items():
            durations[name].append(_once(argv, env, payload))
            time.sleep(PAUSE_SECONDS)
    return {name: times[1:] for name, times in durations.items()}


def _payload(env: dict[str, str]) -> bytes:
    """The payload of a tool call."""
    script = sessions.script(1, Path(env["HOME"]), Path(env["CLAUDE_CONFIG_DIR"]))
    before, _after = script.calls[0]
    return before.filled(b"prompt-1", b"toolu-1")


def _once(argv: list[str], env: dict[str, str], payload: bytes) -> float:
    """The time of one run, from before its start until it has ended and closed its output."""
    with _pair() as (ours, theirs), _pair() as (output, printed):
        began = time.perf_counter()
        child = subprocess.Popen(argv, env=env, stdin=theirs.fileno(), stdout=printed.fileno(), stderr=printed.fileno())
        theirs.close()
        printed.close()
        with suppress(BrokenPipeError):  # `true` does not read its input
            ours.sendall(payload)
        ours.close()
        text = output.recv(1024)
        code = child.wait()
        took = (time.perf_counter() - began) * 1000
    if code or text:
        raise BenchError(f"{Path(argv[0]).name} ended with {code} and printed {text[:80]!r}")
    return took


@contextmanager
def _pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def _settled(port: int, expected: int) -> int | None:
    """The number of stored events, after the daemon has processed all of them."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while (counted := events_counted(port)) is not None and counted < expected and time.monotonic() < deadline:
        time.sleep(0.05)
    return counted


def rows_of(outcome: Outcome) -> list[Row]:
    """The rows of the table."""
    rounds = len(outcome.times[REPORTED])
    shell, bash = outcome.median(SHELL), outcome.median(BASH)
    busy = "" if outcome.others is None else f", other programs used {outcome.others:.0%} of the CPU"
    note = f"{rounds} rounds; {SHELL} {shell:.2f} ms, {BASH} {bash:.2f} ms{busy}"
    waits = "waits for the durable commit; only events that need a reply"
    missing = abs(outcome.expected_events - (outcome.counted or 0)) + abs(rounds + 1 - outcome.spooled)
    return [
        _ratio(outcome, REPORTED, note, held=True),
        _other_ratio(outcome),
        _ratio(outcome, DOWN, f"{outcome.median(DOWN):.2f} ms", held=True),
        _ratio(outcome, ASKED, f"{outcome.median(ASKED):.2f} ms; {waits}", held=False),
        *([_ratio(outcome, LOCALE, f"{outcome.median(LOCALE):.2f} ms", held=False)] if LOCALE in outcome.times else []),
        Row("hook script, reported", outcome.median(REPORTED), "ms", None, "one hook, from start to end"),
        Row("hook script, missing or duplicate events", missing, "", at_most(0), "in the journal or in the spool"),
    ]


def _ratio(outcome: Outcome, name: str, note: str, *, held: bool) -> Row:
    value = outcome.median(name) / outcome.median(SHELL)
    return Row(f"hook script, {name}, ratio to {SHELL}", value, "×", at_most(RATIO) if held else None, note)


def _other_ratio(outcome: Outcome) -> Row:
    value = outcome.median(OTHER) / outcome.median(REPORTED)
    note = f"{outcome.median(OTHER):.2f} ms"
    return Row("hook script, another client, ratio to Claude Code", value, "×", at_most(OTHER_RATIO), note)
