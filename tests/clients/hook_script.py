"""The hook script in a temporary installation, run as Claude Code runs it, and servers for it."""

import json
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "src/claude_headspace/clients/notify-headspace.sh"
BASH = os.environ.get("TEST_BASH", "/bin/bash")
PAYLOAD = b'{"session_id":"one","cwd":"/tmp","hook_event_name":"PreToolUse","tool_name":"Bash"}'
EVENTS = ("PreToolUse", "PostToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "SessionEnd")
EVERY_BYTE = b'{"session_id":"one","text":"' + bytes(range(1, 256)).replace(b'"', b"") + b'"}'


@dataclass
class ScriptResult:
    """The result of a run."""

    code: int
    out: bytes
    err: bytes


@dataclass
class InstalledScript:
    """An installed hook script with its own state directory."""

    root: Path
    script: Path = field(init=False)

    def __post_init__(self) -> None:
        self.script = self.root / "hooks" / "notify-headspace.sh"
        self.spool = self.root / "state" / "spool"
        self.spool.mkdir(parents=True)
        self.script.parent.mkdir()
        self.script.write_bytes(SCRIPT.read_bytes())
        self.script.with_suffix(".state").symlink_to(self.root / "state")
        self.script.with_suffix(".conf").write_text("token=hs_ingest_secret\n")

    def simulate_old_bash(self) -> None:
        """Make the script use its branches for bash 3.2."""
        text = self.script.read_text()
        assert text.count("$BASH_VERSION <") == 2
        self.script.write_text(text.replace("$BASH_VERSION <", "3.2.57 <"))

    def advertise(self, port: int, *asked: str, pid: int | None = None) -> None:
        """Write the advertisement of a daemon: its address, and the events that ask."""
        state = self.root / "state"
        (state / "address").write_text(f"127.0.0.1 {port} {os.getpid() if pid is None else pid}\n")
        (state / "asked").mkdir(exist_ok=True)
        for event in asked:
            (state / "asked" / event).touch()

    @property
    def is_silent(self) -> bool:
        """Whether the daemon is marked as silent."""
        return (self.root / "state" / "silent").exists()

    def start(
        self, *arguments: str, env: dict[str, str] | None = None
    ) -> tuple["subprocess.Popen[bytes]", socket.socket]:
        """Start the script as the client does. The caller writes the payload to the socket."""
        ours, theirs = socket.socketpair()
        process = subprocess.Popen(
            [BASH, "-p", str(self.script), *arguments],
            stdin=theirs.fileno(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=env or {},
        )
        theirs.close()
        return process, ours

    def run(self, *arguments: str, payload: bytes = PAYLOAD, env: dict[str, str] | None = None) -> ScriptResult:
        """Run one hook. It may end without reading its payload."""
        process, stdin = self.start(*arguments, env=env)
        with stdin, suppress(BrokenPipeError):
            stdin.sendall(payload)
        out, err = process.communicate(timeout=60)
        return ScriptResult(process.returncode, out, err)

    def reported(self) -> list[tuple[dict[str, str], bytes]]:
        """The notes and payloads in the spool, in order."""
        found = []
        for path in sorted(self.spool.glob("*.json")):
            notes, _, rest = path.read_bytes().partition(b"\n")
            assert rest.endswith(b"\n")
            found.append((json.loads(notes), rest[:-1]))
        return found


NO_OUTPUT = ScriptResult(0, b"", b"")


Reply = bytes | None


@contextmanager
def server(reply: Reply) -> Iterator[tuple[int, list[bytes]]]:
    """A server that reads one request after the other and sends the same reply. None never replies."""
    requests: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))
    open_connections: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            if reply is None:
                open_connections.append(connection)
                continue
            requests.append(read_request(connection))
            connection.sendall(reply)
            connection.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1], requests
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(60)
        for connection in open_connections:
            connection.close()


def read_request(connection: socket.socket) -> bytes:
    """Read one complete request."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65_536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = int(header(data, "Content-Length") or 0)
    while len(body) < length:
        body += connection.recv(1_000_000)
    return head + b"\r\n\r\n" + body


def header(request: bytes, name: str) -> str | None:
    """A header of a request."""
    head = request.partition(b"\r\n\r\n")[0].decode("latin-1")
    return next((line.partition(": ")[2] for line in head.split("\r\n") if line.startswith(f"{name}: ")), None)


EMPTY_REPLY = b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n"


def reply_with(body: bytes, length: int | None = None) -> bytes:
    """A reply with a body."""
    declared = len(body) if length is None else length
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nContent-Length: %d\r\n\r\n" % declared + body
