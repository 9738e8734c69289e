"""`headspace hook TYPE`: one hook told from standard input, as plate-spinner's `sp hook` does.

It puts the event where the installed script would (docs/hooks.md), so nothing is lost while no daemon runs. It prints
nothing and exits with 0, whatever happens: a hook must never be felt in Claude Code.
"""

import json
import os
import secrets
import sys
import time
from contextlib import suppress
from typing import Annotated

import typer

from claude_headspace.clients.plate_spinner.hook_types import HOOK_TYPES
from claude_headspace.surfaces.cli.options import places

NOTES = {
    "tmux-pane": "TMUX_PANE",
    "tmux-session": "CLAUDE_HEADSPACE_TMUX_SESSION",
    "session-id": "CLAUDE_HEADSPACE_SESSION_ID",
    "wrapper-id": "CLAUDE_SESSION_ID",
    "mode": "CLAUDE_SESSION_MODE",
    "mission-id": "MISSION_EXECUTION_ID",
}
"""What the surroundings tell, and the variables that hold it."""


def hook(
    event: Annotated[
        str,
        typer.Argument(
            metavar="TYPE",
            help="session-start, prompt-submit, pre-tool-use, post-tool-use or stop; "
            "or the name of any hook of Claude Code.",
        ),
    ],
) -> None:
    """Tell of one hook, with its payload on standard input.

    For settings that were made for plate-spinner. `headspace install` registers a faster script for the same.
    """
    with suppress(OSError, ValueError):
        _tell(HOOK_TYPES.get(event, event), sys.stdin.buffer.read())


def _tell(event: str, payload: bytes) -> None:
    """One new file in the spool, complete when it ends in a newline."""
    fired = f"{time.time():.6f}"
    told = {name: os.environ.get(variable, "") for name, variable in NOTES.items()}
    notes = {
        "event": event,
        "delivery-id": f"hook-{os.getpid()}-{fired}-{secrets.token_hex(4)}",
        "client-pid": os.environ.get("CLAUDE_PID") or str(os.getppid()),
        "fired-at": fired,
        **{name: value for name, value in told.items() if value},
    }
    home = places()
    home.create_directories()
    path = home.spool / f"{fired}-{os.getpid()}-{secrets.token_hex(4)}.json"
    text = json.dumps(notes).encode() + b"\n" + payload.rstrip(b"\n") + b"\n"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(text)
