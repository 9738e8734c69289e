"""The journal of a home, opened: which database that is, and what to say when it cannot be used."""

from sqlalchemy.exc import SQLAlchemyError

from claude_headspace.config import Places, Settings
from claude_headspace.errors import BadConfiguration, JournalUnavailable
from claude_headspace.journal.sql import SqlJournal
from claude_headspace.journal.trouble import AWAY, UNUSABLE
from claude_headspace.surfaces.wording import without_password


def database_url(settings: Settings, places: Places) -> str:
    """The database in use."""
    return settings.database or f"sqlite:///{places.database}"


def ready_journal(
    settings: Settings, places: Places, *, may_be_away: bool = False, may_be_half: bool = False
) -> SqlJournal:
    """The journal of this home, ready for use; if that is allowed, its database may be away for now, or half copied."""
    journal = _journal(settings, places)
    try:
        journal.open(may_be_half=may_be_half)
    except JournalUnavailable as error:
        if error.code not in (AWAY, UNUSABLE):
            raise
        if error.code == UNUSABLE or not may_be_away:
            raise _unusable(database_url(settings, places), error.message) from error
    return journal


def _journal(settings: Settings, places: Places) -> SqlJournal:
    """A database that cannot be opened is named, without its password."""
    places.make()
    url = database_url(settings, places)
    try:
        return SqlJournal(url)
    except (SQLAlchemyError, OSError, ImportError) as error:
        raise _unusable(url, str(error).splitlines()[0]) from error


def _unusable(url: str, reason: str) -> BadConfiguration:
    return BadConfiguration(
        "database_unusable",
        f"The database {without_password(url)} cannot be opened: {reason.rstrip('.')}.",
        "Check the setting `database` (see `headspace config`), and that its place exists and can be written.",
    )
