"""The command `headspace`: the commands of `surfaces.cli`, and those that need the daemon or the journal themselves.

Exit codes
    0  done (also when there was nothing to do)
    1  it could not be done; standard error says why, and what to do next
    2  the command line cannot be understood
    3  the daemon is needed and nobody is there
    4  `run`: the daemon does not take the agent, for instance because its name is taken
    127  `run`, `resume`: there is no Claude Code to start
`run` and `resume` exit as Claude Code does: with its code, or 128 and the number of the signal that ended it.
"""

import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType
from typing import Annotated

import typer

from claude_headspace import database
from claude_headspace.config import effective_settings, find_paths
from claude_headspace.demo.command import demo
from claude_headspace.errors import ClientMissing, DaemonMissing, HeadspaceError, RegistrationRefused
from claude_headspace.surfaces import cli

EXIT_ERROR = 1
EXIT_CODES: dict[type[HeadspaceError], int] = {DaemonMissing: 3, RegistrationRefused: 4, ClientMissing: 127}


def main() -> None:
    """Run a command; what goes wrong is told in two lines."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # both are text files
    try:
        application()(prog_name="headspace")
    except HeadspaceError as error:
        _tell(error.message, error.hint)
        sys.exit(EXIT_CODES.get(type(error), EXIT_ERROR))
    except OSError as error:
        _tell(
            f"A file cannot be used: {error}.", "`headspace config` shows where files live; check that they are yours."
        )
        sys.exit(EXIT_ERROR)


def _tell(message: str, hint: str) -> None:
    from claude_headspace.surfaces.text.labels import clean_text

    typer.echo(clean_text(f"{message}\n{hint}"), err=True)


def application() -> typer.Typer:
    """All commands."""
    app = cli.build(FIRST)
    group = cli.group("Look after the database.")
    cli.add(group, database.COMMANDS)
    app.add_typer(group, name="db")
    return app


# --- serve ---


def serve(
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option("--port", "-p", help="Port to listen on; 0 takes a free one.")] = None,
    until_eof: Annotated[
        bool, typer.Option("--until-eof", help="Stop when standard input ends: with the program that started it.")
    ] = False,
) -> None:
    """Run the daemon here until Ctrl+C."""
    from claude_headspace.config import without_password
    from claude_headspace.daemon import serve as serving
    from claude_headspace.journal.open import database_url
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.status import NAMELESS, WAITS, banner
    from claude_headspace.surfaces.client.running_daemon import DaemonInfo

    places = find_paths()
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings, origins = effective_settings(places, overrides=given)
    address = without_password(database_url(settings, places))

    def listening(info: DaemonInfo, away: str) -> None:
        screen = terminal.screen()
        names = NAMELESS if serving.answers_nobody_else(settings) else ""
        warnings = {"waits": away and WAITS.format(away), "names": names}
        needs_token = settings.ingest == "token"
        screen.show(banner(info.url, address, str(places.log_file), screen.width, warnings, needs_token=needs_token))

    _stop_by_signals()
    if until_eof:
        threading.Thread(target=_stop_at_eof, daemon=True).start()
    with suppress(KeyboardInterrupt):
        serving.serve(settings, places, listening, origins)
    terminal.screen().show([terminal.line("Headspace has stopped.")])


FIRST = (
    cli.Entry("demo", demo, ("headspace demo", "headspace demo --tui", "headspace demo --for 60s --speed 4 --print")),
    cli.Entry("serve", serve, ("headspace serve", "headspace serve --port 0")),
)
"""The commands that need more than surfaces know."""


def _stop_at_eof() -> None:
    """Whoever started us holds the other end of our standard input: when that ends, so do we."""
    while sys.stdin.buffer.read(4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _stop_by_signals() -> None:
    """End as by Ctrl+C when told to, or when the terminal closes: the server stops, then everything is put away."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    def hang_up(_number: int, _frame: FrameType | None) -> None:
        signal.raise_signal(signal.SIGTERM)

    signal.signal(signal.SIGTERM, stop)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, hang_up)
