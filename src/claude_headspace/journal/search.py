"""Full-text search on SQL: contentless FTS5 on SQLite, `tsvector` on PostgreSQL.

Documents and their words are written in the transaction of their event. Texts are not stored twice: the text of a turn
is read from `turns`, the text of a tool call from `events`.

Texts are split into words by `kernel.search_terms` before they are indexed, so that a query finds the same documents on
both databases. The index stores positions of words, not texts; SQLite needs the text again to delete from it.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import msgspec
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Float,
    MetaData,
    Table,
    cast,
    func,
    literal,
    literal_column,
    select,
    table,
)
from sqlalchemy.dialects.postgresql import TSQUERY

from claude_headspace.clients.decode import decode
from claude_headspace.journal import rows, schema
from claude_headspace.journal.reader import SqlReader
from claude_headspace.journal.rows import Row, insert_rows, replace_nul
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.search_documents import GAP, Document, call_text, turn_text
from claude_headspace.kernel.search_terms import MAX_WORD_CHARACTERS, Query, Term, split_words
from claude_headspace.ports import Difference, SearchFilter, SearchMatch

Texts = Sequence[tuple[Document, str]]
"""Documents with their texts."""

CHUNK = 1_000
"""How many documents are written at once."""

MAX_DIFFERENCES = 1_000

MAX_POSITIONS = 255
"""How many positions of one word a tsvector keeps."""

_LONG_RUN = re.compile(rf"[A-Za-z0-9]{{{MAX_WORD_CHARACTERS + 1}}}")

documents = schema.documents.c


# --- the index --------------------------------------------------------------------------------------------------------

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
    for statement in SQLITE if connection.dialect.name == "sqlite" else POSTGRESQL:
        connection.exec_driver_sql(statement)


def drop_words(connection: Connection) -> None:
    """Remove the index."""
    connection.exec_driver_sql("DROP TABLE words")


def add_documents(connection: Connection, found: Texts, table: Table = schema.documents, words: str = "words") -> None:
    """Add documents to the index."""
    if not found:
        return
    values = [msgspec.structs.asdict(document) | {"tool": replace_nul(document.tool)} for document, _text in found]
    insert_rows(connection, table, values)
    cursor = connection.connection.cursor()
    if connection.dialect.name == "sqlite":
        statement = f"INSERT INTO {words} (rowid, text) VALUES (?, ?)"  # noqa: S608  # constant names
        cursor.executemany(statement, [(document.id, fts5_text(text)) for document, text in found])
    else:
        statement = f"INSERT INTO {words} VALUES (%s, %s)"  # noqa: S608  # constant names
        cursor.executemany(statement, [(document.id, tsvector_text(text)) for document, text in found])


def remove_documents(connection: Connection, found: Texts) -> None:
    """Remove documents from the index. Their texts must equal the indexed texts."""
    ids = [document.id for document, _text in found]
    if connection.dialect.name == "sqlite":
        statement = "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)"
        texts = [(document.id, fts5_text(text)) for document, text in found]
        connection.connection.cursor().executemany(statement, texts)
    else:
        connection.exec_driver_sql("DELETE FROM words WHERE id = ANY(%s)", (ids,))
    for start in range(0, len(ids), CHUNK):
        connection.execute(schema.documents.delete().where(documents.id.in_(ids[start : start + CHUNK])))


def clear_documents(connection: Connection) -> None:
    """Empty the index."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("INSERT INTO words (words) VALUES ('delete-all')")
    else:
        connection.exec_driver_sql("DELETE FROM words")
    connection.execute(schema.documents.delete())


class DocumentBuffer:
    """Collects documents and writes them in chunks."""

    def __init__(self, write: Callable[[Texts], None]) -> None:
        self._write = write
        self._pending: list[tuple[Document, str]] = []

    def add(self, found: Texts) -> None:
        """Add documents; writes when a chunk is full."""
        self._pending += found
        if len(self._pending) >= CHUNK:
            self.flush()

    def flush(self) -> None:
        """Write what is pending."""
        pending, self._pending = self._pending, []
        self._write(pending)


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


# --- verification -----------------------------------------------------------------------------------------------------

EXPECTED_SQLITE = (
    "CREATE VIRTUAL TABLE temp.expected_words USING fts5(text, content='', tokenize='ascii')",
    "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab('main', 'words', 'row')",
    "CREATE VIRTUAL TABLE temp.expected_vocabulary USING fts5vocab('temp', 'expected_words', 'row')",
)
EXPECTED_POSTGRESQL = ("CREATE TEMPORARY TABLE expected_words (id BIGINT PRIMARY KEY, words TSVECTOR NOT NULL)",)


EXPECTED_TABLES = {
    "sqlite": ("vocabulary", "expected_vocabulary", "expected_words", "expected_documents"),
    "postgresql": ("expected_words", "expected_documents"),
}

_expected = schema.documents.to_metadata(MetaData(), name="expected_documents")


