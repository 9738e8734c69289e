"""Inserts many rows with few statements.

SQLAlchemy compiles each statement once; the rows go directly to the driver, many in one statement. That avoids
SQLAlchemy's parameter processing per row. On SQLite it also avoids releasing the interpreter lock for every row, which
the writer would have to win back from other threads (`docs/decisions/0003-one-writer.md`). PostgreSQL receives one
array per column: one statement and one round trip for any number of rows.
"""

from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Dialect, Table
from sqlalchemy.dialects import postgresql, sqlite

from claude_headspace.journal.values import Row, replace_nul

MAX_ROWS_PER_STATEMENT = 256
"""Statements have 2ⁿ rows, so that few different statements are compiled."""


def insert_rows(connection: Connection, table: Table, values: Sequence[Row]) -> None:
    """Insert rows. In projections and other replaceable tables a row replaces the one with the same key."""
    if not values:
        return
    if connection.dialect.name != "sqlite":
        _to_postgres(connection, table, values)
        return
    driver, start = connection.connection.cursor(), 0
    for size in _sizes(len(values)):
        statement, arrange = _of_rows(connection.dialect, table, size)
        some = values[start : start + size]
        driver.execute(statement, tuple(chain.from_iterable(map(arrange, some))))
        start += size


def _to_postgres(connection: Connection, table: Table, values: Sequence[Row]) -> None:
    statement, names = _of_arrays(table)
    columns = [[replace_nul(row[name]) for row in values] for name in names]
    connection.connection.cursor().execute(statement, columns)


@lru_cache
def _sizes(count: int) -> list[int]:
    """A number as a sum of powers of two: 300 → 256, 32, 8, 4."""
    powers = [1 << bit for bit in reversed(range(MAX_ROWS_PER_STATEMENT.bit_length() - 1))]
    return [MAX_ROWS_PER_STATEMENT] * (count // MAX_ROWS_PER_STATEMENT) + [size for size in powers if count & size]


@cache
def _of_rows(dialect: Dialect, table: Table, size: int) -> tuple[str, Callable[[Row], tuple[Any, ...]]]:
    """The statement for `size` rows, and a function that gives the values of a row in its order."""
    insert = sqlite.insert(table)
    names = [column.name for column in table.c]
    statement: Any = insert.values([dict.fromkeys(names)] * size) if size > 1 else insert
    if _is_replaced(table):
        others = {column.name: insert.excluded[column.name] for column in table.c if not column.primary_key}
        statement = statement.on_conflict_do_update(index_elements=list(table.primary_key), set_=others)
    return str(statement.compile(dialect=dialect, column_keys=names)), itemgetter(*names)


@cache
def _of_arrays(table: Table) -> tuple[str, list[str]]:
    """The statement for any number of rows, and its columns in order."""
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    quoted = {each.name: dialect.identifier_preparer.quote(each.name) for each in table.c}
    arrays = ", ".join(f"%s::{each.type.compile(dialect)}[]" for each in table.c)
    columns = ", ".join(quoted.values())
    statement = f"INSERT INTO {table.name} ({columns}) SELECT * FROM unnest({arrays})"  # noqa: S608  # constant names
    if _is_replaced(table):
        keys = ", ".join(quoted[each.name] for each in table.primary_key)
        others = [quoted[each.name] for each in table.c if not each.primary_key]
        statement += f" ON CONFLICT ({keys}) DO UPDATE SET {', '.join(f'{name}=excluded.{name}' for name in others)}"
    return statement, list(quoted)


def _is_replaced(table: Table) -> bool:
    return bool(table.info.get("projection") or table.info.get("replaced"))
