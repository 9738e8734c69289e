"""Search: ranking, pages, snippets and hints."""

import json
from typing import Any

import msgspec
import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.envelope import SECOND, Envelope, Origin
from claude_headspace.kernel.text import iso
from claude_headspace.ports import SearchFilter, SearchMatch
from claude_headspace.surfaces.read.search import WINDOW_SIZE, Hits, SearchQueries, read_cursor, score
from claude_headspace.testing import START, ManualClock, hook
from tests.journals import TemporaryJournal, store

DAY = 86_400 * SECOND


def prompts(count: int) -> TemporaryJournal:
    """A journal with many prompts."""
    journal = TemporaryJournal()
    store(journal, hook("SessionStart"))
    for number in range(count):
        common: dict[str, Any] = {"prompt_id": f"p{number}"}
        store(journal, hook("UserPromptSubmit", START + number * DAY, prompt=f"needle {number}", **common))
        store(journal, hook("Stop", START + number * DAY + 9, last_assistant_message="Done.", **common))
    return journal


def search(
    journal: TemporaryJournal, query: str, limit: int = 5, before: str | None = None, window: int = WINDOW_SIZE
) -> Hits:
    """A page of hits."""
    return SearchQueries(journal, ManualClock(START + 30 * DAY), window).find(query, SearchFilter(), limit, before)


def texts(page: Hits) -> list[str]:
    """The snippets of a page."""
    return ["".join(piece.text for piece in hit.snippet) for hit in page.hits]


def test_pages_are_consistent() -> None:
    """Every hit occurs once, the newest first, also while events arrive."""
    journal = prompts(12)
    first = search(journal, "needle")
    store(journal, hook("UserPromptSubmit", START + 20 * DAY, prompt="needle between", prompt_id="px"))
    second = search(journal, "needle", before=first.next)
    third = search(journal, "needle", before=second.next)
    assert texts(first) + texts(second) + texts(third) == [f"needle {n}" for n in reversed(range(12))]
    assert third.next is None
    assert texts(search(journal, "needle"))[0] == "needle between"


def test_all_windows_can_be_read() -> None:
    """However many documents match."""
    journal, found, cursor = prompts(12), list[str](), None
    for _ in range(10):
        page = search(journal, "needle", 3, cursor, window=5)
        found += texts(page)
        cursor = page.next
        if cursor is None:
            break
    assert found == [f"needle {n}" for n in reversed(range(12))]


def test_exact_words_rank_before_prefixes() -> None:
    """On every page, however new the others are."""
    journal, found, cursor = prompts(12), list[str](), None
    store(journal, hook("UserPromptSubmit", START + 40 * DAY, prompt="needle 1 10", prompt_id="px"))
    for _ in range(10):
        page = search(journal, "needle 1", 2, cursor)
        found += texts(page)
        cursor = page.next
        if cursor is None:
            break
    assert found == ["needle 1 10", "needle 1", "needle 11", "needle 10"]


def test_the_last_page_has_no_next() -> None:
    """Also if it is full."""
    journal = prompts(3)
    assert search(journal, "needle", 3).next is None
    assert search(journal, "needle", 3, window=3).next is None
    assert search(journal, "needl", 3).next is None
    assert search(journal, "needle", 2).next is not None


def test_a_snippet_marks_exact_words() -> None:
    """Not words that only start with them."""
    [hit] = search(prompts(2), "needle 1").hits
    assert [piece.text for piece in hit.snippet if piece.match] == ["needle", "1"]


def test_fields_of_a_hit() -> None:
    """Agent, project, kind, time, command and turn."""
    [hit] = search(prompts(1), "needle").hits
    assert (hit.agent_id, hit.project, hit.kind, hit.actor, hit.tool) == ("agent-1", "app", "prompt", "USER", None)
    assert hit.agent
    assert hit.at.startswith("2026-")
    assert hit.command_id
    assert hit.turn_id
    assert [(piece.text, piece.match) for piece in hit.snippet] == [("needle", True), (" 0", False)]


