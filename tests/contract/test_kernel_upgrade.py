"""A journal that another version made is made anew when it is opened, and only then."""

from typing import Any

import pytest
from sqlalchemy import event, text

from claude_headspace.journal.search_index import add_words, remove_words
from claude_headspace.journal.sql import SqlJournal
from claude_headspace.kernel.search_terms import read_query
from claude_headspace.ports import SearchFilter
from claude_headspace.testing import START, hook
from tests.journals import store

RESULT = "collected 900 items\n" + "tests/shop.py ....\n" * 400 + "FAILED rejects_expired_cards"


@pytest.fixture
def journal(any_journal: SqlJournal) -> SqlJournal:
    """A journal in which a long test run failed."""
    call: dict[str, Any] = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "pytest"}}
    store(any_journal, hook("SessionStart"), hook("UserPromptSubmit", START + 1, prompt="test it"))
    store(any_journal, hook("PostToolUse", START + 2, tool_response={"stdout": RESULT}, **call))
    return any_journal


def made_by_an_older_version(journal: SqlJournal) -> None:
    """Leave it as a version did that indexed the beginning of a result alone."""
    [match] = journal.search(read_query("failed"), SearchFilter(), 10)
    [(document, indexed)] = journal.documents([match.document_id]).values()
    with journal.transaction() as batch:
        remove_words(batch.connection, [(document.id, indexed)])
        add_words(batch.connection, [(document.id, RESULT[: 4 * 1024])])
        batch.connection.execute(text("UPDATE agents SET kernel_version = 1"))


def test_what_an_older_version_indexed_is_indexed_anew(journal: SqlJournal) -> None:
    """Nobody is told of differences that are only another version's, and what was left out is found."""
    made_by_an_older_version(journal)
    assert journal.search(read_query("failed"), SearchFilter(), 10) == []
    assert list(journal.verify()) != []
    journal.open()
    assert list(journal.verify()) == []
    assert len(journal.search(read_query("failed rejects"), SearchFilter(), 10)) == 1


def test_a_journal_of_this_version_is_left_alone(journal: SqlJournal) -> None:
    """Opening it again writes nothing."""
    asked: list[str] = []
    event.listen(journal._engine, "before_cursor_execute", lambda *told: asked.append(told[2].split()[0]))
    journal.open()
    assert asked
    assert not {"INSERT", "UPDATE", "DELETE", "CREATE", "DROP"} & set(asked)
