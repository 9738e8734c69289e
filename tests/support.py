"""A real daemon for tests: a separate process in a scratch home, used over HTTP and always ended.

    with running_daemon(tmp_path) as daemon:
        reply = daemon.post("session-start", {"session_id": "one", "cwd": "/tmp"})
        assert reply.json()["state"] == "idle"

Settings are given by name, as in `running_daemon(home, heartbeat_seconds=0.1)`. Tests use only its public interfaces,
with clients from the standard library. Waits are on conditions, with limits that only a hang reaches.
"""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from claude_headspace.surfaces.auth.tokens import Scope, make_token

LIMIT_SECONDS = 60.0
"""How long a condition may take. It is far more than necessary, so that a slow machine does not fail a test."""
REST_SECONDS = 0.2
"""How long a daemon stores nothing before it counts as being at rest."""

PASSED_ON = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "COVERAGE_PROCESS_START")
"""The environment variables that a daemon inherits."""

PATIENT = {"patience_seconds": LIMIT_SECONDS, "idle_seconds": LIMIT_SECONDS, "request_seconds": LIMIT_SECONDS}
"""A slow machine is neither a database outage nor an idle client. Tests of these set their own values."""

AWAY = "postgresql+psycopg://nobody@127.0.0.1:1/nothing"
"""The address of a missing database: nothing listens on that port."""

T = TypeVar("T")
Body = bytes | Mapping[str, object] | None


def wait_until(condition: Callable[[], T], what: str, limit: float = LIMIT_SECONDS) -> T:
    """Call the condition until its result is true, and return the result."""
    deadline, pause = time.monotonic() + limit, 0.005
    while not (found := condition()):
        assert time.monotonic() < deadline, f"timed out after {limit:.0f} s: {what}"
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)  # constant polling would slow down the tested process
    return found


@dataclass(frozen=True)
class Reply:
    """An HTTP response."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self) -> Any:
        """The decoded body."""
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, str]:
        """The error, after a check of its format."""
        body = self.json()
        assert set(body) == {"error"}, body
        error: dict[str, str] = body["error"]
        assert set(error) == {"code", "message", "hint"}, error
        assert all(isinstance(text, str) and text for text in error.values()), error
        return error


@dataclass(frozen=True)
class Message:
    """One message of the stream. A comment has neither type nor data."""

    id: int | None = None
    type: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    comment: str = ""


class Stream:
    """One reader of `/api/events/stream`."""

    def __init__(self, port: int, path: str, headers: Mapping[str, str]) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT_SECONDS)
        try:
            self._connection.request("GET", path, headers=dict(headers))
            self.response = self._connection.getresponse()
        except BaseException:
            self._connection.close()
            raise
        assert self.response.status == 200, self.response.read()
        assert self.response.headers["content-type"].startswith("text/event-stream")
        assert self._block().comment == "connected"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        if self._connection.sock is not None:
            with contextlib.suppress(OSError):
                self._connection.sock.shutdown(socket.SHUT_RDWR)
        self.response.close()
        self._connection.close()

    def next(self) -> Message:
        """The next message; comments are skipped."""
        while not (message := self._block()).type:
            pass
        return message

    def until(self, found: Callable[[Message], bool]) -> list[Message]:
        """The messages up to and including the first match."""
        messages = [self.next()]
        while not found(messages[-1]):
            messages.append(self.next())
        return messages

    def until_type(self, kind: str) -> Message:
        """The next message of a type."""
        return self.until(lambda message: message.type == kind)[-1]

    def comment(self) -> str:
        """The next comment; messages before it are skipped."""
        while not (message := self._block()).comment:
            pass
        return message.comment

    def rest(self) -> list[Message]:
        """All messages until the daemon ends the stream."""
        messages = []
        with contextlib.suppress(EOFError):
            while True:
                messages.append(self.next())
        return messages

    def _block(self) -> Message:
        """The message or comment before the next empty line."""
        fields: dict[str, str] = {}
        while line := self.response.readline():
            text = line.decode().removesuffix("\n")
            if not text:
                return Message(
                    id=int(fields["id"]) if "id" in fields else None,
                    type=fields.get("event", ""),
                    data=json.loads(fields.get("data", "{}")),
                    comment=fields.get("", ""),
                )
            name, _, value = text.partition(":")
            fields[name] = value.removeprefix(" ")
        raise EOFError("the daemon ended the stream")


class Client:
    """One persistent connection, for tests that send many requests. Not thread-safe."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._connection.close()

    def post(self, event: str, payload: Body, headers: Mapping[str, str] | None = None) -> Reply:
        """Send a hook."""
        return self.send("POST", f"/hook/{event}", payload, headers)

    def send(self, method: str, path: str, body: Body = None, headers: Mapping[str, str] | None = None) -> Reply:
        """Send a request."""
        defaults = {"Content-Type": "application/json"} if method == "POST" else {}
        self._connection.request(method, path, encoded(body), {**defaults, **(headers or {})})
        with self._connection.getresponse() as response:
            return Reply(response.status, response.headers, response.read())


