"""A real daemon for tests: started as a process of its own in a scratch home, spoken to over HTTP, always ended.

    with running_daemon(tmp_path) as daemon:
        reply = daemon.post("session-start", {"session_id": "one", "cwd": "/tmp"})
        assert reply.json()["state"] == "idle"

Settings are given by name, as in `running_daemon(home, heartbeat_seconds=0.1)`. The daemon is seen from outside only,
through what the standard library can speak. Waits are on conditions, with limits that only a hang reaches.
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
"""How long a condition may take. Far more than it ever does: a slow machine is no failure."""

PASSED_ON = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "COVERAGE_PROCESS_START")
"""What a daemon inherits of the environment; everything else is left behind."""

PATIENT = {"patience_seconds": LIMIT_SECONDS}
"""A slow machine is no trouble of the database; tests of that set their own."""

AWAY = "postgresql+psycopg://nobody@127.0.0.1:1/nothing"
"""A database that is not there: nobody listens on that port."""

T = TypeVar("T")
Body = bytes | Mapping[str, object] | None


def wait_until(condition: Callable[[], T], what: str, limit: float = LIMIT_SECONDS) -> T:
    """Ask until the answer is true, and give it back."""
    deadline, pause = time.monotonic() + limit, 0.005
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited {limit:.0f} s in vain: {what}"
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)  # whoever asks all the time slows down what it waits for
    return found


@dataclass(frozen=True)
class Reply:
    """An answer over HTTP."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self) -> Any:
        """The body, read strictly."""
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, str]:
        """The one shape of errors, checked."""
        body = self.json()
        assert set(body) == {"error"}, body
        error: dict[str, str] = body["error"]
        assert set(error) == {"code", "message", "hint"}, error
        assert all(isinstance(text, str) and text for text in error.values()), error
        return error


@dataclass(frozen=True)
class Message:
    """One event of the stream; a comment has neither type nor data."""

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
        """Hang up."""
        if self._connection.sock is not None:
            with contextlib.suppress(OSError):
                self._connection.sock.shutdown(socket.SHUT_RDWR)
        self.response.close()
        self._connection.close()

    def next(self) -> Message:
        """The next event; comments are skipped."""
        while not (message := self._block()).type:
            pass
        return message

    def until(self, found: Callable[[Message], bool]) -> list[Message]:
        """The events up to the first one that is looked for, that one included."""
        messages = [self.next()]
        while not found(messages[-1]):
            messages.append(self.next())
        return messages

    def until_type(self, kind: str) -> Message:
        """The next event of a type."""
        return self.until(lambda message: message.type == kind)[-1]

    def comment(self) -> str:
        """The next comment; events before it are skipped."""
        while not (message := self._block()).comment:
            pass
        return message.comment

    def rest(self) -> list[Message]:
        """Everything until the daemon ends the stream."""
        messages = []
        with contextlib.suppress(EOFError):
            while True:
                messages.append(self.next())
        return messages

    def _block(self) -> Message:
        """What stands before the next empty line."""
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
    """One connection that stays open, for tests that send much. It belongs to one thread."""

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
        """Send anything."""
        told = {"Content-Type": "application/json"} if method == "POST" else {}
        self._connection.request(method, path, encoded(body), {**told, **(headers or {})})
        with self._connection.getresponse() as response:
            return Reply(response.status, response.headers, response.read())


def encoded(body: Body) -> bytes | None:
    """Bytes as they are, anything else as JSON."""
    return body if body is None or isinstance(body, bytes) else json.dumps(body).encode()


