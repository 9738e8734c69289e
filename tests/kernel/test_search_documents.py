"""Search documents of an event: turns, tool inputs and tool results."""

import json
from typing import Any

import pytest

from claude_headspace.clients.decode import decode
from claude_headspace.clients.transcript_line import LINE
from claude_headspace.kernel.correlate import create_agent
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.search_documents import (
    GAP,
    MAX_CALL_CHARACTERS,
    MAX_TURN_CHARACTERS,
    call_text,
    call_texts,
    event_documents,
    truncate_middle,
)
from claude_headspace.kernel.search_terms import MAX_WORD_CHARACTERS, split_words
from claude_headspace.testing import hook


def documents_of(envelope: Envelope) -> list[tuple[str, str | None, str]]:
    """Kind, tool and text of an event's documents."""
    event = decode(envelope)
    found = event_documents(7, event, evolve(create_agent("a", envelope, event), event))
    return [(document.kind, document.tool, text) for document, text in found]


def line(**content: Any) -> Envelope:
    """A line of a transcript."""
    return hook(LINE, origin=Origin.TRANSCRIPT, sessionId="session-1", **content)


@pytest.mark.parametrize(
    ("envelope", "expected"),
    [
        (hook("UserPromptSubmit", prompt="Fix it"), [("prompt", None, "Fix it")]),
        (
            hook("PreToolUse", tool_name="Edit", tool_input={"file_path": "/a.py", "n": 1, "edits": [{"new": "x"}]}),
            [("tool_input", "Edit", "/a.py\nx")],
        ),
        (hook("PostToolUse", tool_name="Bash", tool_response={"stdout": "ok", "stderr": ""}), "ok"),
        (hook("PostToolUse", tool_name="Bash", tool_response="plain"), "plain"),
        (hook("PostToolUseFailure", tool_name="Bash", error="exit 1"), "exit 1"),
        (hook("PostToolUse", tool_name="Bash", tool_response={"n": 1}), []),
        (hook("PreToolUse", tool_name="Bash"), []),
        (hook("Notification", message="hello"), []),
    ],
)
def test_documents_of_an_event(envelope: Envelope, expected: object) -> None:
    """Strings of inputs and results in order; the text of turns; no document without text."""
    if isinstance(expected, str):
        expected = [("tool_result", "Bash", expected)]
    assert [(kind, tool, text.strip()) for kind, tool, text in documents_of(envelope)] == expected


def test_tool_calls_of_transcripts_are_documents() -> None:
    """This covers sessions without hooks."""
    used = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "done"}]}
    call_line = line(type="assistant", uuid="u1", message={"role": "assistant", "content": [used]})
    result_line = line(type="user", uuid="u2", message={"role": "user", "content": [result]})
    assert documents_of(call_line) == [("tool_input", "Bash", "make")]
    assert documents_of(result_line) == [("tool_result", None, "done")]


LONG_RUN = "collected 900 items\n" + "tests/shop.py ....\n" * 1_000 + "FAILED rejects_expired_cards"


@pytest.mark.parametrize(
    "envelope",
    [
        hook("PostToolUse", tool_name="Bash", tool_response={"stdout": LONG_RUN, "interrupted": False}),
        hook("PostToolUse", tool_name="Bash", tool_response=LONG_RUN.splitlines()),
        hook("PostToolUseFailure", tool_name="Bash", error=LONG_RUN),
        hook("PreToolUse", tool_name="Write", tool_input={"content": LONG_RUN}),
    ],
)
def test_both_ends_of_a_long_tool_text_are_indexed(envelope: Envelope) -> None:
    """The document is bounded and contains the beginning and the end."""
    [(_kind, _tool, text)] = documents_of(envelope)
    assert len(text) <= MAX_CALL_CHARACTERS
    assert text.startswith("collected 900 items\n")
    assert text.endswith("\nFAILED rejects_expired_cards")


def test_both_ends_of_a_long_prompt_are_indexed() -> None:
    """The limit of a turn is larger than that of a tool call."""
    prompt = "First of all " + "read this line\n" * 6_000 + "and tell me at last"
    [(_kind, _tool, text)] = documents_of(hook("UserPromptSubmit", prompt=prompt))
    assert len(text) <= MAX_TURN_CHARACTERS < len(prompt)
    assert text.startswith("First of all ")
    assert text.endswith("and tell me at last")


def test_the_text_is_extracted_from_the_event() -> None:
    """By the id of the document; an unknown id gives an empty text."""
    envelope = hook("PreToolUse", tool_name="Bash", tool_input={"command": "make"})
    event = decode(envelope)
    [(document, text)] = event_documents(7, event, evolve(create_agent("a", envelope, event), event))
    assert call_text(document.id, event) == text == "make"
    assert call_text(document.id + 1, event) == ""


@pytest.mark.parametrize("payload", [b"", b"[]", b'{"tool_input": ', b'{"tool_input": "' + b"\xff" + b'"}'])
def test_broken_payloads_have_no_texts(payload: bytes) -> None:
    """They never raise."""
    envelope = hook("PreToolUse")
    broken = Envelope(**{**{f: getattr(envelope, f) for f in envelope.__struct_fields__}, "payload": payload})
    assert [call for call in call_texts(decode(broken)) if "\ufffd" not in call.text] == []


def test_deep_nesting_is_accepted() -> None:
    """A deeply nested result never raises and has no document."""
    deep = json.loads("[" * 400 + '"deep"' + "]" * 400)
    assert documents_of(hook("PostToolUse", tool_name="Bash", tool_response=deep)) == []


@pytest.mark.parametrize("text", ["one_two three, four " * 99, "x" * 999, "日本語" * 333, "wörter 😀 " * 99, " " * 999])
def test_a_long_text_is_cut_between_words(text: str) -> None:
    """Both ends contain complete words; a text without word boundaries is cut anyway."""
    cut = truncate_middle(text, 300)
    head, gap, tail = cut.partition(GAP)
    assert gap
    assert 300 - 2 * MAX_WORD_CHARACTERS <= len(cut) <= 300
    assert text.startswith(head)
    assert text.endswith(tail)
    if "x" not in text:
        assert split_words(text)[: len(split_words(head))] == split_words(head)
        assert split_words(text)[len(split_words(text)) - len(split_words(tail)) :] == split_words(tail)
