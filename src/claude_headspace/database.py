"""The commands `headspace db …`: what keeps the journal healthy, moves it and copies it.

Where a daemon runs it does the work itself; without one the command takes its place, holding the home's lock, so that
no daemon can start meanwhile. How far it is, is shown on standard error.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from claude_headspace.config import Paths, find_paths, load_settings
from claude_headspace.errors import BadRequest, JournalUnavailable
from claude_headspace.surfaces import cli
from claude_headspace.surfaces.cli.options import AsJson

if TYPE_CHECKING:
    from claude_headspace.journal.sql import SqlJournal
    from claude_headspace.ports import Journal
    from claude_headspace.surfaces.client.api_client import ApiClient, Json

EXIT_ERROR = 1


def upgrade(as_json: AsJson = False) -> None:
    """Bring the database to this version.

    The daemon does so itself when it starts.
    """
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.client.running_daemon import find_daemon

    places = find_paths()
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
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.status import verification
    from claude_headspace.surfaces.text.labels import clean_json

    result = _upkeep("Replaying the log", lambda client: client.db_verify(), _verified, quiet=as_json)
    if as_json:
        terminal.write_json(result)
    else:
        terminal.screen().show(verification(clean_json(result)))
    if not result["ok"]:
        raise typer.Exit(EXIT_ERROR)


def _verified(journal: "Journal") -> "Json":
    import msgspec

    differences = [msgspec.structs.asdict(difference) for difference in journal.verify()]
    return {"ok": not differences, "differences": differences}


def rebuild(as_json: AsJson = False) -> None:
    """Make everything that is shown anew from the log.

    Nothing is announced or done again.
    """
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.text.labels import count

    result = _upkeep(
        "Replaying the log",
        lambda client: client.db_rebuild(),
        lambda journal: {"events": journal.rebuild()},
        quiet=as_json,
    )
    if as_json:
        terminal.write_json(result)
    else:
        terminal.screen().show([terminal.line(f"Rebuilt from {count(result['events'], 'event')}.")])


def prune(
    days: Annotated[
        int | None, typer.Option("--days", min=1, max=36_500, help="How many days to keep; else `retention_days`.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only say what would go.")] = False,
    as_json: AsJson = False,
) -> None:
    """Take old events out, as the retention says.

    Agents that ended before go wholly, with all that was said. Those that go on keep a snapshot of where they were, so
    that replay, verify and time travel begin there. `db backup` first, if you may want it back.
    """
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.database import pruning

    result = _upkeep(
        "Pruning",
        lambda client: client.db_prune(days, dry_run=dry_run),
        lambda journal: _pruned(journal, days, dry_run=dry_run),
        quiet=as_json,
    )
    if as_json:
        terminal.write_json(result)
    else:
        terminal.screen().show(pruning(result, days=days, dry_run=dry_run))


def _pruned(journal: "Journal", days: int | None, *, dry_run: bool) -> "Json":
    import msgspec

    from claude_headspace.daemon.components import wall_clock
    from claude_headspace.surfaces.api.administration import prune_before

    before = prune_before(days, load_settings(find_paths()).retention_days, wall_clock())
    return msgspec.structs.asdict(journal.prune(before, dry_run=dry_run))


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write the copy; it must not exist yet.")],
    as_json: AsJson = False,
) -> None:
    """Copy the database to a file, also while the daemon runs.

    The copy is of one moment, checked, and a database that can be used as it is. For PostgreSQL use `pg_dump`.
    """
    from claude_headspace.journal.open import database_url, sqlite_path
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.files import new_file
    from claude_headspace.surfaces.cli.presentation.database import backed_up

    places = find_paths()
    address = database_url(load_settings(places), places)
    if (database := sqlite_path(address)) is None:
        raise _use_pg_dump(address)
    size = _backed_up(database, new_file(file), quiet=as_json)
    if as_json:
        terminal.write_json({"file": str(file.absolute()), "bytes": size})
    else:
        terminal.screen().show(backed_up(str(file), size))


def _use_pg_dump(address: str) -> BadRequest:
    from claude_headspace.config import without_password

    return BadRequest(
        "not_embedded",
        "The journal is on PostgreSQL, which has its own tool for that.",
        f"pg_dump --format=custom --file=headspace.dump '{without_password(address)}', and pg_restore to bring it back."
        " It finds the password in ~/.pgpass or PGPASSWORD.",
    )


def _backed_up(database: Path, file: Path, *, quiet: bool) -> int:
    from claude_headspace.journal.backup import backup as write
    from claude_headspace.surfaces.cli.progress import bar

    if not database.exists():
        raise BadRequest("no_database", f"There is no database at {database}.", "Start Headspace once.")
    with bar("Copying", database.stat().st_size, quiet=quiet) as advance:
        done = 0

        def tell(pages: int, _total: int) -> None:
            nonlocal done
            advance((pages - done) * 4_096)
            done = pages

        return write(database, file, tell)


def copy(
    source: Annotated[str, typer.Argument(metavar="SRC", help="A database: a file, or postgresql://…")],
    target: Annotated[str, typer.Argument(metavar="DST", help="Where to copy it: a file, or postgresql://…")],
    as_json: AsJson = False,
) -> None:
    """Copy a journal to another database: SQLite to PostgreSQL, or back.

    Broken off, it goes on where it stopped when it is run again. At the end both are compared. The daemons on both must
    be stopped. Then set `database` to the new address.
    """
    from claude_headspace.config import without_password
    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.cli.presentation.database import copied

    _refuse_same(source, target)
    with resumable(), _opened(source, create=False) as origin, _opened(target, create=True) as destination:
        result = _copied(origin, destination, quiet=as_json)
    if as_json:
        terminal.write_json(result)
    else:
        terminal.screen().show(copied(result, without_password(_address(target))))
    if result["differing"]:
        raise typer.Exit(EXIT_ERROR)


def _refuse_same(source: str, target: str) -> None:
    from claude_headspace.journal.exclusive_access import is_same_database

    if is_same_database(_address(source), _address(target)):
        raise BadRequest("same_database", "Both are the same database.", "Give another one to copy to.")


def _copied(source: "SqlJournal", target: "SqlJournal", *, quiet: bool) -> "Json":
    import msgspec

    from claude_headspace.journal.copy import copy as copy_journal
    from claude_headspace.surfaces.cli.progress import bars

    with bars(quiet=quiet) as phase:
        return msgspec.structs.asdict(copy_journal(source, target, phase))


@contextmanager
def resumable() -> Iterator[None]:
    """Whatever breaks a copy off, the same command goes on with it."""
    hint = "Run the same command again: it goes on where it stopped."
    try:
        yield
    except KeyboardInterrupt as stop:
        raise BadRequest("broken_off", "The copy was broken off.", hint) from stop
    except JournalUnavailable as error:
        raise JournalUnavailable(error.code, error.message, hint) from error


@contextmanager
def _opened(address: str, *, create: bool) -> Iterator["SqlJournal"]:
    """A journal by its address, while nobody else uses it."""
    from claude_headspace.config import without_password
    from claude_headspace.journal.exclusive_access import exclusive_access
    from claude_headspace.journal.open import database_url, open_journal, sqlite_path
    from claude_headspace.surfaces.client.running_daemon import daemon_lock

    places, url = find_paths(), _address(address)
    if not create and (file := sqlite_path(url)) is not None and not file.exists():
        raise BadRequest("no_database", f"There is no database at {address}.", "Give the file of a journal.")
    is_home = without_password(url) == without_password(database_url(load_settings(places), places))
    places.create_directories()
    with daemon_lock(places) if is_home else nullcontext(), exclusive_access(url, without_password(address)):
        journal = open_journal(url, allow_partial_copy=True)
        try:
            yield journal
        finally:
            journal.close()


def _address(told: str) -> str:
    """The address of a database that is named on the command line, where a path begins in this directory."""
    from claude_headspace.journal.open import parse_database_address

    return parse_database_address(told if "://" in told else str(Path(told).expanduser().absolute()))


# --- who does it ------------------------------------------------------------------------------------------------------


def _upkeep(
    what: str, ask: Callable[["ApiClient"], "Json"], do: Callable[["Journal"], "Json"], *, quiet: bool
) -> "Json":
    """Let the running daemon do it; without one, do it here."""
    from claude_headspace.surfaces.cli.progress import bar
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.client.running_daemon import is_locked

    places = find_paths()
    with bar(what, None, quiet=quiet):
        if is_locked(places.lock_file):
            return ask(ApiClient.local(places))
        with _journal(places) as journal:
            return do(journal)


@contextmanager
def _journal(places: Paths) -> Iterator["Journal"]:
    """The journal of this home; no daemon can start meanwhile."""
    from claude_headspace.journal.open import open_configured_journal
    from claude_headspace.surfaces.client.running_daemon import daemon_lock

    places.create_directories()
    with daemon_lock(places):
        journal = open_configured_journal(load_settings(places), places)
        try:
            yield journal
        finally:
            journal.close()


COMMANDS = (
    cli.Entry("upgrade", upgrade, ("headspace db upgrade",)),
    cli.Entry("verify", verify, ("headspace db verify || headspace db rebuild",)),
    cli.Entry("rebuild", rebuild, ("headspace db rebuild",)),
    cli.Entry("backup", backup, ("headspace db backup ~/headspace-backup.db",)),
    cli.Entry("prune", prune, ("headspace db prune --days 90 --dry-run", "headspace db prune")),
    cli.Entry(
        "copy",
        copy,
        ("headspace db copy ~/.local/share/headspace/headspace.db postgresql://headspace@db/headspace",),
    ),
)
