"""The full-text index of each database: contentless FTS5 on SQLite, `tsvector` on PostgreSQL.

Texts are split into words by `kernel.search_terms` before they are indexed, so that a query finds the same documents on
both databases. The index stores positions of words, not texts; SQLite needs the text again to delete from it.
"""

import re
from collections.abc import Iterable
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, Float, cast, func, literal, literal_column, table
from sqlalchemy.dialects.postgresql import TSQUERY

from claude_headspace.kernel.search_documents import GAP
from claude_headspace.kernel.search_terms import MAX_WORD_CHARACTERS, Query, Term, split_words

MAX_POSITIONS = 255
"""How many positions of one word a tsvector keeps."""

_LONG_RUN = re.compile(rf"[A-Za-z0-9]{{{MAX_WORD_CHARACTERS + 1}}}")

SQLITE = (
    # The `ascii` tokenizer treats all non-ASCII characters as parts of words; `fts5_text` puts spaces between words.
    "CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='ascii')",
)
POSTGRESQL = (
    "CREATE TABLE words (id BIGINT CONSTRAINT pk_words PRIMARY KEY, words TSVECTOR NOT NULL)",
    "CREATE INDEX ix_words_words ON words USING gin (words)",
)


def create_words(connection: Connection) -> None:
    """Create the index."""
    for statement in SQLITE if _is_sqlite(connection) else POSTGRESQL:
        connection.exec_driver_sql(statement)


def drop_words(connection: Connection) -> None:
    """Remove the index."""
    connection.exec_driver_sql("DROP TABLE words")


def add_words(connection: Connection, texts: Iterable[tuple[int, str]]) -> None:
    """Add texts to the index, with their document ids."""
    _run(connection, "INSERT INTO words (rowid, text) VALUES (?, ?)", "INSERT INTO words VALUES (%s, %s)", texts)


def remove_words(connection: Connection, texts: Iterable[tuple[int, str]]) -> None:
    """Remove texts from the index. They must equal the indexed texts."""
    statement = "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)"
    if _is_sqlite(connection):
        _run(connection, statement, "", texts)
    else:
        ids = [document_id for document_id, _text in texts]
        connection.exec_driver_sql("DELETE FROM words WHERE id = ANY(%s)", (ids,))


def clear_words(connection: Connection) -> None:
    """Empty the index."""
    if _is_sqlite(connection):
        connection.exec_driver_sql("INSERT INTO words (words) VALUES ('delete-all')")
    else:
        connection.exec_driver_sql("DELETE FROM words")


def _run(connection: Connection, sqlite: str, postgresql: str, texts: Iterable[tuple[int, str]]) -> None:
    cursor = connection.connection.cursor()
    if _is_sqlite(connection):
        cursor.executemany(sqlite, [(document_id, fts5_text(text)) for document_id, text in texts])
    else:
        cursor.executemany(postgresql, [(document_id, tsvector_text(text)) for document_id, text in texts])


