"""Changed files: the time of `GET /api/agents/{agent}/changes` for the latest command, with 1,000,000 events.

Half of the events belong to the agent itself, all before the command. The command edits twenty files, with and without
a repository. The events are copies of one stored event, inserted as rows: only reading is measured here.
"""

import http.client
import json
import sqlite3
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

from bench import daemon, processes
from bench.options import Options
from bench.report import BenchError, Row, at_most

EVENTS = 1_000_000
EDITS = 20
TIMES = 30
LIMIT_MS = 50.0

COPY = """
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count)
INSERT INTO events (seq, id, agent_id, name, origin, client, host, fired_at, received_at, strategy, context, payload)
SELECT :last + n, 'copy-' || n, CASE n % 2 WHEN 0 THEN agent_id ELSE 'other' END, name, origin, client, host,
       fired_at + n, received_at + n, strategy, context, payload
FROM numbers, (SELECT * FROM events WHERE name = 'PostToolUse' ORDER BY seq DESC LIMIT 1)
"""


class Agent:
    """An agent whose hooks are sent to a daemon."""

    def __init__(self, home: processes.Scratch, directory: Path) -> None:
        self._home = home
        self._directory = directory
        self._port = 0
        self.id = ""

    def connect(self, port: int) -> None:
        """Send to this daemon from now on."""
        self._port = port

    def start(self) -> None:
        """Start a session."""
        self.id = self._fire("session-start", source="startup")["agent_id"]

    def work(self, edits: int) -> None:
        """One command with a number of new files."""
        self._fire("user-prompt-submit", prompt="Write files")
        for number in range(edits):
            path, content = f"{self._directory}/file{number}.py", "x = 1\n" * 50
            result: dict[str, Any] = {"type": "create", "content": content, "structuredPatch": [], "originalFile": None}
            call: dict[str, Any] = {"tool_name": "Write", "tool_use_id": f"write-{number}-{time.time_ns()}"}
            call |= {"tool_input": {"file_path": path, "content": content}, "tool_response": result}
            self._fire("post-tool-use", **call)
        self._fire("stop", last_assistant_message="Done.")

    def changes(self) -> dict[str, Any]:
        """What the latest command changed, according to the API."""
        token = daemon.read_token(self._home, "read")
        headers = {"Authorization": f"Bearer {token}"}
        return self._request("GET", f"/api/agents/{self.id}/changes?command=latest", None, headers)

    def _fire(self, event: str, **fields: Any) -> dict[str, Any]:
        payload = {"session_id": str(self._directory), "cwd": str(self._directory), **fields}
        return self._request("POST", f"/hook/{event}", json.dumps(payload), {"Content-Type": "application/json"})

    def _request(self, method: str, path: str, body: str | None, headers: dict[str, str]) -> dict[str, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        try:
            connection.request(method, path, body, headers)
            found: dict[str, Any] = json.loads(connection.getresponse().read())
            return found
        finally:
            connection.close()


def run(options: Options) -> list[Row]:
    """Measure and return the rows."""
    with processes.scratch() as home:
        plain, repository = (Agent(home, home.project(name)) for name in ("plain", "repository"))
        _create_repository(home.project("repository"))
        with daemon.daemon(home) as server:
            for agent in (repository, plain):
                agent.connect(server.port)
                agent.start()
                agent.work(1)
        options.progress(f"changed_files: {EVENTS:,} events")
        _insert_events(Path(home.env["HEADSPACE_HOME"]) / "headspace.db")
        with daemon.daemon(home) as server:
            options.progress("changed_files: requests")
            return [
                _row("latest command, without a repository", plain, server.port, has_repository=False),
                _row("latest command, in a repository", repository, server.port, has_repository=True),
            ]


def _row(name: str, agent: Agent, port: int, *, has_repository: bool) -> Row:
    agent.connect(port)
    agent.work(EDITS)
    found = agent.changes()
    if len(found["files"]) != EDITS or bool(found["since_commit"]) != has_repository:
        raise BenchError("the changes of the command are not complete")
    times = []
    for _ in range(TIMES):
        began = time.perf_counter()
        agent.changes()
        times.append((time.perf_counter() - began) * 1000)
    note = f"{EDITS} files, {EVENTS:,} events, median of {TIMES} requests"
    return Row(f"changes of the {name}", statistics.median(times), "ms", at_most(LIMIT_MS), note)


def _create_repository(directory: Path) -> None:
    for arguments in (["init", "--quiet"], ["commit", "--quiet", "--allow-empty", "--message", "Start"]):
        identity = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=directory, check=True)


def _insert_events(database: Path) -> None:
    connection = sqlite3.connect(database)
    with connection:
        last = connection.execute("SELECT max(seq) FROM events").fetchone()[0]
        connection.execute(COPY, {"last": last, "count": EVENTS})
        connection.execute("UPDATE counters SET value = ? WHERE name = 'journal'", (last + EVENTS,))
    connection.close()
