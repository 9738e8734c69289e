"""Many rows at once, at the speed of the driver.

SQLAlchemy compiles each statement once; the rows then go straight to the driver, many in one statement. That spares the
parameter processing for every row and, on SQLite, the lock of the interpreter that each executed statement gives up
and has to win back from the thread that serves requests (`docs/decisions/0003-one-writer-thread.md`).
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Dialect, Table
from sqlalchemy.dialects import postgresql, sqlite

from claude_headspace.journal.rows import Row

LARGEST_STATEMENT = 256
"""Rows in one statement. Sizes are powers of two, so that few different statements are prepared and kept."""


def bulk(connection: Connection, table: Table, values: Sequence[Row]) -> None:
    """Insert rows; a row of a projection, or a position, replaces the one of the same key."""
    if connection.dialect.name != "sqlite":
        if values:
            connection.exec_driver_sql(_statement(connection.dialect, table, 1)[0], list(values))
        return
    driver, start = connection.connection.cursor(), 0
    for size in _sizes(len(values)):
        statement, arrange = _statement(connection.dialect, table, size)
        some = values[start : start + size]
        driver.execute(statement, tuple(chain.from_iterable(map(arrange, some))))
        start += size


def _sizes(count: int) -> Iterator[int]:
    """A number as a sum of powers of two: 300 → 256, 32, 8, 4."""
    yield from [LARGEST_STATEMENT] * (count // LARGEST_STATEMENT)
    rest, size = count % LARGEST_STATEMENT, LARGEST_STATEMENT // 2
    while size:
        if rest & size:
            yield size
        size //= 2


@cache
def _statement(dialect: Dialect, table: Table, size: int) -> tuple[str, Callable[[Row], tuple[Any, ...]]]:
    """The statement for so many rows, and how it wants a row's values."""
    insert = (sqlite.insert if dialect.name == "sqlite" else postgresql.insert)(table)
    names = [column.name for column in table.c]
    statement: Any = insert.values([dict.fromkeys(names)] * size) if size > 1 else insert
    if table.info.get("projection") or table.info.get("replaced"):
        others = {column.name: insert.excluded[column.name] for column in table.c if not column.primary_key}
        statement = statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=others)
    return str(statement.compile(dialect=dialect, column_keys=names)), itemgetter(*names)
