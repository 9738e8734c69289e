"""Translates errors of the database into `JournalUnavailable` with a hint."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError

from claude_headspace.errors import JournalUnavailable
from claude_headspace.journal.dialects import Dialect

UNAVAILABLE, UNUSABLE = "journal_unavailable", "database_unusable"
"""Error codes: may disappear without a restart, or not."""

MESSAGE_PREFIX = "The journal cannot be used: "


@contextmanager
def translate_errors(dialect: Dialect, cause: Callable[[], Exception | None] = lambda: None) -> Iterator[None]:
    """Turn every database error into `JournalUnavailable`; `cause` gives the root cause, if it is known."""
    raised: tuple[type[Exception], ...] = (SQLAlchemyError, *dialect.errors)
    try:
        yield
    except raised as last:
        error = cause() or last
        original = getattr(error, "orig", None) or error
        raise JournalUnavailable(
            UNAVAILABLE if dialect.is_transient(original) else UNUSABLE,
            f"{MESSAGE_PREFIX}{(str(original).splitlines() or [type(error).__name__])[0]}",
            hint_for(str(original)),
        ) from error


HINTS = (
    (r'database "(.*)" does not exist', r"Create it with `createdb -E UTF8 \1` on the server, or correct the address."),
    (r'role "(.*)" does not exist', r"Create it with `createuser \1` on the server, or correct the address."),
    ("password|authentication failed", "Check the user, and the password in `~/.pgpass` or in the address."),
    (r"pg_hba\.conf", "Allow this machine in the server's `pg_hba.conf`."),
    (
        "refused|resolve|translate host|timeout expired|unreachable|No route|No such file|starting up|shutting down"
        "|closed|terminating",
        "Is the server up, and is the address right?",
    ),
    ("too many clients|connection slots", "Raise `max_connections` on the server."),
    ("read-only transaction", "This server is read-only: use the primary server, or make this one writable."),
    (
        "permission denied",
        "The user must own the database or be allowed to create tables in it: `createdb -E UTF8 -O USER NAME`.",
    ),
    ("connection failed|connection is bad", "Is the server up, and are the address, the user and the password right?"),
)
"""Pattern of the error message → what to do. The message decides, because a refused connection has no error code.
Messages in other languages get the default hint.
"""

DEFAULT_HINT = "Check `headspace logs`, the free disk space, and whether the database is writable."


def hint_for(message: str) -> str:
    """What to do about an error message."""
    for pattern, hint in HINTS:
        if found := re.search(pattern, message):
            return found.expand(hint)
    return DEFAULT_HINT