def encoded(body: Body) -> bytes | None:
    """Bytes unchanged, everything else as JSON."""
    return body if body is None or isinstance(body, bytes) else json.dumps(body).encode()


class RunningDaemon:
    """A daemon in a separate process."""

    def __init__(self, home: Path, process: "subprocess.Popen[bytes]", output: Path) -> None:
        self.home = home
        self.process = process
        self.output = output
        self.url = ""

    @property
    def pid(self) -> int:
        """The process id."""
        return self.process.pid

    @property
    def port(self) -> int:
        """The port of the daemon."""
        port = urllib.parse.urlsplit(self.url).port
        assert port is not None
        return port

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self.process.poll() is None

    @property
    def log(self) -> str:
        """The content of the log file."""
        path = self.home / "headspace.log"
        return path.read_text() if path.exists() else ""

    # --- requests ---

    def post(self, event: str, payload: Body, headers: Mapping[str, str] | None = None) -> Reply:
        """Send a hook with the ingest token, like the installed script."""
        return self.send("POST", f"/hook/{event}", payload, headers, scope="ingest")

    def curl(self, event: str, payload: Body, headers: Mapping[str, str] | None = None) -> Reply:
        """Send a hook without a token, as any program on this machine can."""
        return self.send("POST", f"/hook/{event}", payload, headers)

    def get(self, path: str, scope: str | None = "read") -> Reply:
        """Send a GET request with the token of a scope."""
        return self.send("GET", path, scope=scope)

    def send(
        self,
        method: str,
        path: str,
        body: Body = None,
        headers: Mapping[str, str] | None = None,
        scope: str | None = None,
    ) -> Reply:
        """Send a request on a new connection."""
        with self.client() as client:
            return client.send(method, path, body, {**self.credentials(scope), **(headers or {})})

    def raw(self, request: bytes) -> bytes:
        """Send raw bytes, and read until the daemon closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT_SECONDS) as connection:
            connection.sendall(request)
            answer = b""
            while chunk := connection.recv(65_536):
                answer += chunk
            return answer

    def client(self) -> Client:
        """A persistent connection."""
        return Client(self.port)

    def stream(
        self,
        *,
        last_event_id: int | None = None,
        types: str = "",
        agent_id: str = "",
        project_id: str = "",
        scope: str = "read",
    ) -> Stream:
        """Open the event stream."""
        wanted = {"types": types, "agent_id": agent_id, "project_id": project_id}
        query = urllib.parse.urlencode({name: value for name, value in wanted.items() if value})
        position = {} if last_event_id is None else {"Last-Event-ID": str(last_event_id)}
        return Stream(self.port, f"/api/events/stream?{query}", {**self.credentials(scope), **position})

    def token(self, scope: str) -> str:
        """A token, derived from the secret of the home as the command line does."""
        return make_token((self.home / "secret").read_bytes(), Scope(scope))

    def credentials(self, scope: str | None) -> dict[str, str]:
        """The header with the token of a scope."""
        return {} if scope is None else {"Authorization": f"Bearer {self.token(scope)}"}

    # --- frequent requests ---

    @property
    def status(self) -> dict[str, Any]:
        """The body of `/hook/status`."""
        answer: dict[str, Any] = self.get("/hook/status").json()
        return answer

    def agents(self) -> list[dict[str, Any]]:
        """The agents on the board."""
        answer: list[dict[str, Any]] = self.get("/api/agents").json()
        return answer

    def agent(self, reference: str) -> dict[str, Any]:
        """One agent."""
        answer: dict[str, Any] = self.get(f"/api/agents/{reference}").json()
        return answer

    def events(self) -> list[dict[str, Any]]:
        """All events of the log."""
        found: list[dict[str, Any]] = []
        while page := self.get(f"/api/events?limit=1000&after={found[-1]['seq'] if found else 0}").json():
            found += page
        return found

    def verified(self) -> bool:
        """Whether the projections match the log."""
        answer = self.send("POST", "/api/admin/db/verify", scope="admin").json()
        assert answer["differences"] == [], answer["differences"][:5]
        return answer["ok"] is True

    @contextlib.contextmanager
    def untouched(self) -> Iterator[None]:
        """Check that the block writes nothing and that the same process still replies."""
        before = wait_until(self._status_at_rest, "a daemon that stores nothing")
        yield
        after = self.status
        stored = after["events_total"] - before["events_total"]
        assert not stored, f"stored: {self.get(f'/api/events?limit={stored}').json()}"
        assert after["last_seq"] == before["last_seq"], "a message was published"
        assert after["pid"] == self.pid
        assert self.get("/health").json()["status"] == "ok"

    def _status_at_rest(self) -> dict[str, Any]:
        """The status. Empty if something that earlier requests caused is still being stored."""
        before = self.status
        time.sleep(REST_SECONDS)
        after = self.status
        return after if after["last_seq"] == before["last_seq"] else {}

    # --- end ---

    def stop(self) -> int:
        """Stop the daemon and wait; return its exit code."""
        if self.alive:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(LIMIT_SECONDS)

    def kill(self) -> None:
        """Kill the daemon."""
        self.process.kill()
        self.process.wait(LIMIT_SECONDS)


def environment(home: Path, **settings: object) -> dict[str, str]:
    """The environment of a home, isolated from that of the tests."""
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    variables = {f"HEADSPACE_{name.upper()}": str(value) for name, value in {**PATIENT, **settings}.items()}
    return {**kept, "HOME": str(home), "HEADSPACE_HOME": str(home), "HEADSPACE_PORT": "0", **variables}


def start_daemon(home: Path, **settings: object) -> RunningDaemon:
    """Start a daemon without waiting for it. The caller must end it."""
    return start_daemon_in(home, environment(home, **settings))


def start_daemon_in(home: Path, env: Mapping[str, str]) -> RunningDaemon:
    """Start a daemon in a given environment."""
    home.mkdir(parents=True, exist_ok=True)
    output = home / "output.txt"
    with output.open("ab") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "claude_headspace", "serve"],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
        )
    return RunningDaemon(home, process, output)


@contextlib.contextmanager
def running_daemon(home: Path, **settings: object) -> Iterator[RunningDaemon]:
    """A ready daemon in a scratch home. It is always ended at the end of the block."""
    with running_daemon_in(home, environment(home, **settings)) as daemon:
        yield daemon


@contextlib.contextmanager
def running_daemon_in(home: Path, env: Mapping[str, str]) -> Iterator[RunningDaemon]:
    """The same in a given environment, such as that of a desktop."""
    daemon = start_daemon_in(home, env)
    try:
        daemon.url = wait_until(lambda: _announced(daemon), "daemon.json")
        wait_until(lambda: _answers(daemon), "a reply of /health")
        yield daemon
    finally:
        _end(daemon.process)


def _announced(daemon: RunningDaemon) -> str:
    """The address in `daemon.json`, or an empty text if the file is of another daemon."""
    assert daemon.alive, f"the daemon ended at once: {daemon.output.read_text()}"
    try:
        found = json.loads((daemon.home / "run" / "daemon.json").read_bytes())
    except (OSError, ValueError):
        return ""
    return str(found["url"]) if found["pid"] == daemon.pid else ""


def _answers(daemon: RunningDaemon) -> bool:
    assert daemon.alive, f"the daemon ended at once: {daemon.output.read_text()}"
    try:
        return daemon.get("/health").status == 200
    except (OSError, http.client.HTTPException):
        return False


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(20)
