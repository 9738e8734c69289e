"""Every database: committed documents are found by the same words."""

from typing import Any

import pytest

from claude_headspace.engine.batch import Batch
from claude_headspace.engine.submission import BatchFunctions
from claude_headspace.kernel.envelope import SECOND
from claude_headspace.kernel.search_terms import Query, parse_query, query_steps
from claude_headspace.ports import Journal, SearchFilter
from claude_headspace.testing import START, hook
from tests.journals import store, submission

CALL: dict[str, Any] = {"tool_name": "Bash", "tool_use_id": "t1"}


@pytest.fixture
def journal(any_journal: Journal) -> Journal:
    """A journal with the work of two agents."""
    store(
        any_journal,
        hook("SessionStart"),
        hook("UserPromptSubmit", START + 1, prompt="Fix the café parser, 日本語テスト 😀"),
        hook("PreToolUse", START + 2, tool_input={"command": "pytest tests/auth_test.py"}, **CALL),
        hook("PostToolUse", START + 3, tool_response={"stdout": "1 failed: expired cards", "n": 3}, **CALL),
        hook("Stop", START + 4, last_assistant_message="The expired cards were never rejected."),
    )
    store(
        any_journal,
        hook("SessionStart", START + 5, session_id="s2", cwd="/other"),
        hook("UserPromptSubmit", START + 60 * SECOND, session_id="s2", cwd="/other", prompt="Explain expired cards"),
    )
    return any_journal


def search(journal: Journal, text: str, **wanted: object) -> list[str]:
    """The matching texts, newest first."""
    return texts(journal, parse_query(text), **wanted)


def texts(journal: Journal, query: Query, **wanted: object) -> list[str]:
    """The texts that match a parsed query, newest first."""
    matches = journal.search(query, SearchFilter(**wanted), 100)  # type: ignore[arg-type]  # its own fields
    documents = journal.documents([match.document_id for match in matches])
    return [documents[match.document_id][1] for match in matches]


PROMPT = "Fix the café parser, 日本語テスト 😀"
INPUT = "pytest tests/auth_test.py"
RESULT = "1 failed: expired cards"
ANSWER = "The expired cards were never rejected."
OTHER = "Explain expired cards"


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("CAFE", [PROMPT]),
        ("parser café", [PROMPT]),
        ("日本", [PROMPT]),
        ("本日", []),
        ("😀", [PROMPT]),
        ("auth_test", [INPUT]),
        ("tests auth te", [INPUT]),
        ("auth te tests", []),
        ('"auth te"', []),
        ("expired", [OTHER, ANSWER, RESULT]),
        ('"expired cards"', [OTHER, ANSWER, RESULT]),
        ('"cards expired"', []),
        ("expired reject", [ANSWER]),
        ("reject expired", []),
        ("", []),
        ('"', []),
        ("* OR (NEAR", []),
        ("it's \\ 'quoted' & | ! <->", []),
        ("\0", []),
        ("x" * 5_000, []),
        (" ".join(f"word{n}" for n in range(500)), []),
    ],
)
def test_queries(journal: Journal, query: str, texts: list[str]) -> None:
    """The same query finds the same documents on every database."""
    assert search(journal, query) == texts


@pytest.mark.parametrize(
    ("query", "itself", "beginning"),
    [
        ("card", [], [OTHER, ANSWER, RESULT]),
        ("cards", [OTHER, ANSWER, RESULT], []),
        ("expired re", [], [ANSWER]),
        ("auth_test", [INPUT], []),
        ("tests auth_te", [], [INPUT]),
        ("日本", [PROMPT], []),
    ],
)
def test_whole_words_and_prefixes_are_separate_steps(
    journal: Journal, query: str, itself: list[str], beginning: list[str]
) -> None:
    """Matches of the whole last word come first, and are not repeated as matches of the prefix."""
    first, second = query_steps(parse_query(query))
    assert texts(journal, first) == itself
    assert texts(journal, second) == beginning


def test_filters(journal: Journal) -> None:
    """By agent, project, client, actor, tool and time, alone and combined."""
    one, other = journal.agent("agent-1"), journal.agent("agent-2")
    assert one
    assert other
    assert search(journal, "expired", agent_id="agent-2") == [OTHER]
    assert search(journal, "expired", project_ids=(one.project.id,)) == [ANSWER, RESULT]
    assert search(journal, "expired", project_ids=()) == []
    assert search(journal, "expired", client="claude-code") == [OTHER, ANSWER, RESULT]
    assert search(journal, "expired", client="codex") == []
    assert search(journal, "expired", actor="USER") == [OTHER]
    assert search(journal, "expired", tool="bash") == [RESULT]
    assert search(journal, "expired", since=START + SECOND) == [OTHER]
    assert search(journal, "expired", until=START + SECOND, actor="AGENT") == [ANSWER, RESULT]


def test_a_document_has_its_context(journal: Journal) -> None:
    """Kind, agent, project, command, tool and time."""
    [match] = journal.search(parse_query("rejected"), SearchFilter(), 10)
    document, text = journal.documents([match.document_id])[match.document_id]
    [command] = journal.commands("agent-1")
    assert text == ANSWER
    assert (document.kind, document.actor, document.tool) == ("answer", "AGENT", None)
    assert (document.agent_id, document.command_id, document.at) == ("agent-1", command.id, START + 4)
    assert document.turn_id in {turn.id for turn in journal.turns(agent_id="agent-1")}


def test_only_committed_documents_are_found(journal: Journal) -> None:
    """A failed batch leaves nothing in the index."""

    class Unlucky(Exception):
        pass

    def half_a_batch() -> None:
        with journal.transaction() as transaction:
            batch = Batch(transaction, BatchFunctions(new_id=lambda: "agent-9"))
            prompt = hook("UserPromptSubmit", session_id="s9", prompt="unheard")
            batch.process([submission(prompt)])
            transaction.write(batch.records)
            raise Unlucky

    with pytest.raises(Unlucky):
        half_a_batch()
    assert search(journal, "unheard") == []


def test_the_index_follows_from_the_log(journal: Journal) -> None:
    """`verify` checks it, and a rebuild gives the same results."""
    before = search(journal, "expired")
    assert list(journal.verify()) == []
    journal.rebuild()
    assert search(journal, "expired") == before
    assert list(journal.verify()) == []


def test_results_are_limited_to_the_newest(journal: Journal) -> None:
    """And `max_document_id` excludes newer documents."""
    newest, *older = journal.search(parse_query("expired"), SearchFilter(), 10)
    assert journal.search(parse_query("expired"), SearchFilter(), 1) == [newest]
    below = journal.search(parse_query("expired"), SearchFilter(max_document_id=newest.document_id - 1), 10)
    assert [match.document_id for match in below] == [match.document_id for match in older]
