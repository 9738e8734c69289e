"""The journal of a home, opened: which database that is, and what to say when it cannot be used."""

import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from sqlalchemy import URL
from sqlalchemy.exc import SQLAlchemyError

from claude_headspace.config import Paths, Settings, without_password
from claude_headspace.errors import BadConfiguration, JournalUnavailable
from claude_headspace.journal.database_errors import MESSAGE_PREFIX, UNAVAILABLE, UNUSABLE
from claude_headspace.journal.sql import SqlJournal

ADDRESS_FORMS = "An address is `postgresql://user@host/name`, a whole path, or `sqlite:///` before one."

SETTING_HINT = " Check the setting `database` (see `headspace config`)."


def database_url(settings: Settings, places: Paths) -> str:
    """The database in use. Where the daemon was started from must not matter, so a path is a whole one."""
    told = settings.database or str(places.database)
    address = parse_database_address(told)
    if (file := sqlite_path(address)) is not None and not file.is_absolute():
        raise _unusable(told, "the path does not begin at the root", ADDRESS_FORMS + SETTING_HINT)
    return address


def parse_database_address(text: str) -> str:
    """The address of a database that is told so, or by a path."""
    return text if "://" in text else str(URL.create("sqlite", database=str(Path(text).expanduser())))


def sqlite_path(address: str) -> Path | None:
    """The file of a database that is one."""
    found = re.match(r"sqlite(\+\w+)?:///([^?]*)", address)
    return Path(unquote(found[2])) if found else None


def open_configured_journal(
    settings: Settings, places: Paths, *, on_unavailable: Callable[[str], None] | None = None
) -> SqlJournal:
    """The journal of this home, ready for use. Whoever can wait for a database that is away is told why it is."""
    places.create_directories()
    url = database_url(settings, places)
    return open_journal(url, SETTING_HINT if settings.database else "", on_unavailable=on_unavailable)


def open_journal(
    url: str, also: str = "", *, on_unavailable: Callable[[str], None] | None = None, allow_partial_copy: bool = False
) -> SqlJournal:
    """The journal at an address, ready for use; `also` is what else there is to do when it cannot be. Only who goes on
    with a copy opens half of one.
    """
    journal = _journal(url, also)
    try:
        journal.open(allow_partial_copy=allow_partial_copy)
    except JournalUnavailable as error:
        if error.code == UNAVAILABLE and on_unavailable is not None:
            on_unavailable(error.message)
            return journal
        with suppress(JournalUnavailable):
            journal.close()
        if error.code in (UNAVAILABLE, UNUSABLE):
            raise _unusable(url, error.message.removeprefix(MESSAGE_PREFIX), error.hint + also) from error
        raise
    return journal


def _journal(url: str, also: str) -> SqlJournal:
    """A database that cannot be opened is named, without its password."""
    try:
        return SqlJournal(url)
    except SQLAlchemyError as error:
        raise _unusable(url, str(error).splitlines()[0], ADDRESS_FORMS + also) from error
    except OSError as error:
        hint = "Its directory must exist, and you must be allowed to write there."
        raise _unusable(url, error.strerror or str(error), hint + also) from error


def _unusable(url: str, reason: str, hint: str) -> BadConfiguration:
    return BadConfiguration(
        "database_unusable", f"The database {without_password(url)} cannot be opened: {reason.rstrip('.')}.", hint
    )
