"""Full-text search on SQL. Documents and their words are written in the transaction of their event.

Texts are not stored twice: the text of a turn is read from `turns`, the text of a tool call from `events`.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec
from sqlalchemy import ColumnElement, Connection, MetaData, func, select

from claude_headspace.clients.decode import decode
from claude_headspace.journal import rows, schema
from claude_headspace.journal.bulk_insert import insert_rows
from claude_headspace.journal.reader import SqlReader
from claude_headspace.journal.search_index import (
    IndexQuery,
    add_expected_words,
    add_words,
    clear_words,
    create_expected_index,
    differing_entries,
    drop_expected_index,
    remove_words,
    symmetric_difference,
)
from claude_headspace.journal.values import Row, replace_nul
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.search_documents import Document, call_text, turn_text
from claude_headspace.kernel.search_terms import Query
from claude_headspace.ports import Difference, SearchFilter, SearchMatch

Texts = Sequence[tuple[Document, str]]
"""Documents with their texts."""

CHUNK = 1_000
"""How many documents are written at once."""

MAX_DIFFERENCES = 1_000

documents = schema.documents.c


def add_documents(connection: Connection, found: Texts) -> None:
    """Add documents to the index."""
    if found:
        insert_rows(connection, schema.documents, [document_row(document) for document, _text in found])
        add_words(connection, ((document.id, text) for document, text in found))


def remove_documents(connection: Connection, found: Texts) -> None:
    """Remove documents from the index."""
    remove_words(connection, ((document.id, text) for document, text in found))
    for some in chunks(found):
        numbers = [document.id for document, _text in some]
        connection.execute(schema.documents.delete().where(documents.id.in_(numbers)))


def clear_documents(connection: Connection) -> None:
    """Empty the index."""
    clear_words(connection)
    connection.execute(schema.documents.delete())


def document_row(document: Document) -> Row:
    """The row of a document, without its text."""
    row = msgspec.structs.asdict(document)
    return row | {"tool": replace_nul(row["tool"])} if row["tool"] else row


def chunks(found: Texts) -> Iterator[Texts]:
    """Documents, at most `CHUNK` at a time."""
    for start in range(0, len(found), CHUNK):
        yield found[start : start + CHUNK]


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


# --- checking ---------------------------------------------------------------------------------------------------------

_expected = schema.documents.to_metadata(MetaData(), name="expected_documents")


@contextmanager
def expected_index(connection: Connection) -> Iterator[DocumentBuffer]:
    """Temporary tables for the documents that should be indexed, to compare with the real ones."""
    create_expected_index(connection)
    connection.exec_driver_sql("CREATE TEMPORARY TABLE expected_documents AS SELECT * FROM documents WHERE 1 = 0")

    def write(found: Texts) -> None:
        if found:
            insert_rows(connection, _expected, [document_row(document) for document, _text in found])
            add_expected_words(connection, ((document.id, text) for document, text in found))

    try:
        yield DocumentBuffer(write)
    finally:
        drop_expected_index(connection)
        connection.exec_driver_sql("DROP TABLE expected_documents")


def index_differences(connection: Connection) -> Iterator[Difference]:
    """Where the index differs from the expected one. Call inside `expected_index`."""
    for document_id in symmetric_difference(connection, "*", "documents", "expected_documents")[:MAX_DIFFERENCES]:
        yield Difference("documents", document_id, "does not follow from the log")
    for entry in differing_entries(connection)[:MAX_DIFFERENCES]:
        yield Difference("words", entry, "is not indexed as the log requires")


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
