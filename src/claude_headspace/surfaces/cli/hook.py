"""The CLI command `hook TYPE`: records one hook event from standard input, like `sp hook` of plate-spinner.

The event goes to the spool, as with the installed hook script (docs/hooks.md), so it is not lost while no daemon runs.
It never asks: guard rules do not apply to tool calls that only this command reports, and `headspace why` says so.
Prints nothing and always exits with 0: a hook must never disturb a client.
"""

import json
import os
import secrets
import sys
import time
from contextlib import suppress
from typing import Annotated

from claude_headspace.clients.environment import NOTES, client_in, client_pid_in
from claude_headspace.clients.plate_spinner.hook_types import HOOK_TYPES
from claude_headspace.clients.processes import own_environment
from claude_headspace.config import find_paths
from claude_headspace.surfaces.cli.arguments.parameters import Argument
from claude_headspace.surfaces.cli.options import examples


@examples("headspace hook session-start <payload.json")
def hook(
    event: Annotated[
        str,
        Argument(
            "TYPE",
            help="session-start, prompt-submit, pre-tool-use, post-tool-use or stop; or any hook name of Claude Code.",
        ),
    ],
) -> None:
    """Record one hook event from standard input.

    For settings that were written for plate-spinner. `headspace install` registers a faster script.
    """
    with suppress(OSError, ValueError):
        _write_to_spool(HOOK_TYPES.get(event, event), sys.stdin.buffer.read())


def _write_to_spool(event: str, payload: bytes) -> None:
    """Write one new file to the spool. It is complete when it ends with a newline."""
    fired, env = f"{time.time():.6f}", own_environment(os.environ)
    header = {
        "event": event,
        "client": client_in(env),
        "delivery-id": f"hook-{os.getpid()}-{fired}-{secrets.token_hex(4)}",
        "client-pid": client_pid_in(env) or str(os.getppid()),
        "fired-at": fired,
        "only-reports": "yes",
        **{note: env[variable] for variable, note in NOTES.items() if env.get(variable)},
    }
    paths = find_paths()
    paths.create_directories()
    path = paths.spool / f"{fired}-{os.getpid()}-{secrets.token_hex(4)}.json"
    text = json.dumps(header).encode() + b"\n" + payload.rstrip(b"\n") + b"\n"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(text)
