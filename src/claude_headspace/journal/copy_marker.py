"""The mark of a copy that was begun: a row beside the counter of the log. While it is there nobody uses the journal."""

from sqlalchemy import Connection, select

from claude_headspace.errors import JournalUnavailable
from claude_headspace.journal.schema import counters

MARK = "copying"


def mark_unfinished(connection: Connection) -> None:
    """A copy begins here, or goes on."""
    mark_finished(connection)
    connection.execute(counters.insert().values(name=MARK, value=1))


def mark_finished(connection: Connection) -> None:
    """The copy is through."""
    connection.execute(counters.delete().where(counters.c.name == MARK))


def refuse_unfinished_copy(connection: Connection) -> None:
    """Half of a log is not served."""
    if connection.execute(select(counters.c.value).where(counters.c.name == MARK)).scalar() is not None:
        raise JournalUnavailable(
            "half_copied",
            "The database holds a copy that was begun and not ended.",
            "Run the same `headspace db copy` again: it goes on where it stopped.",
        )