class RunningDaemon:
    """A daemon in a process of its own."""

    def __init__(self, home: Path, process: "subprocess.Popen[bytes]", output: Path) -> None:
        self.home = home
        self.process = process
        self.output = output
        self.url = ""

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self.process.pid

    @property
    def port(self) -> int:
        """Where it listens."""
        port = urllib.parse.urlsplit(self.url).port
        assert port is not None
        return port

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self.process.poll() is None

    @property
    def log(self) -> str:
        """What it logged."""
        path = self.home / "headspace.log"
        return path.read_text() if path.exists() else ""

    # --- speaking to it ---

    def post(self, event: str, payload: Body, headers: Mapping[str, str] | None = None) -> Reply:
        """Send a hook."""
        return self.send("POST", f"/hook/{event}", payload, headers)

    def get(self, path: str, scope: str | None = "read") -> Reply:
        """Read, with the token of a scope."""
        return self.send("GET", path, scope=scope)

    def send(
        self,
        method: str,
        path: str,
        body: Body = None,
        headers: Mapping[str, str] | None = None,
        scope: str | None = None,
    ) -> Reply:
        """Send anything, on a connection of its own."""
        with self.client() as client:
            return client.send(method, path, body, {**self.credentials(scope), **(headers or {})})

    def raw(self, request: bytes) -> bytes:
        """Send these very bytes, and read until the daemon closes the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT_SECONDS) as connection:
            connection.sendall(request)
            answer = b""
            while chunk := connection.recv(65_536):
                answer += chunk
            return answer

    def client(self) -> Client:
        """A connection that stays open."""
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
        """Begin to read the stream."""
        wanted = {"types": types, "agent_id": agent_id, "project_id": project_id}
        query = urllib.parse.urlencode({name: value for name, value in wanted.items() if value})
        told = {} if last_event_id is None else {"Last-Event-ID": str(last_event_id)}
        return Stream(self.port, f"/api/events/stream?{query}", {**self.credentials(scope), **told})

    def token(self, scope: str) -> str:
        """A token, made as the command line makes it: from the home's secret."""
        return make_token((self.home / "secret").read_bytes(), Scope(scope))

    def credentials(self, scope: str | None) -> dict[str, str]:
        """The header that carries a token."""
        return {} if scope is None else {"Authorization": f"Bearer {self.token(scope)}"}

    # --- what is often asked ---

    @property
    def status(self) -> dict[str, Any]:
        """`/hook/status`."""
        answer: dict[str, Any] = self.get("/hook/status").json()
        return answer

    def agents(self) -> list[dict[str, Any]]:
        """The board."""
        answer: list[dict[str, Any]] = self.get("/api/agents").json()
        return answer

    def agent(self, reference: str) -> dict[str, Any]:
        """One agent."""
        answer: dict[str, Any] = self.get(f"/api/agents/{reference}").json()
        return answer

    def events(self) -> list[dict[str, Any]]:
        """The whole log."""
        found: list[dict[str, Any]] = []
        while page := self.get(f"/api/events?limit=1000&after={found[-1]['seq'] if found else 0}").json():
            found += page
        return found

    def verified(self) -> bool:
        """Whether everything that is shown follows from the log."""
        answer = self.send("POST", "/api/admin/db/verify", scope="admin").json()
        assert answer["differences"] == [], answer["differences"][:5]
        return answer["ok"] is True

    @contextlib.contextmanager
    def untouched(self) -> Iterator[None]:
        """Whatever happens in the block: nothing is written, and the daemon still answers, in the same process."""
        before = self.status
        yield
        after = self.status
        assert after["events_total"] == before["events_total"], "something was written"
        assert after["last_seq"] == before["last_seq"], "something was announced"
        assert after["pid"] == self.pid
        assert self.get("/health").json()["status"] == "ok"

    # --- ending it ---

    def stop(self) -> int:
        """Ask it to stop, and wait until it has; its exit code."""
        if self.alive:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(LIMIT_SECONDS)

    def kill(self) -> None:
        """End it without warning."""
        self.process.kill()
        self.process.wait(LIMIT_SECONDS)


def environment(home: Path, **settings: object) -> dict[str, str]:
    """The environment of a home, with nothing of ours in it but what every program needs."""
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    told = {f"HEADSPACE_{name.upper()}": str(value) for name, value in {**PATIENT, **settings}.items()}
    return {**kept, "HOME": str(home), "HEADSPACE_HOME": str(home), "HEADSPACE_PORT": "0", **told}


def start_daemon(home: Path, **settings: object) -> RunningDaemon:
    """Start a daemon without waiting for it. Whoever calls this ends it."""
    return start_daemon_in(home, environment(home, **settings))


def start_daemon_in(home: Path, env: Mapping[str, str]) -> RunningDaemon:
    """The same in a whole environment."""
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
    """A daemon that answers, in a scratch home of its own; it is ended when the block ends, whatever happens in it."""
    with running_daemon_in(home, environment(home, **settings)) as daemon:
        yield daemon


@contextlib.contextmanager
def running_daemon_in(home: Path, env: Mapping[str, str]) -> Iterator[RunningDaemon]:
    """The same in a whole environment, such as that of a desktop."""
    daemon = start_daemon_in(home, env)
    try:
        daemon.url = wait_until(lambda: _announced(daemon), "daemon.json")
        wait_until(lambda: _answers(daemon), "an answer of /health")
        yield daemon
    finally:
        _end(daemon.process)


def _announced(daemon: RunningDaemon) -> str:
    """The address in `daemon.json`, once it is this daemon's own."""
    assert daemon.alive, f"the daemon ended at once: {daemon.output.read_text()}"
    try:
        told = json.loads((daemon.home / "run" / "daemon.json").read_bytes())
    except (OSError, ValueError):
        return ""
    return str(told["url"]) if told["pid"] == daemon.pid else ""


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
