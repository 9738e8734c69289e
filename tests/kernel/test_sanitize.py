"""Stored payloads: long texts are cut in the middle, and the JSON keeps its shape."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.facts import ToolStarted
from claude_headspace.kernel.sanitize import Bounds, cut, truncate
from claude_headspace.testing import hook

BOUNDS = Bounds(message=8_000, result=2_000)


def sanitized(**payload: Any) -> Any:
    """A payload as it is stored."""
    return json.loads(truncate(json.dumps(payload).encode(), BOUNDS))


def test_a_short_payload_is_unchanged() -> None:
    """Byte for byte."""
    raw = b'{ "b": 1,\n "a": "' + b"x" * 1_900 + b'" }'
    assert truncate(raw, BOUNDS) is raw


def test_a_long_result_is_cut_in_the_middle() -> None:
    """Beginning and end stay, with the number of bytes left out."""
    text = "begin " + "ä" * 10_000 + " end"
    out = sanitized(tool_name="Bash", tool_response={"stdout": text, "code": 1})
    assert out["tool_name"] == "Bash"
    assert out["tool_response"]["code"] == 1
    stdout = out["tool_response"]["stdout"]
    assert stdout.startswith("begin ä")
    assert stdout.endswith("ä end")
    assert "bytes left out" in stdout
    assert len(stdout.encode()) < 2_000


def test_messages_have_a_larger_limit() -> None:
    """A prompt is complete where a result would be cut, and is cut if it is huge."""
    assert sanitized(prompt="x" * 7_000)["prompt"] == "x" * 7_000
    assert sanitized(prompt="x" * 9_000)["prompt"] == cut("x" * 9_000, 8_000)


def test_equal_inputs_are_cut_equally() -> None:
    """A dialog is matched with its call by the input, so other members must not matter."""
    call = {"file_path": "/a.py", "content": "line\n" * 2_000, "n": 1.0}
    one = truncate(json.dumps({"tool_input": call, "tool_name": "Write"}).encode(), BOUNDS)
    two = truncate(json.dumps({"tool_name": "Write", "extra": "y" * 5_000, "tool_input": call}).encode(), BOUNDS)
    facts = []
    for payload in (one, two):
        fact = decode(hook("PreToolUse", **json.loads(payload))).fact
        assert isinstance(fact, ToolStarted)
        facts.append((fact.digest, fact.summary))
    assert facts[0] == facts[1]
    assert facts[0][1] == "/a.py"


@pytest.mark.parametrize(
    "response",
    [
        ["x" * 50] * 1_000,
        list(range(10_000)),
        {f"key-{n}": n for n in range(5_000)},
        [[["deep " * 100] * 40] * 40],
        {"k" * 50_000: 1},
    ],
)
def test_many_small_values_are_limited(response: object) -> None:
    """Long lists and objects are cut."""
    out = sanitized(tool_name="Read", tool_response=response)
    assert len(json.dumps(out, ensure_ascii=False).encode()) < 2 * BOUNDS.result
    assert out["tool_name"] == "Read"


def test_many_members_are_limited() -> None:
    """Members after the first megabytes are replaced by marks, except those that identify the agent."""
    found = sanitized(**{f"m{number}": "x" * 1_500 for number in range(100)}, session_id="one")
    assert found["m0"] == "x" * 1_500
    assert found["m99"] == "… [1,502 bytes left out] …"
    assert found["session_id"] == "one"
    assert len(json.dumps(found)) < 9 * BOUNDS.message


def test_identity_is_never_cut() -> None:
    """The fields that identify the agent do not change; the receiver limits them."""
    out = sanitized(session_id="s" * 3_000, cwd="/" + "d" * 5_000, other="o" * 5_000)
    assert (len(out["session_id"]), len(out["cwd"])) == (3_000, 5_001)
    assert len(out["other"]) < 2_100


@pytest.mark.parametrize("raw", [b"[" * 5_000, b"\xff" * 5_000, b'"' + b"x" * 5_000 + b'"', b'{"a":' * 3_000])
def test_invalid_json_is_unchanged(raw: bytes) -> None:
    """Nothing raises."""
    assert truncate(raw, BOUNDS) == raw


@given(st.text(min_size=1), st.integers(100, 5_000))
def test_a_cut_text_has_about_the_limit(text: str, limit: int) -> None:
    """In any script, and cutting the same text gives the same result."""
    long = text * (limit // len(text) + 2)
    assert len(cut(long, limit).encode()) <= limit + 60
    assert cut(long, limit) == cut(long, limit)


def test_a_text_that_is_cut_twice_has_the_original_count() -> None:
    """The mark of the first cut counts as what it stands for."""
    text = "xy" * 10_000
    assert cut(cut(text, 4_000), 2_000) == cut(text, 2_000)
