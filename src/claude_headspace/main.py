"""The command `headspace`: the commands of `surfaces.cli`, and those that need the daemon or the journal themselves.

Exit codes
    0  done (also when there was nothing to do)
    1  it could not be done; standard error says why, and what to do next
    2  the command line cannot be understood
    3  the daemon is needed and nobody is there
"""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

from claude_headspace.config import Places, find_places, load_settings
from claude_headspace.errors import DaemonMissing, HeadspaceError
from claude_headspace.surfaces import cli
from claude_headspace.surfaces.cli.options import AsJson

if TYPE_CHECKING:
    from claude_headspace.ports import Journal
    from claude_headspace.surfaces.client import Client, Json

EXIT_ERROR, EXIT_DAEMON_MISSING = 1, 3


def main() -> None:
    """Run a command; what goes wrong is told in two lines."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # both are text files
    try:
        application()(prog_name="headspace")
    except HeadspaceError as error:
        _tell(error.message, error.hint)
        sys.exit(EXIT_DAEMON_MISSING if isinstance(error, DaemonMissing) else EXIT_ERROR)
    except OSError as error:
        _tell(
            f"A file cannot be used: {error}.", "`headspace config` shows where files live; check that they are yours."
        )
        sys.exit(EXIT_ERROR)


def _tell(message: str, hint: str) -> None:
    from claude_headspace.surfaces.wording import clean

    typer.echo(clean(f"{message}\n{hint}"), err=True)


def application() -> typer.Typer:
    """All commands."""
    app = cli.build([cli.Entry("serve", serve, ("headspace serve", "headspace serve --port 0"))])
    database = cli.group("Look after the database.")
    cli.add(database, DATABASE_COMMANDS)
    app.add_typer(database, name="db")
    return app


# --- serve ---


def serve(
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option("--port", "-p", help="Port to listen on; 0 takes a free one.")] = None,
) -> None:
    """Run the daemon here until Ctrl+C."""
    from claude_headspace import daemon
    from claude_headspace.surfaces.cli import terminal
    from claude_headspace.surfaces.cli.presentation.reports import banner
    from claude_headspace.surfaces.running import DaemonInfo
    from claude_headspace.surfaces.wording import without_password

    places = find_places()
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = load_settings(places, overrides=given)
    database = without_password(settings.database) or str(places.database)

    def listening(info: DaemonInfo) -> None:
        screen = terminal.screen()
        screen.show(banner(info.url, database, str(places.log_file), screen.width))

    _stop_by_signals()
    with suppress(KeyboardInterrupt):
        daemon.serve(settings, places, listening)
    terminal.screen().show([terminal.line("Headspace has stopped.")])


def _stop_by_signals() -> None:
    """End as by Ctrl+C when told to, or when the terminal closes: the server stops, then everything is put away."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    def hang_up(_number: int, _frame: FrameType | None) -> None:
        signal.raise_signal(signal.SIGTERM)

    signal.signal(signal.SIGTERM, stop)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL:
        signal.signal(signal.SIGHUP, hang_up)


# --- db ---


def upgrade(as_json: AsJson = False) -> None:
    """Bring the database to this version.

    The daemon does so itself when it starts.
    """
    from claude_headspace.surfaces.cli import terminal
    from claude_headspace.surfaces.running import find_daemon

    places = find_places()
    if find_daemon(places) is None:
        with _journal(places):
            pass
    if as_json:
        terminal.write_json({"up_to_date": True})
    else:
        terminal.screen().show([terminal.line("The database is up to date.")])


def verify(as_json: AsJson = False) -> None:
    """Replay the log and compare it with what is shown.

    Exits with 1 if anything differs.
    """
    from claude_headspace.surfaces.cli import terminal
    from claude_headspace.surfaces.cli.presentation.reports import verification
    from claude_headspace.surfaces.wording import cleaned

    result = _upkeep(lambda client: client.db_verify(), _verified)
    if as_json:
        terminal.write_json(result)
    else:
        terminal.screen().show(verification(cleaned(result)))
    if not result["ok"]:
        raise typer.Exit(EXIT_ERROR)


def rebuild(as_json: AsJson = False) -> None:
    """Make everything that is shown anew from the log.

    Nothing is announced or done again.
    """
    from claude_headspace.surfaces.cli import terminal
    from claude_headspace.surfaces.wording import count

    result = _upkeep(lambda client: client.db_rebuild(), lambda journal: {"events": journal.rebuild()})
    if as_json:
        terminal.write_json(result)
    else:
        terminal.screen().show([terminal.line(f"Rebuilt from {count(result['events'], 'event')}.")])


def _upkeep(ask: Callable[["Client"], "Json"], do: Callable[["Journal"], "Json"]) -> "Json":
    """Let the running daemon do it; without one, do it here."""
    from claude_headspace.surfaces.client import Client
    from claude_headspace.surfaces.running import is_held

    places = find_places()
    if is_held(places.lock_file):
        return ask(Client.local(places))
    with _journal(places) as journal:
        return do(journal)


def _verified(journal: "Journal") -> "Json":
    import msgspec

    differences = [msgspec.structs.asdict(difference) for difference in journal.verify()]
    return {"ok": not differences, "differences": differences}


@contextmanager
def _journal(places: Places) -> Iterator["Journal"]:
    """The journal of this home; no daemon can start meanwhile."""
    from claude_headspace.daemon import ready_journal
    from claude_headspace.surfaces.running import hold

    places.make()
    with hold(places):
        journal = ready_journal(load_settings(places), places)
        try:
            yield journal
        finally:
            journal.close()


DATABASE_COMMANDS = (
    cli.Entry("upgrade", upgrade, ("headspace db upgrade",)),
    cli.Entry("verify", verify, ("headspace db verify || headspace db rebuild",)),
    cli.Entry("rebuild", rebuild, ("headspace db rebuild",)),
)
