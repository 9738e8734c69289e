"""Idle: what it costs to watch sessions that do nothing, and how soon an interrupt is seen that only files tell.

Sixty clients (sleeping processes) with their registry entries and transcripts, in a real daemon. The daemon's processor
time is taken over some seconds, once while hooks arrive now and then, once while they have been silent for long and
Headspace looks for itself every two seconds. Then a transcript's line says that the human pressed Esc, and the registry
that the client is idle; the clock starts when it is written and stops when the board shows it.
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
    """A session of a sleeping client, and the files that it would write."""

    session_id: str
    pid: int
    transcript: Path
    entry: Path

    def writes(self, kind: str, **fields: Any) -> None:
        """A line of its transcript."""
        stamp = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        known = {"type": kind, "sessionId": self.session_id, "timestamp": stamp, "uuid": f"{time.time_ns()}"}
        with self.transcript.open("a") as file:
            file.write(json.dumps(known | fields) + "\n")

    def says(self, text: str) -> None:
        """A prompt, or what the client writes in its place."""
        self.writes("user", message={"role": "user", "content": text}, cwd="/tmp")

    def is_seen(self, status: str) -> None:
        """Its registry entry."""
        began = round(psutil.Process(self.pid).create_time() * 1000)
        entry = {"pid": self.pid, "sessionId": self.session_id, "cwd": "/tmp", "startedAt": began, "status": status}
        self.entry.write_text(json.dumps(entry | {"statusUpdatedAt": time.time_ns() // 1_000_000}))


def run(options: Options) -> list[Row]:
    """Measure, and answer the rows."""
    seconds = options.seconds or SECONDS
    rows = []
    for words, silent_after in (("hooks arrive", "300"), ("hooks are silent", "1")):
        with _watched(silent_after) as (pid, clients, state):
            options.say(f"idle: {SESSIONS} quiet sessions, {words}")
            share = _processor_share(pid, seconds)
            what = f"idle, {SESSIONS} sessions, {words}"
            rows.append(Row(what, share, "% of a core", at_most(CORE_SHARE), f"over {seconds:.0f} s"))
            if silent_after != "1":
                options.say("idle: interrupts")
                rows += _interrupts(clients, state)
    return rows


@contextmanager
def _watched(silent_after: str) -> Iterator[tuple[int, list[Client], Callable[[str], str]]]:
    """A daemon that watches quiet sessions."""
    with processes.scratch() as home, _sleepers(SESSIONS) as pids:
        home.env["HEADSPACE_HOOKS_SILENT_AFTER"] = silent_after
        config = Path(home.env["CLAUDE_CONFIG_DIR"])
        clients = [_client(config, number, pid) for number, pid in enumerate(pids)]
        with daemon(home) as server:
            token = read_token(home)
            _wait(lambda: len(_agents(server.port, token)) == SESSIONS, "all sessions on the board")
            time.sleep(SETTLE_SECONDS)
            yield server.pid, clients, lambda session: _state(server.port, token, session)


@contextmanager
def _sleepers(count: int) -> Iterator[list[int]]:
    children = [subprocess.Popen(["sleep", "3600"]) for _ in range(count)]
    try:
        yield [child.pid for child in children]
    finally:
        for child in children:
            child.kill()
            child.wait()


def _client(config: Path, number: int, pid: int) -> Client:
    """A client with some history, resting."""
    folder, sessions = config / "projects" / f"-project-{number}", config / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    sessions.mkdir(parents=True, exist_ok=True)
    client = Client(f"idle-{number:04d}", pid, folder / f"idle-{number:04d}.jsonl", sessions / f"{pid}.json")
    client.says("Do it")
    for _ in range(LINES):
        client.writes("attachment", attachment={"type": "date", "date": "x" * 400})
    message = {
        "role": "assistant",
        "model": "m",
        "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "Did it."}],
    }
    client.writes("assistant", message=message)
    client.writes("system", subtype="turn_duration")
    client.is_seen("idle")
    return client


def _processor_share(pid: int, seconds: float) -> float:
    """How much of a core the daemon takes, all its threads together, in per cent."""
    watched = psutil.Process(pid)
    before, began = watched.cpu_times(), time.perf_counter()
    time.sleep(seconds)
    after, took = watched.cpu_times(), time.perf_counter() - began
    return 100 * (after.user - before.user + after.system - before.system) / took


def _interrupts(clients: list[Client], state: Callable[[str], str]) -> list[Row]:
    """From the file to the board, by either file."""
    by_line, by_entry = list[float](), list[float]()
    for number, client in enumerate(clients[: 2 * INTERRUPTS]):
        client.is_seen("busy")
        client.says(f"Go {number}")
        _wait(lambda client=client: state(client.session_id) == "working", "a prompt on the board")  # type: ignore[misc]
        time.sleep(0.3)
        began = time.perf_counter()
        if number % 2:
            client.says("[Request interrupted by user]")
        else:
            client.is_seen("idle")
        _wait(lambda client=client: state(client.session_id) == "idle", "an interrupt on the board")  # type: ignore[misc]
        (by_line if number % 2 else by_entry).append((time.perf_counter() - began) * 1000)
    return [
        Row(
            f"interrupt told by {name} alone",
            statistics.median(taken),
            "ms",
            at_most(SEEN_MS),
            f"worst {max(taken):.0f}",
        )
        for name, taken in (("the transcript", by_line), ("the registry", by_entry))
    ]


def _wait(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise BenchError(f"waited {PATIENCE_SECONDS:.0f} s in vain for {what}")
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
