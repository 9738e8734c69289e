"""The database's troubles, in our words."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy.exc import SQLAlchemyError

from claude_headspace.errors import JournalUnavailable
from claude_headspace.journal.dialects import Dialect

UNAVAILABLE, UNUSABLE = "journal_unavailable", "database_unusable"
"""What may pass by itself, and what will not."""

MESSAGE_PREFIX = "The journal cannot be used: "


@contextmanager
def translate_errors(dialect: Dialect, cause: Callable[[], Exception | None] = lambda: None) -> Iterator[None]:
    """Whatever the database raises becomes one error that says what to do; it tells the cause, if one is known."""
    raised: tuple[type[Exception], ...] = (SQLAlchemyError, *dialect.errors)
    try:
        yield
    except raised as last:
        error = cause() or last
        said = getattr(error, "orig", None) or error
        raise JournalUnavailable(
            UNAVAILABLE if dialect.is_transient(said) else UNUSABLE,
            f"{MESSAGE_PREFIX}{(str(said).splitlines() or [type(error).__name__])[0]}",
            hint_for(str(said)),
        ) from error


HINTS = (
    (r'database "(.*)" does not exist', r"`createdb -E UTF8 \1` on its server makes it, or the address is wrong."),
    (r'role "(.*)" does not exist', r"`createuser \1` on its server makes the user, or the address is wrong."),
    (
        "password|authentication failed",
        "Put the right password into `~/.pgpass` or the address, and see that the user is the right one.",
    ),
    (r"pg_hba\.conf", "The server's `pg_hba.conf` must let this machine in."),
    (
        "refused|resolve|translate host|timeout expired|unreachable|No route|No such file|starting up|shutting down"
        "|closed|terminating",
        "Is the server up, and is the address right?",
    ),
    ("too many clients|connection slots", "Let the server take more connections (`max_connections`)."),
    (
        "read-only transaction",
        "This server may only be read: use the one that takes writes, or let this one take them.",
    ),
    ("permission denied", "Its user must own the database, or may make tables in it: `createdb -E UTF8 -O USER NAME`."),
    ("connection failed|connection is bad", "Is the server up, and are the address, the user and the password right?"),
)
"""What to do, by what the database said: on a connection that it refuses a server puts no code, and it may speak any
language.
"""

DEFAULT_HINT = "Look at `headspace logs`, and check that the disk has room and the database can be written."


def hint_for(said: str) -> str:
    """What to do next."""
    for pattern, hint in HINTS:
        if found := re.search(pattern, said):
            return found.expand(hint)
    return DEFAULT_HINT
