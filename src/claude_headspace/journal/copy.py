"""A journal copied to another database, of another kind if need be.

Only the log is copied, in chunks that are each committed: broken off, it goes on where it stopped. Everything that
follows from the log is made anew at the target. At the end every table of both is compared, row by row, by a sum of
digests that does not depend on how a database sorts.

A copy that was begun is marked in the target until it is through: no daemon serves half of a log.
"""

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from sqlalchemy import Connection, Table, func, select, update

from claude_headspace.errors import BadRequest
from claude_headspace.journal import schema
from claude_headspace.journal.bulk_insert import insert_rows
from claude_headspace.journal.copy_marker import mark_finished, mark_unfinished
from claude_headspace.journal.reader import SEQUENCE_COUNTER
from claude_headspace.journal.sql import SqlJournal
from claude_headspace.journal.values import Row, replace_nul

CHUNK = 2_000

LOG_TABLES = (schema.events, schema.stream)
"""What grows, in its order."""
SMALL_TABLES = (schema.positions, schema.snapshots, schema.tokens)
"""What is small, and changes."""
COMPARED_TABLES = (*LOG_TABLES, *SMALL_TABLES, *schema.PROJECTIONS, schema.documents)

Advance = Callable[[int], None]
StartPhase = Callable[[str, int], Advance]
"""Told what is done next and how much of it there is; gives what is told of each part of it."""


def no_progress(_what: str, _total: int) -> Advance:
    """For whoever does not look."""
    return lambda _count: None


class CopyResult(msgspec.Struct, frozen=True):
    """What was copied now, what is there in all, and which tables differ, if any."""

    copied: int
    events: int
    differing: list[str]


def count_rows(journal: SqlJournal, tables: Iterable[Table] = LOG_TABLES) -> int:
    """How many rows there are."""
    return sum(journal._scalar(select(func.count()).select_from(table)) or 0 for table in tables)


def copy(source: SqlJournal, target: SqlJournal, phase: StartPhase = no_progress) -> CopyResult:
    """Copy, make anew what follows from the log, and compare."""
    _refuse_other_log(source, target)
    with target.transaction() as batch:
        mark_unfinished(batch.connection)
    advance = phase("Copying", count_rows(source))
    copied = sum(_copy_log(source, target, table, advance) for table in LOG_TABLES)
    _copy_notes(source, target)
    events = target.rebuild(phase("Building", count_rows(target, [schema.events])))
    differing = _compared(source, target, phase)
    with target.transaction() as batch:
        mark_finished(batch.connection)
    return CopyResult(copied, events, differing)


def _compared(source: SqlJournal, target: SqlJournal, phase: StartPhase) -> list[str]:
    """The tables that differ."""
    advance = phase("Comparing", count_rows(source, COMPARED_TABLES) + count_rows(target, COMPARED_TABLES))
    same = {
        table.name: table_checksum(source, table, advance) == table_checksum(target, table, advance)
        for table in COMPARED_TABLES
    }
    return [name for name, is_same in same.items() if not is_same]


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


def _copy_log(source: SqlJournal, target: SqlJournal, table: Table, advance: Advance) -> int:
    after, copied = _newest(target, table), 0
    advance(source._scalar(select(func.count()).where(table.c.seq <= after)) or 0)
    while found := source._rows(select(table).where(table.c.seq > after).order_by(table.c.seq).limit(CHUNK)):
        with target.transaction() as batch:
            insert_rows(batch.connection, table, [_storable(row) for row in found])
        after = found[-1]["seq"]
        copied += len(found)
        advance(len(found))
    return copied


def _copy_notes(source: SqlJournal, target: SqlJournal) -> None:
    counter = schema.counters.c
    number = source._scalar(select(counter.value).where(counter.name == SEQUENCE_COUNTER)) or 0
    kept = {table: [_storable(row) for row in source._rows(select(table))] for table in SMALL_TABLES}
    with target.transaction() as batch:
        for table, found in kept.items():
            batch.connection.execute(table.delete())
            insert_rows(batch.connection, table, found)
        batch.connection.execute(update(schema.counters).where(counter.name == SEQUENCE_COUNTER).values(value=number))


def _storable(row: Row) -> Row:
    return {name: replace_nul(value) if isinstance(value, str) else value for name, value in row.items()}


def table_checksum(journal: SqlJournal, table: Table, advance: Advance) -> tuple[int, int]:
    """How many rows a table has, and the sum of their digests."""
    with journal._engine.connect() as connection, connection.begin():
        return _summed(connection, table, advance)


def _summed(connection: Connection, table: Table, advance: Advance) -> tuple[int, int]:
    count, total = 0, 0
    found: Any = connection.execution_options(yield_per=CHUNK).execute(select(table))
    for some in found.mappings().partitions():
        for row in some:
            encoded = msgspec.json.encode(_storable(dict(row)))
            total = (total + int.from_bytes(hashlib.blake2b(encoded, digest_size=16).digest(), "big")) % (1 << 128)
        count += len(some)
        advance(len(some))
    return count, total
