"""CLI commands that follow something: `tail` the events of the stream, `logs` the log file of the daemon."""

import time
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

from claude_headspace.config import find_paths
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.echo import echo
from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option
from claude_headspace.surfaces.cli.choose import choose_agent
from claude_headspace.surfaces.cli.options import AsJson, complete_agents, examples, now
from claude_headspace.surfaces.cli.presentation.event_lines import EventFormatter
from claude_headspace.surfaces.cli.presentation.status import log_lines
from claude_headspace.surfaces.client.api_client import ApiClient, Json, Message
from claude_headspace.surfaces.client.api_client import follow as follow_stream
from claude_headspace.surfaces.text.formatting import clean_json

_POLL_SECONDS = 0.2


@examples("headspace tail", "headspace tail calm-otter", "headspace tail --types wait_opened,wait_closed --json")
def tail(
    agent: Annotated[
        str | None,
        Argument("AGENT", help="Only events of this agent.", complete=complete_agents),
    ] = None,
    types: Annotated[
        str,
        Option("--types", "-t", help="Only these event types, comma-separated: state_changed,turn_created."),
    ] = "",
    after: Annotated[
        int | None, Option("--after", min=0, help="Start after this event number; 0 starts at the beginning.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Follow events as they happen, one line each.

    Ctrl+C ends it. If the daemon restarts, the command reconnects and continues where it stopped. With --json each
    event is one object per line with `id`, `type` and `data`.
    """
    client = ApiClient.local()
    agent_id = choose_agent(client, agent)["id"] if agent else None
    start = client.last_seq() if after is None else after
    wanted = [kind for kind in types.replace(" ", "").split(",") if kind]
    agents = client.agents() if after is None else []
    messages = follow_stream(
        ApiClient.local,
        start,
        wanted,
        agent_id=agent_id,
        on_lost=lambda: echo("The connection to the daemon was lost; waiting for it (Ctrl+C ends).", is_error=True),
        on_reconnect=lambda: echo("Reconnected to the daemon.", is_error=True),
    )
    try:
        _print_messages(messages, agents, everything=bool(wanted), as_json=as_json)
    except KeyboardInterrupt:
        return


def _print_messages(messages: Iterator[Message], agents: list[Json], *, everything: bool, as_json: bool) -> None:
    formatter = EventFormatter(
        clean_json(agents), lambda agent_id: clean_json(ApiClient.local().agent(agent_id)), everything=everything
    )
    for message in messages:
        if as_json:
            output.write_json(message._asdict(), indent=None)
            continue
        screen = output.screen()
        line = formatter.line(message.type, clean_json(message.data), now(), screen.width)
        if line is not None:
            screen.show([line])


@examples("headspace logs --follow", "headspace logs --last 500 --json | jq 'select(.level == \"error\")'")
def logs(
    last: Annotated[int, Option("--last", "-n", min=0, help="How many lines to show.")] = 50,
    follow: Annotated[bool, Option("--follow", "-f", help="Keep printing new lines, until Ctrl+C.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the log of the daemon."""
    path = find_paths().log_file
    if not path.exists() and not follow:
        echo("There is no log yet: the daemon has not run here.", is_error=True)
        return
    end, lines = _last_lines(path, last)
    try:
        _print_log(lines, as_json=as_json)
        if follow:
            _print_log(_new_lines(path, end), as_json=as_json)
    except KeyboardInterrupt:
        return


def _print_log(lines: Iterable[str], *, as_json: bool) -> None:
    for raw in lines:
        if as_json:
            output.write_json_text(raw.rstrip("\n"))
        else:
            output.screen().show(log_lines(raw, now()))


def _last_lines(path: Path, number: int) -> tuple[int, list[str]]:
    """The size of a file and its last lines."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            lines = list(deque(file, maxlen=number))
            return file.tell(), lines
    except FileNotFoundError:
        return 0, []


def _new_lines(path: Path, position: int) -> Iterator[str]:
    """The lines that are written to a file after a position, also if the file is replaced."""
    inode = _inode(path)
    while True:
        current = _inode(path)
        if current != inode:
            inode, position = current, 0
        try:
            with path.open(encoding="utf-8", errors="replace") as file:
                file.seek(position)
                yield from file
                position = file.tell()
        except FileNotFoundError:
            pass
        time.sleep(_POLL_SECONDS)


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None
