"""Reads what the pane of an agent shows, with one tmux command. Changes nothing.

The screen belongs to the agent only while its client runs in the pane: another program may have taken it over.
"""

import os
import subprocess
from collections.abc import Mapping
from typing import NamedTuple

from claude_headspace.outputs import tmux

READ_SECONDS = 2.0


SIZE_FORMAT = "\t#{pane_width}\t#{cursor_y}\t#{cursor_x}\t#{cursor_flag}"
"""The fields after those of a `Pane`."""


class Cursor(NamedTuple):
    """Where the cursor is."""

    row: int
    column: int


class PaneScreen(NamedTuple):
    """The text of a pane, with its colours as escape sequences. The styles of a line continue on the next one."""

    pane: tmux.Pane
    text: str
    width: int
    """In columns."""
    cursor: Cursor | None
    """None if it is hidden."""


def read_agent_screen(
    name: str, pane_id: str | None, pid: int | None, env: Mapping[str, str] = os.environ, history: int = 0
) -> PaneScreen:
    """Return the screen of an agent, with some lines of its history. Raises `Refused` if it runs in no pane."""
    if not pane_id:
        raise tmux.no_pane(name, pid)
    tmux.require_tmux()
    socket = tmux.server_socket(pid, env)
    start = ("-S", f"-{history}") if history else ()
    output = _run(socket, pane_id, ["capture-pane", "-p", "-e", *start, "-t", pane_id])
    first, _, text = output.partition("\n")
    described, *size = first.rsplit("\t", SIZE_FORMAT.count("\t"))
    pane = tmux.parse_pane(socket, described)
    if pane is None or pane.id != pane_id:
        raise tmux.pane_gone(pane_id)
    width, row, column, is_visible = map(int, size)
    cursor = Cursor(row, column) if is_visible else None
    return PaneScreen(tmux.require_client(pane, name, pid), text, width, cursor)


def _run(socket: str, pane_id: str, capture: list[str]) -> str:
    """The description of a pane on the first line, then its text."""
    server = ["-S", socket] if socket else []
    describe = ["display-message", "-p", "-t", pane_id, tmux.PANE_FORMAT + SIZE_FORMAT]
    try:
        done = subprocess.run(
            ["tmux", *server, *describe, ";", *capture], capture_output=True, timeout=READ_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise tmux.Refused("tmux_failed", f"tmux failed: {error}.", "Is it running?") from error
    if done.returncode:
        raise tmux.pane_gone(pane_id)
    return done.stdout.decode("utf-8", "replace")
