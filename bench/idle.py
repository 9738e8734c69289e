"""Idle: the cost of observing idle sessions, and the detection time of an interrupt that only files show.

A real daemon observes sixty clients (sleeping processes) with registry entries and transcripts. The processor time of
the daemon is measured while hooks arrive occasionally, and while they have been silent for so long that Headspace polls
every two seconds. Then a transcript line reports an Esc, or a registry entry reports an idle client. The time is from
writing the file until the board shows the agent idle.
"""

import http.client
import json
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from bench import processes
from bench.daemon import daemon, read_token
from bench.options import Options
from bench.report import BenchError, Row, at_most

SESSIONS = 60
SECONDS = 15.0
SETTLE_SECONDS = 4.0
LINES = 400
INTERRUPTS = 10
CORE_SHARE = 1.0
SEEN_MS = 1000.0
PATIENCE_SECONDS = 10.0


@dataclass(frozen=True)
class Client:
    """A session of a sleeping client, and its files."""

    session_id: str
    pid: int
    transcript: Path
    entry: Path

    def append(self, kind: str, **fields: Any) -> None:
        """Append a line to the transcript."""
        stamp = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        known = {"type": kind, "sessionId": self.session_id, "timestamp": stamp, "uuid": f"{time.time_ns()}"}
        with self.transcript.open("a") as file:
            file.write(json.dumps(known | fields) + "\n")

    def append_prompt(self, text: str) -> None:
        """Append a prompt, or the marker of an interrupt."""
        self.append("user", message={"role": "user", "content": text}, cwd="/tmp")

    def write_entry(self, status: str) -> None:
        """Write the registry entry."""
        began = round(psutil.Process(self.pid).create_time() * 1000)
        entry = {"pid": self.pid, "sessionId": self.session_id, "cwd": "/tmp", "startedAt": began, "status": status}
        self.entry.write_text(json.dumps(entry | {"statusUpdatedAt": time.time_ns() // 1_000_000}))


def run(options: Options) -> list[Row]:
    """Measure and return the rows."""
    seconds = options.seconds or SECONDS
    rows = []
    for words, silent_after in (("hooks arrive", "300"), ("hooks are silent", "1")):
        with _watched(silent_after) as (pid, clients, state):
            options.progress(f"idle: {SESSIONS} idle sessions, {words}")
            share = _processor_share(pid, seconds)
            what = f"idle, {SESSIONS} sessions, {words}"
            rows.append(Row(what, share, "% of a core", at_most(CORE_SHARE), f"over {seconds:.0f} s"))
            if silent_after != "1":
                options.progress("idle: interrupts")
                rows += _interrupts(clients, state)
    return rows


@contextmanager
def _watched(silent_after: str) -> Iterator[tuple[int, list[Client], Callable[[str], str]]]:
    """A daemon that observes idle sessions."""
    with processes.scratch() as home, _sleeping_processes(SESSIONS) as pids:
        home.env["HEADSPACE_HOOKS_SILENT_AFTER"] = silent_after
        config = Path(home.env["CLAUDE_CONFIG_DIR"])
        clients = [_client(config, number, pid) for number, pid in enumerate(pids)]
        with daemon(home) as server:
            token = read_token(home)
            _wait(lambda: len(_agents(server.port, token)) == SESSIONS, "all sessions on the board")
            time.sleep(SETTLE_SECONDS)
            yield server.pid, clients, lambda session: _state(server.port, token, session)


@contextmanager
def _sleeping_processes(count: int) -> Iterator[list[int]]:
    children = [subprocess.Popen(["sleep", "3600"]) for _ in range(count)]
    try:
        yield [child.pid for child in children]
    finally:
        for child in children:
            child.kill()
            child.wait()


def _client(config: Path, number: int, pid: int) -> Client:
    """An idle client with some history."""
    folder, sessions = config / "projects" / f"-project-{number}", config / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    sessions.mkdir(parents=True, exist_ok=True)
    client = Client(f"idle-{number:04d}", pid, folder / f"idle-{number:04d}.jsonl", sessions / f"{pid}.json")
    client.append_prompt("Do it")
    for _ in range(LINES):
        client.append("attachment", attachment={"type": "date", "date": "x" * 400})
    message = {
        "role": "assistant",
        "model": "m",
        "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "Did it."}],
    }
    client.append("assistant", message=message)
    client.append("system", subtype="turn_duration")
    client.write_entry("idle")
    return client


def _processor_share(pid: int, seconds: float) -> float:
    """The processor time of all threads of the daemon, in percent of one core."""
    watched = psutil.Process(pid)
    before, began = watched.cpu_times(), time.perf_counter()
    time.sleep(seconds)
    after, took = watched.cpu_times(), time.perf_counter() - began
    return 100 * (after.user - before.user + after.system - before.system) / took


def _interrupts(clients: list[Client], state: Callable[[str], str]) -> list[Row]:
    """The time from the file to the board, for each kind of file."""
    by_line, by_entry = list[float](), list[float]()
    for number, client in enumerate(clients[: 2 * INTERRUPTS]):
        client.write_entry("busy")
        client.append_prompt(f"Go {number}")
        _wait(lambda client=client: state(client.session_id) == "working", "a prompt on the board")  # type: ignore[misc]
        time.sleep(0.3)
        began = time.perf_counter()
        if number % 2:
            client.append_prompt("[Request interrupted by user]")
        else:
            client.write_entry("idle")
        _wait(lambda client=client: state(client.session_id) == "idle", "an interrupt on the board")  # type: ignore[misc]
        (by_line if number % 2 else by_entry).append((time.perf_counter() - began) * 1000)
    return [
        Row(
            f"interrupt shown only by {name}",
            statistics.median(durations),
            "ms",
            at_most(SEEN_MS),
            f"worst {max(durations):.0f}",
        )
        for name, durations in (("the transcript", by_line), ("the registry", by_entry))
    ]


def _wait(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise BenchError(f"timed out after {PATIENCE_SECONDS:.0f} s: {what}")
        time.sleep(0.01)


def _agents(port: int, token: str) -> list[dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/api/agents", headers={"Authorization": f"Bearer {token}"})
        found: list[dict[str, Any]] = json.loads(connection.getresponse().read())
        return found
    finally:
        connection.close()


def _state(port: int, token: str, session_id: str) -> str:
    return next((agent["state"] for agent in _agents(port, token) if agent["session_id"] == session_id), "")
