"""Copies a journal to another database, of the same or another kind.

Only the log is copied, in chunks with a commit each: an interrupted copy continues where it stopped. The projections
are rebuilt in the target. Finally all tables are compared by a sum of row digests, which does not depend on the order
of rows.

An unfinished copy is marked in the target, so that no daemon serves a part of a log.
"""

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from sqlalchemy import Connection, Table, func, select, update

from claude_headspace.errors import BadRequest
from claude_headspace.journal import schema
from claude_headspace.journal.reader import SEQUENCE_COUNTER
from claude_headspace.journal.rows import Row, insert_rows, replace_nul
from claude_headspace.journal.sql import UNFINISHED_COPY, SqlJournal

CHUNK = 2_000

LOG_TABLES = (schema.events, schema.stream)
"""Append-only tables, copied in order of `seq`."""
SMALL_TABLES = (schema.positions, schema.snapshots, schema.tokens)
"""Tables that change and are small, copied as a whole."""
COMPARED_TABLES = (*LOG_TABLES, *SMALL_TABLES, *schema.PROJECTIONS, schema.documents)

Advance = Callable[[int], None]
StartPhase = Callable[[str, int], Advance]
"""Starts a progress display with a title and a total; returns the function that advances it."""


def no_progress(_what: str, _total: int) -> Advance:
    """Shows no progress."""
    return lambda _count: None


class CopyResult(msgspec.Struct, frozen=True):
    """How many rows were copied now, how many events the target has, and which tables differ."""

    copied: int
    events: int
    differing: list[str]


def count_rows(journal: SqlJournal, tables: Iterable[Table] = LOG_TABLES) -> int:
    """The number of rows in some tables."""
    return sum(journal._scalar(select(func.count()).select_from(table)) or 0 for table in tables)


def copy(source: SqlJournal, target: SqlJournal, phase: StartPhase = no_progress) -> CopyResult:
    """Copy the log, rebuild the projections, and compare both journals."""
    _refuse_other_log(source, target)
    _mark(target, unfinished=True)
    advance = phase("Copying", count_rows(source))
    copied = sum(_copy_log(source, target, table, advance) for table in LOG_TABLES)
    _copy_small_tables(source, target)
    events = target.rebuild(phase("Building", count_rows(target, [schema.events])))
    differing = _differing_tables(source, target, phase)
    _mark(target, unfinished=False)
    return CopyResult(copied, events, differing)


def _mark(target: SqlJournal, *, unfinished: bool) -> None:
    counters = schema.counters
    with target.transaction() as batch:
        batch.connection.execute(counters.delete().where(counters.c.name == UNFINISHED_COPY))
        if unfinished:
            batch.connection.execute(counters.insert().values(name=UNFINISHED_COPY, value=1))


def _differing_tables(source: SqlJournal, target: SqlJournal, phase: StartPhase) -> list[str]:
    advance = phase("Comparing", count_rows(source, COMPARED_TABLES) + count_rows(target, COMPARED_TABLES))
    same = {
        table.name: table_checksum(source, table, advance) == table_checksum(target, table, advance)
        for table in COMPARED_TABLES
    }
    return [name for name, is_same in same.items() if not is_same]


def _refuse_other_log(source: SqlJournal, target: SqlJournal) -> None:
    """A target that is not empty must contain the beginning of the same log."""
    newest = _last_seq(target, schema.events)
    if newest and _event_id(source, newest) != _event_id(target, newest):
        raise BadRequest(
            "another_log",
            "The target contains another log.",
            "Copy to an empty database, or to the one with the unfinished copy of this journal.",
        )


def _last_seq(journal: SqlJournal, table: Table) -> int:
    return journal._scalar(select(func.max(table.c.seq))) or 0


def _event_id(journal: SqlJournal, seq: int) -> str | None:
    found = journal._rows(select(schema.events.c.id).where(schema.events.c.seq == seq))
    return found[0]["id"] if found else None


def _copy_log(source: SqlJournal, target: SqlJournal, table: Table, advance: Advance) -> int:
    after, copied = _last_seq(target, table), 0
    advance(source._scalar(select(func.count()).where(table.c.seq <= after)) or 0)
    while found := source._rows(select(table).where(table.c.seq > after).order_by(table.c.seq).limit(CHUNK)):
        with target.transaction() as batch:
            insert_rows(batch.connection, table, [_without_nul(row) for row in found])
        after = found[-1]["seq"]
        copied += len(found)
        advance(len(found))
    return copied


def _copy_small_tables(source: SqlJournal, target: SqlJournal) -> None:
    counter = schema.counters.c
    last_seq = source._scalar(select(counter.value).where(counter.name == SEQUENCE_COUNTER)) or 0
    copies = {table: [_without_nul(row) for row in source._rows(select(table))] for table in SMALL_TABLES}
    with target.transaction() as batch:
        for table, found in copies.items():
            batch.connection.execute(table.delete())
            insert_rows(batch.connection, table, found)
        batch.connection.execute(update(schema.counters).where(counter.name == SEQUENCE_COUNTER).values(value=last_seq))


def _without_nul(row: Row) -> Row:
    return {name: replace_nul(value) for name, value in row.items()}


def table_checksum(journal: SqlJournal, table: Table, advance: Advance) -> tuple[int, int]:
    """The number of rows of a table, and the sum of their digests."""
    with journal._engine.connect() as connection, connection.begin():
        return _checksum(connection, table, advance)


def _checksum(connection: Connection, table: Table, advance: Advance) -> tuple[int, int]:
    count, total = 0, 0
    found: Any = connection.execution_options(yield_per=CHUNK).execute(select(table))
    for some in found.mappings().partitions():
        for row in some:
            encoded = msgspec.json.encode(_without_nul(dict(row)))
            total = (total + int.from_bytes(hashlib.blake2b(encoded, digest_size=16).digest(), "big")) % (1 << 128)
        count += len(some)
        advance(len(some))
    return count, total
