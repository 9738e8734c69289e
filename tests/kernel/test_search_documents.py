"""What can be found of an event: its turns, what its tools were given and what they gave back."""

import json
from typing import Any

import pytest

from claude_headspace.clients.claude_code.transcript import LINE
from claude_headspace.clients.decode import decode
from claude_headspace.kernel.creation import create_agent
from claude_headspace.kernel.envelope import Envelope, Origin
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.search_documents import (
    MAX_CALL_CHARACTERS,
    MAX_TURN_CHARACTERS,
    call_text,
    call_texts,
    event_documents,
)
from claude_headspace.testing import hook


def of(envelope: Envelope) -> list[tuple[str, str | None, str]]:
    """Kind, tool and text of an event's documents."""
    event = decode(envelope)
    found = event_documents(7, event, evolve(create_agent("a", envelope, event), event))
    return [(document.kind, document.tool, text) for document, text in found]


def line(**content: Any) -> Envelope:
    """A line of a transcript."""
    return hook(LINE, origin=Origin.TRANSCRIPT, sessionId="session-1", **content)


@pytest.mark.parametrize(
    ("envelope", "found"),
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
def test_what_an_event_adds(envelope: Envelope, found: object) -> None:
    """Strings of inputs and results in their order, turns as they were said, nothing where nothing is said."""
    expected = [("tool_result", "Bash", f"{found}".strip())] if isinstance(found, str) else found
    assert [(kind, tool, text.strip()) for kind, tool, text in of(envelope)] == expected


def test_calls_in_transcripts_count_too() -> None:
    """For sessions that no hook told of."""
    used = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "make"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "done"}]}
    asked = line(type="assistant", uuid="u1", message={"role": "assistant", "content": [used]})
    told = line(type="user", uuid="u2", message={"role": "user", "content": [result]})
    assert of(asked) == [("tool_input", "Bash", "make")]
    assert of(told) == [("tool_result", None, "done")]


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
def test_a_long_result_is_found_by_both_its_ends(envelope: Envelope) -> None:
    """However much a tool was given or gave back, one document is short, and says how it began and how it ended."""
    [(_kind, _tool, text)] = of(envelope)
    assert len(text) <= MAX_CALL_CHARACTERS
    assert text.startswith("collected 900 items\n")
    assert text.endswith("\nFAILED rejects_expired_cards")


def test_what_was_said_is_found_by_both_its_ends() -> None:
    """A prompt that is longer than the bound too."""
    prompt = "First of all " + "read this line\n" * 6_000 + "and tell me at last"
    [(_kind, _tool, text)] = of(hook("UserPromptSubmit", prompt=prompt))
    assert len(text) <= MAX_TURN_CHARACTERS < len(prompt)
    assert text.startswith("First of all ")
    assert text.endswith("and tell me at last")


def test_the_text_is_read_again_from_the_event() -> None:
    """By the document's number, and nothing where there is none."""
    envelope = hook("PreToolUse", tool_name="Bash", tool_input={"command": "make"})
    event = decode(envelope)
    [(document, text)] = event_documents(7, event, evolve(create_agent("a", envelope, event), event))
    assert call_text(document.id, event) == text == "make"
    assert call_text(document.id + 1, event) == ""


@pytest.mark.parametrize("payload", [b"", b"[]", b'{"tool_input": ', b'{"tool_input": "' + b"\xff" + b'"}'])
def test_what_cannot_be_read_says_nothing(payload: bytes) -> None:
    """Broken payloads have no texts and raise nothing."""
    envelope = hook("PreToolUse")
    broken = Envelope(**{**{f: getattr(envelope, f) for f in envelope.__struct_fields__}, "payload": payload})
    assert [call for call in call_texts(decode(broken)) if "\ufffd" not in call.text] == []


def test_nesting_without_end_is_no_trouble() -> None:
    """A result may be nested as deeply as JSON allows."""
    deep = json.loads("[" * 400 + '"deep"' + "]" * 400)
    assert of(hook("PostToolUse", tool_name="Bash", tool_response=deep)) == []
