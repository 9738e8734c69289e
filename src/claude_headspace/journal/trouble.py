"""The database's troubles, in our words."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError

from claude_headspace.errors import JournalUnavailable
from claude_headspace.journal.dialects import Dialect

AWAY, UNUSABLE = "journal_unavailable", "database_unusable"
"""What may pass by itself, and what will not."""


@contextmanager
def translated(dialect: Dialect, cause: Callable[[], Exception | None] = lambda: None) -> Iterator[None]:
    """Whatever the database raises becomes one error that says what to do; it tells the cause, if one is known."""
    raised: tuple[type[Exception], ...] = (SQLAlchemyError, *dialect.errors)
    try:
        yield
    except raised as last:
        error = cause() or last
        raise JournalUnavailable(
            AWAY if dialect.may_pass(getattr(error, "orig", None) or error) else UNUSABLE,
            f"The journal cannot be used: {reason(error)}",
            "Look at `headspace logs`, and check that the disk has room and the database can be written.",
        ) from error


def reason(error: Exception) -> str:
    """The first line of what the database said."""
    return (str(getattr(error, "orig", None) or error).splitlines() or [type(error).__name__])[0]
