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


def kept(**payload: Any) -> Any:
    """A payload as it is kept."""
    return json.loads(truncate(json.dumps(payload).encode(), BOUNDS))


def test_what_is_short_stays_byte_for_byte() -> None:
    """Spaces, order and all."""
    raw = b'{ "b": 1,\n "a": "' + b"x" * 1_900 + b'" }'
    assert truncate(raw, BOUNDS) is raw


def test_a_long_result_is_cut_in_the_middle_and_says_so() -> None:
    """Its ends stay, and how many bytes went is told."""
    text = "begin " + "ä" * 10_000 + " end"
    out = kept(tool_name="Bash", tool_response={"stdout": text, "code": 1})
    assert out["tool_name"] == "Bash"
    assert out["tool_response"]["code"] == 1
    stdout = out["tool_response"]["stdout"]
    assert stdout.startswith("begin ä")
    assert stdout.endswith("ä end")
    assert "bytes left out" in stdout
    assert len(stdout.encode()) < 2_000


def test_messages_have_a_larger_limit() -> None:
    """A prompt is kept where a result would be cut, and cut if it is huge."""
    assert kept(prompt="x" * 7_000)["prompt"] == "x" * 7_000
    assert kept(prompt="x" * 9_000)["prompt"] == cut("x" * 9_000, 8_000)


def test_the_same_input_is_cut_alike_wherever_it_stands() -> None:
    """A dialog is matched with its call by the input: both must be kept alike, whatever stands beside."""
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
def test_many_small_things_are_bounded_too(response: object) -> None:
    """Neither lists nor objects without end fill the log."""
    out = kept(tool_name="Read", tool_response=response)
    assert len(json.dumps(out, ensure_ascii=False).encode()) < 2 * BOUNDS.result
    assert out["tool_name"] == "Read"


def test_many_members_are_bounded_too() -> None:
    """None of them is long; those behind the first megabytes are only marks, but for whose event it is."""
    found = kept(**{f"m{number}": "x" * 1_500 for number in range(100)}, session_id="one")
    assert found["m0"] == "x" * 1_500
    assert found["m99"] == "… [1,502 bytes left out] …"
    assert found["session_id"] == "one"
    assert len(json.dumps(found)) < 9 * BOUNDS.message


def test_identity_is_never_cut() -> None:
    """Who an event belongs to must not change: the receiver bounds that."""
    out = kept(session_id="s" * 3_000, cwd="/" + "d" * 5_000, other="o" * 5_000)
    assert (len(out["session_id"]), len(out["cwd"])) == (3_000, 5_001)
    assert len(out["other"]) < 2_100


@pytest.mark.parametrize("raw", [b"[" * 5_000, b"\xff" * 5_000, b'"' + b"x" * 5_000 + b'"', b'{"a":' * 3_000])
def test_invalid_json_is_unchanged(raw: bytes) -> None:
    """Nothing raises."""
    assert truncate(raw, BOUNDS) == raw


@given(st.text(min_size=1), st.integers(100, 5_000))
def test_a_cut_text_has_about_the_limit(text: str, limit: int) -> None:
    """Whatever the script, cutting the same text gives the same."""
    long = text * (limit // len(text) + 2)
    assert len(cut(long, limit).encode()) <= limit + 60
    assert cut(long, limit) == cut(long, limit)


def test_a_text_that_is_cut_twice_has_the_original_count() -> None:
    """The mark of the first cut counts as what it stands for."""
    text = "xy" * 10_000
    assert cut(cut(text, 4_000), 2_000) == cut(text, 2_000)
