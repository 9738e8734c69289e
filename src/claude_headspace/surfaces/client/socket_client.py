"""One request to the daemon's socket, for commands that agents run: who asks goes along, and no token is needed."""

import json
import os
import socket
from collections.abc import Mapping
from typing import Any

from claude_headspace.config import Paths, find_paths
from claude_headspace.errors import BadRequest, DaemonMissing, HeadspaceError
from claude_headspace.inputs.receive.socket import socket_path

IDENTITY = (
    "AGENT_ID",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_HEADSPACE_SESSION_ID",
    "CLAUDE_HEADSPACE_TMUX_SESSION",
    "CLAUDE_PID",
    "CLAUDE_SESSION_ID",
    "CLAUDE_SESSION_MODE",
    "CLAUDE_SESSION_ROLE",
    "MISSION_EXECUTION_ID",
    "TMUX_PANE",
)
"""What of the environment says who asks. Nothing else of it leaves this process."""

ANSWER_SECONDS = 10.0


MOST_ANCESTORS = 50


def ancestors() -> list[int]:
    """The processes that this one descends from, the nearest first."""
    import psutil

    try:
        return [process.pid for process in psutil.Process().parents()][:MOST_ANCESTORS]
    except psutil.Error:
        return []


def send_command(
    cmd: str,
    args: Any,
    *,
    env: Mapping[str, str] = os.environ,
    places: Paths | None = None,
    timeout: float = ANSWER_SECONDS,
) -> Any:
    """The result of a command; its error comes as the exception that it is."""
    places = places or find_paths()
    told = {name: env[name] for name in IDENTITY if env.get(name)}
    line = json.dumps({"cmd": cmd, "args": args, "env": told}).encode() + b"\n"
    answer = _exchange(places, line, timeout)
    try:
        decoded = json.loads(answer)
        if decoded["ok"]:
            return decoded["result"]
        error = decoded["error"]
        raise BadRequest(error["code"], error["message"], error["hint"])
    except (ValueError, KeyError, TypeError) as error:
        raise HeadspaceError("bad_answer", "What answered is not Headspace.", "Compare `headspace status`.") from error


def _exchange(places: Paths, line: bytes, timeout: float) -> bytes:
    try:
        with socket_path(places.socket_file) as path, socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(timeout)
            connection.connect(path)
            connection.sendall(line)
            connection.shutdown(socket.SHUT_WR)
            pieces = []
            while piece := connection.recv(65_536):
                pieces.append(piece)
            return b"".join(pieces)
    except OSError as error:
        raise DaemonMissing(
            "daemon_missing", f"Headspace does not answer on its socket ({error}).", "Start it with `headspace up`."
        ) from error
