"""`headspace fleet`: the status of every pane, window and tmux session, the most urgent first."""

from typing import TYPE_CHECKING, Annotated

import typer

from claude_headspace.surfaces.cli.options import AsJson

if TYPE_CHECKING:
    from claude_headspace.surfaces.client.api_client import Json

PATIENCE_SECONDS = 2.0


def fleet(
    socket: Annotated[str | None, typer.Option("--socket", "-L", help="The name of the tmux server.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the fleet: one status for each pane, window and tmux session.

    error > attention > working > checked > done: the most urgent speaks for its group. Attention becomes checked once
    somebody came to its pane. The setting `tmux_colours` shows the same in tmux's status line.
    """
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.fleet import fleet_lines, fleet_of
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.text.labels import clean_json

    panes = list_panes(socket)
    found = fleet_of(ApiClient.local().agents(), panes)
    if as_json:
        terminal.write_json(found)
        return
    terminal.screen().show(fleet_lines(clean_json(found)))


_FIELDS = ("pane_id", "window_id", "window_index", "window_name", "session_name")


def list_panes(socket: str | None) -> "list[Json]":
    """The panes of the tmux server; none without one."""
    shown = _tmux(socket, "list-panes", "-a", "-F", "\t".join(f"#{{{name}}}" for name in _FIELDS))
    rows = [line.split("\t") for line in shown.splitlines()]
    return [dict(zip(_FIELDS, row, strict=True)) for row in rows if len(row) == len(_FIELDS)]


def _tmux(socket: str | None, *arguments: str) -> str:
    import shutil
    import subprocess

    if shutil.which("tmux") is None:
        return ""
    server = ("-L", socket) if socket else ()
    try:
        done = subprocess.run(
            ["tmux", *server, *arguments], capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""