def _is_sqlite(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"


def fts5_text(content: str) -> str:
    """A text to index with FTS5, which splits ASCII text as we do, and faster."""
    parts = content.split(GAP)
    return GAP.join(
        part if part.isascii() and not _LONG_RUN.search(part) else " ".join(split_words(part)) for part in parts
    )


def tsvector_text(content: str) -> str:
    """A text as a tsvector literal."""
    positions: dict[str, list[int]] = {}
    for position, word in enumerate(split_words(content), 1):
        found = positions.setdefault(word, [])
        if len(found) < MAX_POSITIONS:
            found.append(min(position, 16_383))
    return " ".join(f"{_quoted(word)}:{','.join(map(str, found))}" for word, found in positions.items())


def _quoted(word: str) -> str:
    return "'" + word.replace("\\", "\\\\").replace("'", "''") + "'"


# --- queries ----------------------------------------------------------------------------------------------------------


class IndexQuery:
    """The SQL of a query: the index table, its columns for document id and rank, and the condition."""

    def __init__(self, query: Query, dialect: str) -> None:
        if dialect == "sqlite":
            expression: ColumnElement[Any] = literal(fts5_query(query))
            self.document_id = literal_column("words.rowid", BigInteger)
            self.rank: ColumnElement[float] = literal_column("-bm25(words)", Float)
            self.condition: ColumnElement[bool] = literal_column("words").op("MATCH", is_comparison=True)(expression)
        else:
            expression = cast(literal(tsquery(query)), TSQUERY)
            self.document_id = literal_column("words.id", BigInteger)
            terms = cast(literal(_all_of(query)), TSQUERY)
            self.rank = func.ts_rank_cd(literal_column("words.words"), terms, 1, type_=Float)
            self.condition = literal_column("words.words").op("@@", is_comparison=True)(expression)
        self.table = table("words")


def fts5_query(query: Query) -> str:
    """The query in the syntax of FTS5. Every word is quoted, so none is an operator."""
    terms = " AND ".join(_fts5_term(term) for term in query.terms)
    return f"({terms}) NOT {_fts5_term(query.excluded)}" if query.excluded else terms


def _fts5_term(term: Term) -> str:
    phrase = " ".join(term.words).replace('"', '""')
    return f'"{phrase}" *' if term.is_prefix else f'"{phrase}"'


def tsquery(query: Query) -> str:
    """The query in the syntax of PostgreSQL."""
    return f"{_all_of(query)} & !{_phrase(query.excluded)}" if query.excluded else _all_of(query)


def _all_of(query: Query) -> str:
    return " & ".join(_phrase(term) for term in query.terms)


def _phrase(term: Term) -> str:
    return f"({' <-> '.join(_lexemes(term))})"


def _lexemes(term: Term) -> list[str]:
    quoted = [_quoted(word) for word in term.words]
    return [*quoted[:-1], f"{quoted[-1]}:*"] if term.is_prefix else quoted


# --- verification -----------------------------------------------------------------------------------------------------

EXPECTED_SQLITE = (
    "CREATE VIRTUAL TABLE temp.expected_words USING fts5(text, content='', tokenize='ascii')",
    "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'words', 'row')",
    "CREATE VIRTUAL TABLE temp.expected_vocabulary USING fts5vocab('temp', 'expected_words', 'row')",
)
EXPECTED_POSTGRESQL = ("CREATE TEMPORARY TABLE expected_words (id BIGINT PRIMARY KEY, words TSVECTOR NOT NULL)",)


def create_expected_index(connection: Connection) -> None:
    """Create a temporary index for the texts that should be indexed."""
    for statement in EXPECTED_SQLITE if _is_sqlite(connection) else EXPECTED_POSTGRESQL:
        connection.exec_driver_sql(statement)


def add_expected_words(connection: Connection, texts: Iterable[tuple[int, str]]) -> None:
    """Add texts to the temporary index."""
    _run(
        connection,
        "INSERT INTO temp.expected_words (rowid, text) VALUES (?, ?)",
        "INSERT INTO expected_words VALUES (%s, %s)",
        texts,
    )


def drop_expected_index(connection: Connection) -> None:
    """Drop the temporary index."""
    tables = ("vocabulary", "expected_vocabulary", "expected_words") if _is_sqlite(connection) else ("expected_words",)
    for name in tables:
        connection.exec_driver_sql(f"DROP TABLE {name}")


def differing_entries(connection: Connection) -> list[str]:
    """The document ids or words whose entries differ between the real and the temporary index."""
    if not _is_sqlite(connection):
        return symmetric_difference(connection, "id, words", "words", "expected_words")
    documents = symmetric_difference(connection, "id, sz", "main.words_docsize", "temp.expected_words_docsize")
    return documents or symmetric_difference(
        connection, "term, doc, cnt", "temp.vocabulary", "temp.expected_vocabulary"
    )


def symmetric_difference(connection: Connection, columns: str, one: str, other: str) -> list[str]:
    """The rows that only one of two tables has, by their first column. Names must be constants."""
    found: set[str] = set()
    for a, b in ((one, other), (other, one)):
        query = f"SELECT {columns} FROM {a} EXCEPT SELECT {columns} FROM {b}"  # noqa: S608  # constants of this file
        found |= {str(row[0]) for row in connection.exec_driver_sql(query)}
    return sorted(found)