@contextmanager
def expected_index(connection: Connection) -> Iterator[DocumentBuffer]:
    """Temporary tables for the documents that should be indexed, to compare with the real ones."""
    for statement in EXPECTED_SQLITE if connection.dialect.name == "sqlite" else EXPECTED_POSTGRESQL:
        connection.exec_driver_sql(statement)
    connection.exec_driver_sql("CREATE TEMPORARY TABLE expected_documents AS SELECT * FROM documents WHERE 1 = 0")
    try:
        yield DocumentBuffer(partial(add_documents, connection, table=_expected, words="expected_words"))
    finally:
        for name in EXPECTED_TABLES[connection.dialect.name]:
            connection.exec_driver_sql(f"DROP TABLE {name}")


def index_differences(connection: Connection) -> Iterator[Difference]:
    """Where the index differs from the expected one. Call inside `expected_index`."""
    for document_id in _symmetric_difference(connection, "*", "documents", "expected_documents")[:MAX_DIFFERENCES]:
        yield Difference("documents", document_id, "does not follow from the log")
    for entry in _differing_entries(connection)[:MAX_DIFFERENCES]:
        yield Difference("words", entry, "is not indexed as the log requires")


def _differing_entries(connection: Connection) -> list[str]:
    """The document ids or words whose entries differ between the real and the temporary index."""
    if connection.dialect.name != "sqlite":
        return _symmetric_difference(connection, "id, words", "words", "expected_words")
    sizes = _symmetric_difference(connection, "id, sz", "main.words_docsize", "temp.expected_words_docsize")
    return sizes or _symmetric_difference(connection, "term, doc, cnt", "temp.vocabulary", "temp.expected_vocabulary")


def _symmetric_difference(connection: Connection, columns: str, one: str, other: str) -> list[str]:
    """The rows that only one of two tables has, by their first column. Names must be constants."""
    found: set[str] = set()
    for a, b in ((one, other), (other, one)):
        query = f"SELECT {columns} FROM {a} EXCEPT SELECT {columns} FROM {b}"  # noqa: S608  # constants of this file
        found |= {str(row[0]) for row in connection.exec_driver_sql(query)}
    return sorted(found)


# --- queries ----------------------------------------------------------------------------------------------------------


class SqlSearch(SqlReader):
    """The queries of `ports.SearchReader`."""

    def search(self, query: Query, matching: SearchFilter, limit: int) -> list[SearchMatch]:
        if not query.terms:
            return []
        index = IndexQuery(query, self._engine.dialect.name)
        statement = (
            select(index.document_id.label("id"), documents.at, index.rank.label("rank"))
            .select_from(index.table.join(schema.documents, documents.id == index.document_id))
            .where(index.condition, *_conditions(matching))
            .order_by(index.document_id.desc())
            .limit(limit)
        )
        return [SearchMatch(row["id"], row["at"], float(row["rank"])) for row in self._rows(statement)]

    def documents(self, ids: Collection[int]) -> dict[int, tuple[Document, str]]:
        turns = schema.turns.c
        statement = (
            select(schema.documents, turns.text, turns.at.label("turn_at"), turns.command_id.label("turn_command_id"))
            .select_from(schema.documents.outerjoin(schema.turns, turns.id == documents.turn_id))
            .where(documents.id.in_(list(ids)))
        )
        found = self._rows(statement)
        events = self._envelopes({row["seq"] for row in found if row["turn_id"] is None})
        return {row["id"]: (_document(row), _text(row, events)) for row in found}

    def _envelopes(self, seqs: Collection[int]) -> dict[int, Envelope]:
        statement = select(schema.events).where(schema.events.c.seq.in_(sorted(seqs)))
        return {row["seq"]: rows.event_from_row(row).envelope for row in self._rows(statement)} if seqs else {}


def _conditions(matching: SearchFilter) -> Iterator[ColumnElement[bool]]:
    """The SQL conditions of a search filter."""
    if matching.max_document_id is not None:
        yield documents.id <= matching.max_document_id
    if matching.agent_id is not None:
        yield documents.agent_id == matching.agent_id
    if matching.project_ids is not None:
        yield documents.project_id.in_(matching.project_ids)
    if matching.client is not None:
        events = schema.events.c
        yield select(events.seq).where(events.seq == documents.seq, events.client == matching.client).exists()
    if matching.actor is not None:
        yield documents.actor == matching.actor
    if matching.tool is not None:
        yield func.lower(documents.tool) == matching.tool.lower()
    if matching.since is not None:
        yield documents.at >= matching.since
    if matching.until is not None:
        yield documents.at <= matching.until


def _document(row: Row) -> Document:
    """The document of a row. The time and command of a turn may have been corrected since it was indexed."""
    fields = {name: row[name] for name in Document.__struct_fields__}
    if row["turn_at"] is not None:
        fields |= {"at": row["turn_at"], "command_id": row["turn_command_id"]}
    return Document(**fields)


def _text(row: Row, events: Mapping[int, Envelope]) -> str:
    if row["turn_id"] is not None:
        return turn_text(row["text"] or "")
    return call_text(row["id"], decode(events[row["seq"]])) if row["seq"] in events else ""


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
