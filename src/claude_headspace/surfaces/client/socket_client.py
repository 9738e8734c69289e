"""Sends one command to the socket of the daemon. Identifies the agent that runs this process, and needs no token.

Only the environment variables that identify the agent are sent.
"""

import json
import os
import socket
from collections.abc import Mapping
from typing import Any

import psutil

from claude_headspace.clients.environment import IDENTITY
from claude_headspace.clients.processes import own_environment
from claude_headspace.config import Paths, find_paths
from claude_headspace.errors import BadRequest, DaemonMissing, HeadspaceError
from claude_headspace.inputs.receive.socket import socket_path

ANSWER_SECONDS = 10.0


MAX_ANCESTORS = 50


def ancestors() -> list[int]:
    """The ancestors of this process, nearest first."""
    try:
        return [process.pid for process in psutil.Process().parents()][:MAX_ANCESTORS]
    except psutil.Error:
        return []


def send_command(
    cmd: str,
    args: Any,
    *,
    env: Mapping[str, str] = os.environ,
    paths: Paths | None = None,
    timeout: float = ANSWER_SECONDS,
) -> Any:
    """Send a command; its result. Raises the error of the command."""
    paths = paths or find_paths()
    own = own_environment(env)
    identity = {name: own[name] for name in IDENTITY if own.get(name)}
    line = json.dumps({"cmd": cmd, "args": args, "env": identity}).encode() + b"\n"
    answer = _exchange(paths, line, timeout)
    try:
        decoded = json.loads(answer)
        if decoded["ok"]:
            return decoded["result"]
        error = decoded["error"]
        raise BadRequest(error["code"], error["message"], error["hint"])
    except (ValueError, KeyError, TypeError) as error:
        raise HeadspaceError("bad_answer", "The response is not from Headspace.", "See `headspace status`.") from error


def _exchange(paths: Paths, line: bytes, timeout: float) -> bytes:
    try:
        with socket_path(paths.socket_file) as path, socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(timeout)
            connection.connect(path)
            connection.sendall(line)
            connection.shutdown(socket.SHUT_WR)
            pieces = []
            while piece := connection.recv(65_536):
                pieces.append(piece)
            return b"".join(pieces)
    except (FileNotFoundError, ConnectionRefusedError) as error:
        raise DaemonMissing("daemon_missing", "Headspace is not running.", "Start it with `headspace up`.") from error
    except OSError as error:
        raise DaemonMissing(
            "daemon_missing", f"The daemon does not answer on its socket ({error}).", "See `headspace status`."
        ) from error
