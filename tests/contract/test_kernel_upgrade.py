"""Opening a journal rebuilds projections of another kernel version, and only these."""

from typing import Any

import pytest
from sqlalchemy import event, text

from claude_headspace.journal.search import add_documents, remove_documents
from claude_headspace.journal.sql import SqlJournal
from claude_headspace.kernel.search_terms import parse_query
from claude_headspace.ports import SearchFilter
from claude_headspace.testing import START, hook
from tests.journals import store

RESULT = "collected 900 items\n" + "tests/shop.py ....\n" * 400 + "FAILED rejects_expired_cards"


@pytest.fixture
def journal(any_journal: SqlJournal) -> SqlJournal:
    """A journal with the output of a long failed test run."""
    call: dict[str, Any] = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "pytest"}}
    store(any_journal, hook("SessionStart"), hook("UserPromptSubmit", START + 1, prompt="test it"))
    store(any_journal, hook("PostToolUse", START + 2, tool_response={"stdout": RESULT}, **call))
    return any_journal


def downgrade(journal: SqlJournal) -> None:
    """Leave the journal as an older version did, which indexed only the start of a result."""
    [match] = journal.search(parse_query("failed"), SearchFilter(), 10)
    [(document, indexed)] = journal.documents([match.document_id]).values()
    with journal.transaction() as batch:
        remove_documents(batch.connection, [(document, indexed)])
        add_documents(batch.connection, [(document, RESULT[: 4 * 1024])])
        batch.connection.execute(text("UPDATE agents SET kernel_version = 1"))


def test_an_older_index_is_rebuilt(journal: SqlJournal) -> None:
    """`verify` finds no difference afterwards, and search finds the whole text."""
    downgrade(journal)
    assert journal.search(parse_query("failed"), SearchFilter(), 10) == []
    assert list(journal.verify()) != []
    journal.open()
    assert list(journal.verify()) == []
    assert len(journal.search(parse_query("failed rejects"), SearchFilter(), 10)) == 1


def test_a_current_journal_is_not_changed(journal: SqlJournal) -> None:
    """Opening it again writes nothing."""
    statements: list[str] = []
    event.listen(journal._engine, "before_cursor_execute", lambda *args: statements.append(args[2].split()[0]))
    journal.open()
    assert statements
    assert not {"INSERT", "UPDATE", "DELETE", "CREATE", "DROP"} & set(statements)
