"""The CLI commands `headspace db …`: verify, rebuild, prune, back up and copy the journal.

If a daemon is running, it does the work. Otherwise the command does it and holds the lock of the daemon, so that no
daemon can start at the same time. A progress bar is shown on standard error.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated

import msgspec

from claude_headspace.config import Paths, find_paths, load_settings, without_password
from claude_headspace.errors import BadRequest, JournalUnavailable
from claude_headspace.inputs.receive.clock import wall_clock
from claude_headspace.journal.backup import backup as write
from claude_headspace.journal.copy import copy as copy_journal
from claude_headspace.journal.exclusive_access import exclusive_access, is_same_database
from claude_headspace.journal.open import (
    database_url,
    open_configured_journal,
    open_journal,
    parse_database_address,
    sqlite_path,
)
from claude_headspace.journal.sql import SqlJournal
from claude_headspace.kernel.text import count
from claude_headspace.ports import Journal
from claude_headspace.surfaces.api.administration import prune_before
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option
from claude_headspace.surfaces.cli.options import AsJson, examples, require_new_file
from claude_headspace.surfaces.cli.presentation.database import backup_result, copy_result, prune_result
from claude_headspace.surfaces.cli.presentation.status import verify_result
from claude_headspace.surfaces.cli.progress import progress_bar, progress_bars
from claude_headspace.surfaces.client.api_client import ApiClient, Json
from claude_headspace.surfaces.client.running_daemon import daemon_lock, find_daemon, is_locked

EXIT_ERROR = 1


@examples("headspace db upgrade")
def upgrade(as_json: AsJson = False) -> None:
    """Upgrade the database to this version.

    The daemon also does this when it starts.
    """
    paths = find_paths()
    if find_daemon(paths) is None:
        with _journal(paths):
            pass
    output.write_result({"up_to_date": True}, as_json, lambda _result, _: [output.line("The database is up to date.")])


@examples("headspace db verify || headspace db rebuild")
def verify(as_json: AsJson = False) -> None:
    """Compare the projections with a replay of the log.

    Exits with 1 if they differ.
    """
    result = _maintain("Replaying the log", lambda client: client.db_verify(), _verify, quiet=as_json)
    output.write_result(result, as_json, lambda result, _: verify_result(result))
    if not result["ok"]:
        sys.exit(EXIT_ERROR)


def _verify(journal: Journal) -> Json:
    differences = [msgspec.structs.asdict(difference) for difference in journal.verify()]
    return {"ok": not differences, "differences": differences}


@examples("headspace db rebuild")
def rebuild(as_json: AsJson = False) -> None:
    """Rebuild the projections from the log.

    Publishes no events and repeats no actions.
    """
    result = _maintain(
        "Replaying the log",
        lambda client: client.db_rebuild(),
        lambda journal: {"events": journal.rebuild()},
        quiet=as_json,
    )
    output.write_result(
        result, as_json, lambda result, _: [output.line(f"Rebuilt from {count(result['events'], 'event')}.")]
    )


@examples("headspace db prune --days 90 --dry-run", "headspace db prune")
def prune(
    days: Annotated[
        int | None, Option("--days", min=1, max=36_500, help="How many days to keep; default: `retention_days`.")
    ] = None,
    dry_run: Annotated[bool, Option("--dry-run", "-n", help="Only show what would be deleted.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete events that are older than the retention period.

    Agents that ended before it are deleted completely. Other agents keep a snapshot of their state at that time, and
    replay starts there. Deleted events cannot be restored: run `headspace db backup` first.
    """
    result = _maintain(
        "Pruning",
        lambda client: client.db_prune(days, dry_run=dry_run),
        lambda journal: _prune(journal, days, dry_run=dry_run),
        quiet=as_json,
    )
    output.write_result(result, as_json, lambda result, _: prune_result(result, days=days, dry_run=dry_run))


def _prune(journal: Journal, days: int | None, *, dry_run: bool) -> Json:
    before = prune_before(days, load_settings(find_paths()).retention_days, wall_clock())
    return msgspec.structs.asdict(journal.prune(before, dry_run=dry_run))


@examples("headspace db backup ~/headspace-backup.db")
def backup(
    file: Annotated[Path, Argument("FILE", help="The backup file; it must not exist yet.")],
    as_json: AsJson = False,
) -> None:
    """Back up the database to a file.

    Works while the daemon is running. The backup is a consistent, verified copy that can be used as a database. For
    PostgreSQL use `pg_dump`.
    """
    paths = find_paths()
    address = database_url(load_settings(paths), paths)
    if (database := sqlite_path(address)) is None:
        raise _use_pg_dump(address)
    size = _write_backup(database, require_new_file(file), quiet=as_json)
    result = {"file": str(file.absolute()), "bytes": size}
    output.write_result(result, as_json, lambda result, _: backup_result(str(file), result["bytes"]))


