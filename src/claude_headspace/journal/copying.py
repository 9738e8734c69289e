"""A journal copied to another database, of another kind if need be.

Only the log is copied, in chunks that are each committed: broken off, it goes on where it stopped. Everything that
follows from the log is made anew at the target. At the end every table of both is compared, row by row, by a sum of
digests that does not depend on how a database sorts.
"""

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
from sqlalchemy import Connection, Table, func, select, update

from claude_headspace.errors import BadRequest
from claude_headspace.journal import rows, schema
from claude_headspace.journal.bulk import bulk
from claude_headspace.journal.reader import COUNTER
from claude_headspace.journal.sql import SqlJournal

CHUNK = 2_000

LOG = (schema.events, schema.stream)
"""What grows, in its order."""
NOTES = (schema.positions, schema.snapshots, schema.tokens)
"""What is small, and changes."""
COMPARED = (*LOG, *NOTES, *schema.PROJECTIONS, schema.documents)

Progress = Callable[[int], None]


class Copied(msgspec.Struct, frozen=True):
    """What was copied now, what is there in all, and which tables differ, if any."""

    copied: int
    events: int
    differing: list[str]


def size(source: SqlJournal) -> int:
    """How many rows there are to copy."""
    return sum(source._scalar(select(func.count()).select_from(table)) or 0 for table in LOG)


def copy(source: SqlJournal, target: SqlJournal, advance: Progress = lambda _count: None) -> Copied:
    """Copy, make anew what follows from the log, and compare."""
    _refuse_other_log(source, target)
    copied = sum(_copy_log(source, target, table, advance) for table in LOG)
    _copy_notes(source, target)
    target.rebuild()
    differing = [table.name for table in COMPARED if fingerprint(source, table) != fingerprint(target, table)]
    return Copied(copied, target.counts().events, differing)


def _refuse_other_log(source: SqlJournal, target: SqlJournal) -> None:
    """A target that holds something must hold the beginning of the very same log."""
    newest = _newest(target, schema.events)
    if newest and _event_id(source, newest) != _event_id(target, newest):
        raise BadRequest(
            "another_log",
            "The target holds a log of its own.",
            "Copy to an empty database, or go on with the copy that was begun there.",
        )


def _newest(journal: SqlJournal, table: Table) -> int:
    return journal._scalar(select(func.max(table.c.seq))) or 0


def _event_id(journal: SqlJournal, seq: int) -> str | None:
    found = journal._rows(select(schema.events.c.id).where(schema.events.c.seq == seq))
    return found[0]["id"] if found else None


def _copy_log(source: SqlJournal, target: SqlJournal, table: Table, advance: Progress) -> int:
    after, copied = _newest(target, table), 0
    advance(source._scalar(select(func.count()).where(table.c.seq <= after)) or 0)
    while found := source._rows(select(table).where(table.c.seq > after).order_by(table.c.seq).limit(CHUNK)):
        with target.transaction() as batch:
            bulk(batch.connection, table, [_storable(row) for row in found])
        after = found[-1]["seq"]
        copied += len(found)
        advance(len(found))
    return copied


def _copy_notes(source: SqlJournal, target: SqlJournal) -> None:
    counter = schema.counters.c
    number = source._scalar(select(counter.value).where(counter.name == COUNTER)) or 0
    kept = {table: [_storable(row) for row in source._rows(select(table))] for table in NOTES}
    with target.transaction() as batch:
        for table, found in kept.items():
            batch.connection.execute(table.delete())
            bulk(batch.connection, table, found)
        batch.connection.execute(update(schema.counters).where(counter.name == COUNTER).values(value=number))


def _storable(row: rows.Row) -> rows.Row:
    return {name: rows.storable(value) if isinstance(value, str) else value for name, value in row.items()}


def fingerprint(journal: SqlJournal, table: Table) -> tuple[int, int]:
    """How many rows a table has, and the sum of their digests."""
    with journal._engine.connect() as connection, connection.begin():
        return _summed(connection, table)


def _summed(connection: Connection, table: Table) -> tuple[int, int]:
    count, total = 0, 0
    found: Any = connection.execution_options(yield_per=CHUNK).execute(select(table))
    for row in found.mappings():
        encoded = msgspec.json.encode(_storable(dict(row)))
        total = (total + int.from_bytes(hashlib.blake2b(encoded, digest_size=16).digest(), "big")) % (1 << 128)
        count += 1
    return count, total
