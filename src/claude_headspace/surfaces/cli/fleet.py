"""The CLI command `fleet`: the status of every tmux pane, window and session."""

import subprocess
from typing import Annotated

import typer

from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.options import AsJson, examples
from claude_headspace.surfaces.cli.presentation.fleet import fleet_lines, group_by_pane
from claude_headspace.surfaces.client.api_client import ApiClient, Json

TMUX_SECONDS = 2.0
_FIELDS = ("pane_id", "window_id", "window_index", "window_name", "session_name")


@examples("headspace fleet", "headspace fleet --json | jq .status")
def fleet(
    socket: Annotated[str | None, typer.Option("--socket", "-L", help="Name of the tmux server.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the status of each tmux pane, window and session.

    A group has the status of its most urgent agent: error, attention, working, checked or done. Attention becomes
    checked when you visit the pane. The setting `tmux_colours` shows the same status in tmux.
    """
    found = group_by_pane(ApiClient.local().agents(), list_panes(socket))
    output.write_result(found, as_json, lambda found, _: fleet_lines(found))


def list_panes(socket: str | None) -> list[Json]:
    """The panes of the tmux server; empty if no server runs."""
    server = ("-L", socket) if socket else ()
    shown = "\t".join(f"#{{{name}}}" for name in _FIELDS)
    command = ["tmux", *server, "list-panes", "-a", "-F", shown]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TMUX_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [dict(zip(_FIELDS, row, strict=True)) for row in rows if len(row) == len(_FIELDS)]
