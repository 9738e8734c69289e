"""Full-text search on SQL: documents beside their words, written with the event and read by whoever looks for them.

Texts are not stored again: those of turns are read from the turns, those of calls from the events.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec
from sqlalchemy import ColumnElement, Connection, MetaData, func, select

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
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.search_documents import Document, call_text, turn_text
from claude_headspace.kernel.search_terms import Query
from claude_headspace.ports import Difference, SearchFilter, SearchMatch

Texts = Sequence[tuple[Document, str]]
"""Documents with their texts."""

CHUNK = 1_000
"""How many documents a replay writes at once."""

MOST_DIFFERENCES = 1_000

documents = schema.documents.c


def add_documents(connection: Connection, found: Texts) -> None:
    """Make documents findable; in the transaction of their events."""
    if found:
        insert_rows(connection, schema.documents, [document_row(document) for document, _text in found])
        add_words(connection, ((document.id, text) for document, text in found))


def remove_documents(connection: Connection, found: Texts) -> None:
    """Let documents be found no more."""
    remove_words(connection, ((document.id, text) for document, text in found))
    for some in chunks(found):
        numbers = [document.id for document, _text in some]
        connection.execute(schema.documents.delete().where(documents.id.in_(numbers)))


def clear_documents(connection: Connection) -> None:
    """Forget everything, to index it anew."""
    clear_words(connection)
    connection.execute(schema.documents.delete())


def document_row(document: Document) -> rows.Row:
    """A document as it is stored: where it belongs, without its text."""
    row = msgspec.structs.asdict(document)
    return row | {"tool": rows.replace_nul(row["tool"])} if row["tool"] else row


def chunks(found: Texts) -> Iterator[Texts]:
    """Documents, some at a time."""
    for start in range(0, len(found), CHUNK):
        yield found[start : start + CHUNK]


class DocumentBuffer:
    """Hands documents on in chunks, however many there are."""

    def __init__(self, hand_on: Callable[[Texts], None]) -> None:
        self._hand_on = hand_on
        self._waiting: list[tuple[Document, str]] = []

    def add(self, found: Texts) -> None:
        """Some more."""
        self._waiting += found
        if len(self._waiting) >= CHUNK:
            self.flush()

    def flush(self) -> None:
        """That was all."""
        waiting, self._waiting = self._waiting, []
        self._hand_on(waiting)


# --- checking ---------------------------------------------------------------------------------------------------------

_expected = schema.documents.to_metadata(MetaData(), name="expected_documents")


@contextmanager
def expected_index(connection: Connection) -> Iterator[DocumentBuffer]:
    """Gathers what should be indexed, beside what is and for this connection alone."""
    create_expected_index(connection)
    connection.exec_driver_sql("CREATE TEMPORARY TABLE expected_documents AS SELECT * FROM documents WHERE 1 = 0")

    def expect(found: Texts) -> None:
        if found:
            insert_rows(connection, _expected, [document_row(document) for document, _text in found])
            add_expected_words(connection, ((document.id, text) for document, text in found))

    try:
        yield DocumentBuffer(expect)
    finally:
        drop_expected_index(connection)
        connection.exec_driver_sql("DROP TABLE expected_documents")


def index_differences(connection: Connection) -> Iterator[Difference]:
    """Where what is indexed does not follow from the log; asked inside an expectation."""
    for number in symmetric_difference(connection, "*", "documents", "expected_documents")[:MOST_DIFFERENCES]:
        yield Difference("documents", number, "does not follow from the log")
    for what in differing_entries(connection)[:MOST_DIFFERENCES]:
        yield Difference("words", what, "is indexed otherwise than the log says")


# --- asking -----------------------------------------------------------------------------------------------------------


class SqlSearch(SqlReader):
    """The searching side of a journal."""

    def search(self, query: Query, matching: SearchFilter, limit: int) -> list[SearchMatch]:
        """The newest documents that match, newest first, with what the engine thinks of each."""
        if not query.terms:
            return []
        asked = IndexQuery(query, self._engine.dialect.name)
        ask = (
            select(asked.number.label("id"), documents.at, asked.rank.label("rank"))
            .select_from(asked.index.join(schema.documents, documents.id == asked.number))
            .where(asked.condition, *_conditions(matching))
            .order_by(asked.number.desc())
            .limit(limit)
        )
        return [SearchMatch(row["id"], row["at"], float(row["rank"])) for row in self._rows(ask)]

    def documents(self, ids: Collection[int]) -> dict[int, tuple[Document, str]]:
        """Documents with their texts, by number."""
        turns = schema.turns.c
        ask = (
            select(
                schema.documents,
                turns.text,
                turns.at.label("turn_at"),
                turns.command_id.label("turn_command_id"),
            )
            .select_from(schema.documents.outerjoin(schema.turns, turns.id == documents.turn_id))
            .where(documents.id.in_(list(ids)))
        )
        found = self._rows(ask)
        events = self._events_of({row["seq"] for row in found if row["turn_id"] is None})
        return {row["id"]: (_document(row), _text(row, events)) for row in found}

    def _events_of(self, numbers: Collection[int]) -> dict[int, Envelope]:
        ask = select(schema.events).where(schema.events.c.seq.in_(sorted(numbers)))
        return {row["seq"]: rows.event_from_row(row).envelope for row in self._rows(ask)} if numbers else {}


def _conditions(wanted: SearchFilter) -> Iterator[ColumnElement[bool]]:
    """What the filters come to."""
    if wanted.max_document_id is not None:
        yield documents.id <= wanted.max_document_id
    if wanted.agent_id is not None:
        yield documents.agent_id == wanted.agent_id
    if wanted.project_ids is not None:
        yield documents.project_id.in_(wanted.project_ids)
    if wanted.actor is not None:
        yield documents.actor == wanted.actor
    if wanted.tool is not None:
        yield func.lower(documents.tool) == wanted.tool.lower()
    if wanted.since is not None:
        yield documents.at >= wanted.since
    if wanted.until is not None:
        yield documents.at <= wanted.until


def _document(row: rows.Row) -> Document:
    """A turn may be known better by now than when it was indexed: the turn says so."""
    fields = {name: row[name] for name in Document.__struct_fields__}
    if row["turn_at"] is not None:
        fields |= {"at": row["turn_at"], "command_id": row["turn_command_id"]}
    return Document(**fields)


def _text(row: rows.Row, events: Mapping[int, Envelope]) -> str:
    if row["turn_id"] is not None:
        return turn_text(row["text"] or "")
    return call_text(row["id"], events[row["seq"]]) if row["seq"] in events else ""
