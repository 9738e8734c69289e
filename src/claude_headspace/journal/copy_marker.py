"""Marks a database with an unfinished copy, by a row in `counters`. No daemon uses a marked journal."""

from sqlalchemy import Connection, select

from claude_headspace.errors import JournalUnavailable
from claude_headspace.journal.schema import counters

MARK = "copying"


def mark_unfinished(connection: Connection) -> None:
    """A copy starts or continues."""
    mark_finished(connection)
    connection.execute(counters.insert().values(name=MARK, value=1))


def mark_finished(connection: Connection) -> None:
    """The copy is complete."""
    connection.execute(counters.delete().where(counters.c.name == MARK))


def refuse_unfinished_copy(connection: Connection) -> None:
    """Raise `JournalUnavailable` if the database is marked."""
    if connection.execute(select(counters.c.value).where(counters.c.name == MARK)).scalar() is not None:
        raise JournalUnavailable(
            "half_copied",
            "The database contains an unfinished copy.",
            "Run the same `headspace db copy` again to continue it.",
        )
