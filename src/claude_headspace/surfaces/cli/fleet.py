"""The CLI command `fleet`: the status of every tmux pane, window and session.

An agent may run in any tmux server of the user. The environment of its client names the server. Otherwise the pane is
searched in the server that `--socket` names, or the default one, and then in all others.
"""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from claude_headspace.config import find_paths, load_settings
from claude_headspace.outputs.tmux import server_socket
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Option
from claude_headspace.surfaces.cli.options import AsJson, examples
from claude_headspace.surfaces.cli.presentation.fleet import fleet_lines, group_by_pane
from claude_headspace.surfaces.client.api_client import ApiClient, Json

TMUX_SECONDS = 2.0
_FIELDS = ("pane_id", "window_id", "window_index", "window_name", "session_name", "socket_path")


@examples("headspace fleet", "headspace fleet --json | jq .status")
def fleet(
    socket: Annotated[str | None, Option("--socket", "-L", help="Name of the tmux server.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the status of each tmux pane, window and session.

    A group has the status of its most urgent agent: error, attention, working, checked or done. Attention becomes
    checked when you visit the pane. The setting `tmux_colours` shows the same status in tmux.
    """
    agents, host = ApiClient.local().agents(), load_settings(find_paths()).host_name
    found = group_by_pane(agents, find_panes([each for each in agents if each["host"] == host], socket))
    output.write_result(found, as_json, lambda found, _: fleet_lines(found))


def find_panes(agents: Sequence[Json], socket: str | None) -> dict[str, Json]:
    """The pane of every agent that runs in tmux, by the id of the agent."""
    in_tmux = [agent for agent in agents if agent["tmux"]["pane"] and agent["state"] != "ended"]
    own = {agent["id"]: server_socket(agent["pid"], {}) if agent["pid"] else "" for agent in in_tmux}
    named = {path: list_panes("-S", path) for path in sorted(set(own.values())) if path}
    unknown = any(not path for path in own.values())
    first = list_panes(*(("-L", socket) if socket else ())) if unknown else []
    rest = [list_panes("-S", path) for path in _sockets() if path not in named] if unknown else []
    found = {}
    for agent in in_tmux:
        servers = [named[own[agent["id"]]]] if own[agent["id"]] else [first, *named.values(), *rest]
        panes = (pane for server in servers for pane in server if pane["pane_id"] == agent["tmux"]["pane"])
        if (pane := next(panes, None)) is not None:
            found[agent["id"]] = pane
    return found


def _sockets() -> list[str]:
    """The sockets of the tmux servers of this user."""
    folder = Path(os.environ.get("TMUX_TMPDIR") or "/tmp") / f"tmux-{os.getuid()}"  # noqa: S108  # the default of tmux
    return sorted(str(path) for path in folder.glob("*") if path.is_socket())


def list_panes(*server: str) -> list[Json]:
    """The panes of a tmux server, named by options of tmux; empty if it does not run."""
    shown = "\t".join(f"#{{{name}}}" for name in _FIELDS)
    command = ["tmux", *server, "list-panes", "-a", "-F", shown]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TMUX_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [dict(zip(_FIELDS, row, strict=True)) for row in rows if len(row) == len(_FIELDS)]
