"""Top: `headspace top` in a separate terminal with 300 agents: start, key to paint, idle cost.

The terminal is a pseudo-terminal, and the benchmark reads the output. All agents were last active some minutes ago, so
no displayed time changes between a key and its paint.
"""

import fcntl
import http.client
import json
import os
import pty
import select
import statistics
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psutil

from bench import processes
from bench.daemon import daemon
from bench.load import percentile
from bench.options import Options
from bench.report import BenchError, Row, at_most

AGENTS = 300
STARTS = 5
KEYS = 60
WIDTH, HEIGHT = 160, 50
IDLE_SECONDS = 15.0
SETTLE_SECONDS = 2.0
LIMIT_SECONDS = 30.0
AGO_SECONDS = 600.0
START_MS, KEY_MS, IDLE_PERCENT = 500.0, 50.0, 1.0

SELECTED = "▌".encode()
"""The marker of the selected row."""


class Screen:
    """A terminal with a command of Headspace on it."""

    def __init__(self, env: dict[str, str], *command: str) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "claude_headspace", *command],
            env={**env, "TERM": "xterm-256color", "LANG": "C.UTF-8", "COLORTERM": "truecolor"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)

    def press(self, key: str) -> float:
        """Press a key; return the time."""
        os.write(self._ours, key.encode())
        return time.perf_counter()

    def wait_for(self, *texts: bytes) -> float:
        """Read until all texts were written; return the time."""
        seen, deadline = b"", time.perf_counter() + LIMIT_SECONDS
        while not all(text in seen for text in texts):
            if time.perf_counter() > deadline or self.process.poll() is not None:
                raise BenchError(
                    f"`headspace` did not show {texts!r}: {processes.last_line(seen.decode('utf-8', 'replace'))}"
                )
            seen += self._read(0.5)
        return time.perf_counter()

    def settle(self) -> None:
        """Read until the output is idle."""
        while self._read(SETTLE_SECONDS):
            pass

    def drain(self) -> None:
        """Read until nothing was written for a moment."""
        while self._read(0.15):
            pass

    def _read(self, seconds: float) -> bytes:
        ready, _, _ = select.select([self._ours], [], [], seconds)
        return os.read(self._ours, 1 << 16) if ready else b""

    def close(self) -> None:
        """Quit, or end the process."""
        self.press("q")
        try:
            self.process.wait(processes.STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._ours)


@contextmanager
def screen(env: dict[str, str], *command: str) -> Iterator[Screen]:
    """A terminal that is always closed; without a command it shows the board."""
    made = Screen(env, *(command or ("top", "--silent")))
    try:
        yield made
    finally:
        made.close()


def create_agents(port: int) -> None:
    """Create the agents in the middle of a turn, some with a question, with events some minutes ago."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    fired = {"Content-Type": "application/json", "X-Headspace-Fired-At": f"{time.time() - AGO_SECONDS:.3f}"}

    def post(event: str, session: dict[str, Any]) -> None:
        connection.request("POST", f"/hook/{event}", json.dumps(session), fired)
        with connection.getresponse() as response:
            response.read()
            if response.status != 200:
                raise BenchError(f"a hook got the status {response.status}")

    for number in range(AGENTS):
        session = {"session_id": f"top-{number}", "cwd": f"/home/dev/project-{number}"}
        post("session-start", session)
        post("user-prompt-submit", {**session, "prompt": f"Task {number}"})
        if number % 10 == 0:
            post("stop", {**session, "last_assistant_message": f"Shall I do {number}?"})
    connection.close()


def run(options: Options) -> list[Row]:
    """Measure and return the rows."""
    with processes.scratch() as home, daemon(home) as server:
        options.progress(f"top: starting {AGENTS} agents")
        create_agents(server.port)
        options.progress("top: start")
        starts = [_start(home.env) for _ in range(STARTS)]
        with screen(home.env) as shown:
            shown.wait_for(b"Conversation")
            shown.settle()
            options.progress("top: keys")
            keys = [_key(shown, "j" if number < KEYS // 2 else "k") for number in range(KEYS)]
            shown.settle()
            options.progress("top: idle")
            idle = idle_percent(shown.process.pid, options.seconds or IDLE_SECONDS)
    each = ", ".join(f"{value:.0f}" for value in starts)
    return [
        Row("top, start", statistics.median(starts), "ms", at_most(START_MS), f"process start to board, starts {each}"),
        Row("top, key to paint, p95", percentile(keys, 95), "ms", at_most(KEY_MS), f"{AGENTS} agents, {KEYS} keys"),
        Row("top, key to paint, p50", percentile(keys, 50), "ms"),
        Row("top, idle", idle, "%", at_most(IDLE_PERCENT), "processor time of one core"),
    ]


def _start(env: dict[str, str]) -> float:
    with screen(env) as shown:
        return (shown.wait_for(SELECTED) - shown.began) * 1000


def _key(shown: Screen, key: str) -> float:
    """The seconds from a key to its paint. Later output, when the conversation is loaded, is skipped."""
    began = shown.press(key)
    took = shown.wait_for(SELECTED) - began
    shown.wait_for(b"Conversation")
    shown.drain()
    return took


def idle_percent(pid: int, seconds: float) -> float:
    """How much processor time a process uses, in percent of one core."""
    process = psutil.Process(pid)
    before = process.cpu_times()
    time.sleep(seconds)
    after = process.cpu_times()
    return (after.user + after.system - before.user - before.system) / seconds * 100