def test_a_tool_call_is_found_once() -> None:
    """Its hook and its transcript line report the same input. The same input in a later call is another hit."""
    journal = TemporaryJournal()
    call: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "docker prune"}}
    for number, envelope in enumerate(
        (
            hook("SessionStart"),
            hook("UserPromptSubmit", prompt="Clean up"),
            hook("PreToolUse", START + SECOND, tool_use_id="t1", **call),
            tool_use_line("t1", call),
            hook("PreToolUse", START + 90 * SECOND, tool_use_id="t2", **call),
        )
    ):
        store(journal, msgspec.structs.replace(envelope, received_at=START + number))
    assert [hit.kind for hit in search(journal, "prune").hits] == ["tool_input", "tool_input"]


def test_a_result_is_found_once() -> None:
    """A client that runs a hook twice reports it twice."""
    journal = TemporaryJournal()
    done: dict[str, Any] = {
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
        "tool_response": {"stdout": "a needle"},
    }
    for number, envelope in enumerate(
        (
            hook("SessionStart"),
            hook("UserPromptSubmit", prompt="Look"),
            hook("PostToolUse", START + SECOND, tool_use_id="t1", **done),
            hook("PostToolUse", START + SECOND, tool_use_id="t1", **done),
        )
    ):
        store(journal, msgspec.structs.replace(envelope, received_at=START + number))
    assert [hit.kind for hit in search(journal, "needle").hits] == ["tool_result"]


def tool_use_line(call_id: str, call: dict[str, Any]) -> Envelope:
    """A line of the transcript with a tool call."""
    block = {"type": "tool_use", "id": call_id, "name": call["tool_name"], "input": call["tool_input"]}
    message = {"id": "m1", "role": "assistant", "content": [block]}
    written = hook("assistant", START, origin=Origin.TRANSCRIPT)
    line = {"type": "assistant", "uuid": "u1", "timestamp": iso(START), "message": message}
    payload = {**json.loads(written.payload), **line}
    return msgspec.structs.replace(
        written, payload=json.dumps({**payload, "sessionId": payload["session_id"]}).encode()
    )


def test_recency_is_a_small_bonus() -> None:
    """A better match ranks before a newer one; of equal matches the newer is first."""
    new, old = SearchMatch(2, START, 1.0), SearchMatch(1, START - 365 * DAY, 1.0)
    assert score(new, START) > score(old, START)
    assert score(SearchMatch(1, START - 365 * DAY, 2.0), START) > score(new, START)
    assert score(SearchMatch(3, START + DAY, 1.0), START) == score(new, START), "a clock that goes ahead is no merit"


@pytest.mark.parametrize(
    "cursor", ["", "1", "1-0-2", "a-0-b-c", "1-0-2-3-4", "1-0-2--3", "1-22-2-3", "9" * 60, "1-0-2-3\n"]
)
def test_invalid_cursors_are_refused(cursor: str) -> None:
    """With a hint."""
    with pytest.raises(BadRequest, match="not a cursor"):
        read_cursor(cursor)


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        (" \" ' ", "The query contains no word."),
        ("", "The query contains no word."),
        ("*", "The query contains no word."),
        ("noodle", "No word starts with “noodle”. Try a shorter prefix."),
        ('"need"', "The word “need” does not occur. Only the last word may be a prefix"),
        (
            "noodle needle",
            "The word “noodle” does not occur. Only the last word may be a prefix, and only without quotes. The",
        ),
        ("needle noodle", "No word starts with “noodle”. Try a shorter prefix. The other terms occur."),
        ('"0 needle"', "The phrase “0 needle” does not occur. Try single words."),
        ("needle done", "All of these terms occur, but not in the same text. Try fewer of them."),
    ],
)
def test_hints_without_hits(query: str, hint: str) -> None:
    """The hint depends on the query."""
    nothing = search(prompts(1), query)
    assert (nothing.hits, nothing.next) == ([], None)
    assert (nothing.hint or "").startswith(hint)


def test_hint_to_remove_filters() -> None:
    """Only if there are hits without them."""
    queries = SearchQueries(prompts(1), ManualClock(START))
    assert "remove one of them" in (queries.find("needle", SearchFilter(actor="AGENT"), 5).hint or "")
    assert "No word starts with" in (queries.find("noodle", SearchFilter(actor="AGENT"), 5).hint or "")


def test_no_hint_with_hits() -> None:
    """Nor after the last page."""
    journal = prompts(1)
    assert search(journal, "needle").hint is None
    assert search(journal, "needle", before="1-9-2-3") == Hits([], None)