def _use_pg_dump(address: str) -> BadRequest:

    return BadRequest(
        "not_embedded",
        "This command backs up SQLite only; the journal is in PostgreSQL.",
        f"pg_dump --format=custom --file=headspace.dump '{without_password(address)}', and pg_restore to restore it."
        " Put the password into ~/.pgpass or PGPASSWORD.",
    )


def _write_backup(database: Path, file: Path, *, quiet: bool) -> int:

    if not database.exists():
        raise BadRequest("no_database", f"There is no database at {database}.", "Start Headspace once to create it.")
    with progress_bar("Copying", database.stat().st_size, quiet=quiet) as advance:
        done = 0

        def report_progress(pages: int, _total: int) -> None:
            nonlocal done
            advance((pages - done) * 4_096)
            done = pages

        return write(database, file, report_progress)


@examples("headspace db copy ~/.local/share/headspace/headspace.db postgresql://headspace@db/headspace")
def copy(
    source: Annotated[str, Argument("SRC", help="The source: a file, or postgresql://…")],
    target: Annotated[str, Argument("DST", help="The target: a file, or postgresql://…")],
    as_json: AsJson = False,
) -> None:
    """Copy the journal to another database.

    From SQLite to PostgreSQL, or back. Stop the daemons on both first. An interrupted copy continues when you run the
    command again. At the end both databases are compared. Then set `database` to the new address.
    """
    _reject_same(source, target)
    with resumable(), _opened(source, create=False) as origin, _opened(target, create=True) as destination:
        result = _copy(origin, destination, quiet=as_json)
    output.write_result(result, as_json, lambda result, _: copy_result(result, without_password(_address(target))))
    if result["differing"]:
        sys.exit(EXIT_ERROR)


def _reject_same(source: str, target: str) -> None:
    if is_same_database(_address(source), _address(target)):
        raise BadRequest("same_database", "Source and target are the same database.", "Choose another target.")


def _copy(source: SqlJournal, target: SqlJournal, *, quiet: bool) -> Json:
    with progress_bars(quiet=quiet) as phase:
        return msgspec.structs.asdict(copy_journal(source, target, phase))


@contextmanager
def resumable() -> Iterator[None]:
    """Errors of an interrupted copy say how to continue it."""
    hint = "Run the same command again to continue."
    try:
        yield
    except KeyboardInterrupt as stop:
        raise BadRequest("broken_off", "The copy was interrupted.", hint) from stop
    except JournalUnavailable as error:
        raise JournalUnavailable(error.code, error.message, hint) from error


@contextmanager
def _opened(address: str, *, create: bool) -> Iterator[SqlJournal]:
    """Open a journal by its address, with exclusive access."""
    paths, url = find_paths(), _address(address)
    if not create and (file := sqlite_path(url)) is not None and not file.exists():
        raise BadRequest("no_database", f"There is no database at {address}.", "Pass the file of a journal.")
    is_home = without_password(url) == without_password(database_url(load_settings(paths), paths))
    paths.create_directories()
    with daemon_lock(paths) if is_home else nullcontext(), exclusive_access(url, without_password(address)):
        journal = open_journal(url, allow_partial_copy=True)
        try:
            yield journal
        finally:
            journal.close()


def _address(text: str) -> str:
    """The address of a database. A path is relative to the current directory."""
    return parse_database_address(text if "://" in text else str(Path(text).expanduser().absolute()))


# --- daemon or command -----------------------------------------------------------------------------------------------


def _maintain(what: str, ask: Callable[[ApiClient], "Json"], do: Callable[[Journal], "Json"], *, quiet: bool) -> Json:
    """Let the running daemon do the work, or do it in this process."""
    paths = find_paths()
    with progress_bar(what, None, quiet=quiet):
        if is_locked(paths):
            return ask(ApiClient.local(paths))
        with _journal(paths) as journal:
            return do(journal)


@contextmanager
def _journal(paths: Paths) -> Iterator[Journal]:
    """Open the configured journal. Holds the lock, so that no daemon can start."""
    paths.create_directories()
    with daemon_lock(paths):
        journal = open_configured_journal(load_settings(paths), paths)
        try:
            yield journal
        finally:
            journal.close()
