"""Commands that read along: `tail` the events, `logs` the daemon's own log."""

import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from claude_headspace.surfaces.cli.options import AsJson, complete_agents, now, places

if TYPE_CHECKING:
    from claude_headspace.surfaces.client.api_client import Json, Message

_POLL_SECONDS = 0.2


def tail(
    agent: Annotated[
        str | None,
        typer.Argument(metavar="AGENT", help="Only this agent.", autocompletion=complete_agents),
    ] = None,
    types: Annotated[
        str, typer.Option("--types", "-t", help="Only these events, with commas, such as state_changed,turn_created.")
    ] = "",
    after: Annotated[
        int | None, typer.Option("--after", min=0, help="First everything after this event number; 0 is all there is.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Follow what happens, one line per event, until Ctrl+C.

    It goes on where it stopped when the daemon is restarted. With --json every event is one object on one line, with
    `id`, `type` and `data`.
    """
    from claude_headspace.surfaces.client.api_client import ApiClient, follow

    client = ApiClient.local()
    agent_id = client.agent(agent)["id"] if agent else None
    start = client.last_seq() if after is None else after
    wanted = [kind for kind in types.replace(" ", "").split(",") if kind]
    agents = client.agents() if after is None else []
    messages = follow(ApiClient.local, start, wanted, agent_id=agent_id, on_lost=_say_lost, on_reconnect=_say_back)
    try:
        _print_messages(messages, agents, everything=bool(wanted), as_json=as_json)
    except KeyboardInterrupt:
        return


def _print_messages(messages: Iterator["Message"], agents: list["Json"], *, everything: bool, as_json: bool) -> None:
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.event_lines import Ticker
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.text.labels import clean_json

    ticker = Ticker(
        clean_json(agents), lambda agent_id: clean_json(ApiClient.local().agent(agent_id)), everything=everything
    )
    for message in messages:
        if as_json:
            terminal.write_json(message._asdict(), indent=None)
            continue
        screen = terminal.screen()
        line = ticker.line(message.type, clean_json(message.data), now(), screen.width)
        if line is not None:
            screen.show([line])


def _say_lost() -> None:
    typer.echo("The daemon is gone; waiting for it to come back (Ctrl+C ends).", err=True)


def _say_back() -> None:
    typer.echo("The daemon is back.", err=True)


def logs(
    last: Annotated[int, typer.Option("--last", "-n", min=0, help="How many lines to show.")] = 50,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with what is logged, until Ctrl+C.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what the daemon logged."""
    path = places().log_file
    if not path.exists() and not follow:
        typer.echo("There is no log yet: the daemon has not run here.", err=True)
        return
    end, lines = _last_lines(path, last)
    try:
        _print_log(lines, as_json=as_json)
        if follow:
            _print_log(_new_lines(path, end), as_json=as_json)
    except KeyboardInterrupt:
        return


def _print_log(lines: Iterator[str] | list[str], *, as_json: bool) -> None:
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.status import log_lines

    for raw in lines:
        if as_json:
            terminal.write_json_text(raw.rstrip("\n"))
        else:
            terminal.screen().show(log_lines(raw, now()))


def _last_lines(path: Path, number: int) -> tuple[int, list[str]]:
    """The end of a file and the lines before it."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            lines = list(deque(file, maxlen=number))
            return file.tell(), lines
    except FileNotFoundError:
        return 0, []


def _new_lines(path: Path, position: int) -> Iterator[str]:
    """What is written to a file from now on, also when another takes its place."""
    known = _identity(path)
    while True:
        current = _identity(path)
        if current != known:
            known, position = current, 0
        try:
            with path.open(encoding="utf-8", errors="replace") as file:
                file.seek(position)
                yield from file
                position = file.tell()
        except FileNotFoundError:
            pass
        time.sleep(_POLL_SECONDS)


def _identity(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None
