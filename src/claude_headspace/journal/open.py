"""Opens the configured journal, and reports why a database cannot be used."""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from sqlalchemy import URL
from sqlalchemy.exc import SQLAlchemyError

from claude_headspace.config import Paths, Settings, without_password
from claude_headspace.errors import BadConfiguration, JournalUnavailable
from claude_headspace.journal.dialects import MESSAGE_PREFIX, UNAVAILABLE, UNUSABLE
from claude_headspace.journal.sql import UNFINISHED, SqlJournal

ADDRESS_FORMS = "Use `postgresql://user@host/name`, an absolute path, or `sqlite:///` with an absolute path."

SETTING_HINT = " Check the setting `database` (see `headspace config`)."


def database_url(settings: Settings, paths: Paths) -> str:
    """The URL of the configured database. A path must be absolute: the working directory must not matter."""
    configured = settings.database or str(paths.database)
    address = parse_database_address(configured)
    if (file := sqlite_path(address)) is not None and not file.is_absolute():
        raise _unusable(configured, "the path is not absolute", ADDRESS_FORMS + SETTING_HINT)
    return address


def parse_database_address(text: str) -> str:
    """A database URL from a URL or a path."""
    return text if "://" in text else str(URL.create("sqlite", database=str(Path(text).expanduser())))


def sqlite_path(address: str) -> Path | None:
    """The file of a SQLite database; None for other databases."""
    found = re.match(r"sqlite(\+\w+)?:///([^?]*)", address)
    return Path(unquote(found[2])) if found else None


def open_configured_journal(
    settings: Settings, paths: Paths, *, on_unavailable: Callable[[str], None] | None = None
) -> SqlJournal:
    """Open the configured journal.

    With `on_unavailable`, a database that cannot be used is no error: the callback receives the reason, and the journal
    can be opened later. An unfinished copy is always an error, because its owner has to continue it.
    """
    paths.create_directories()
    url = database_url(settings, paths)
    return open_journal(url, SETTING_HINT if settings.database else "", on_unavailable=on_unavailable)


def open_journal(
    url: str, also: str = "", *, on_unavailable: Callable[[str], None] | None = None, allow_partial_copy: bool = False
) -> SqlJournal:
    """Open the journal at a URL; `also` is appended to the hints of errors.

    `allow_partial_copy` is for continuing an unfinished copy.
    """
    journal = _journal(url, also)
    try:
        journal.open(allow_partial_copy=allow_partial_copy)
    except JournalUnavailable as error:
        if on_unavailable is not None and error.code != UNFINISHED:
            on_unavailable(error.message)
            return journal
        with suppress(JournalUnavailable):
            journal.close()
        if error.code in (UNAVAILABLE, UNUSABLE):
            raise _unusable(url, error.message.removeprefix(MESSAGE_PREFIX), error.hint + also) from error
        raise
    return journal


def _journal(url: str, also: str) -> SqlJournal:
    try:
        return SqlJournal(url)
    except SQLAlchemyError as error:
        raise _unusable(url, str(error).splitlines()[0], ADDRESS_FORMS + also) from error
    except OSError as error:
        hint = "Its directory must exist and be writable."
        raise _unusable(url, error.strerror or str(error), hint + also) from error


def _unusable(url: str, reason: str, hint: str) -> BadConfiguration:
    return BadConfiguration(
        "database_unusable", f"The database {without_password(url)} cannot be opened: {reason.rstrip('.')}.", hint
    )
