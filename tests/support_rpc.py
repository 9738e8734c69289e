"""A client of the daemon's socket."""

import json
import socket
from collections.abc import Mapping
from typing import Any

from claude_headspace.inputs.receive.socket import socket_path
from tests.support import LIMIT_SECONDS, RunningDaemon

JsonObject = dict[str, Any]


class Socket:
    """One persistent connection."""

    def __init__(self, daemon: RunningDaemon) -> None:
        with socket_path(daemon.home / "run" / "headspace.sock") as path:
            self._socket = socket.socket(socket.AF_UNIX)
            self._socket.settimeout(LIMIT_SECONDS)
            self._socket.connect(path)
        self._lines = self._socket.makefile("rb")

    def close(self) -> None:
        """Close the connection."""
        self._lines.close()
        self._socket.close()

    def ask(self, cmd: str, args: object, env: Mapping[str, str] | None = None) -> JsonObject:
        """Send a request and return its complete reply."""
        self.send(cmd, args, env)
        return self.receive()

    def send(self, cmd: str, args: object, env: Mapping[str, str] | None = None, request_id: object = None) -> None:
        """Send a request without waiting for its reply."""
        line = {"cmd": cmd, "args": args, "env": dict(env or {}), "id": request_id}
        self._socket.sendall(json.dumps(line).encode() + b"\n")

    def receive(self) -> JsonObject:
        """The next reply."""
        answer: JsonObject = json.loads(self._lines.readline())
        return answer


def call(daemon: RunningDaemon, cmd: str, args: object, env: Mapping[str, str] | None = None) -> Any:
    """The result of a command."""
    connection = Socket(daemon)
    try:
        answer = connection.ask(cmd, args, env)
    finally:
        connection.close()
    assert answer["ok"], answer
    return answer["result"]


def refusal(daemon: RunningDaemon, cmd: str, args: object, env: Mapping[str, str] | None = None) -> str:
    """The code of a command's error."""
    connection = Socket(daemon)
    try:
        answer = connection.ask(cmd, args, env)
    finally:
        connection.close()
    assert not answer["ok"], answer
    return str(answer["error"]["code"])
