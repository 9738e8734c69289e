"""The words of the board: short, plain, and harmless in a terminal."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from claude_headspace.kernel.agent import AgentState
from claude_headspace.surfaces.text import labels as wording

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)


def before(**length: float) -> str:
    """A moment before now, as the API tells it."""
    return (NOW - timedelta(**length)).isoformat()


def agent(state: str, **fields: Any) -> dict[str, Any]:
    """An agent with just what its words need."""
    return {"state": state, "waiting_for": None, **fields}


def test_every_state_has_its_own_shape() -> None:
    """No state of the kernel is without a shape, and no two share one."""
    assert set(wording.SHAPES) == {state.value for state in AgentState}
    assert len(set(wording.SHAPES.values())) == len(wording.SHAPES)
    assert wording.shape("a state of next year") == "?"


# --- texts from elsewhere ---


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[2J\x1b[1;1Hgone", "gone"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;c2VjcmV0\x07", ""),
        ("\x1bP+q544e\x1b\\x", "x"),
        ("\x9b31mred", "red"),
        ("\x9d0;title\x9ctext", "text"),
        ("an unfinished \x1b[31", "an unfinished 31"),
        ("an \x1b]0;unfinished title", "an 0;unfinished title"),
        ("bell\a back\b delete\x7f null\0", "bell back delete null"),
        ("ab\u202egnp.exe", "abgnp.exe"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("half \ud83d emoji", "half  emoji"),
        ("one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("a\tb", "a    b"),
        ("日本語 ünïcode 👩‍👩‍👧 [red]stays[/red]", "日本語 ünïcode 👩‍👩‍👧 [red]stays[/red]"),
    ],
)
def test_nothing_stays_that_a_terminal_would_act_on(hostile: str, harmless: str) -> None:
    """Escape sequences go whole, control characters go, everything that people write stays."""
    assert wording.clean_text(hostile) == harmless


@given(st.text())
def test_any_text_is_harmless_once_cleaned(text: str) -> None:
    """Whatever comes in, no control character but the newline comes out, and cleaning again changes nothing."""
    once = wording.clean_text(text)
    assert not [char for char in once if (ord(char) < 32 and char != "\n") or 127 <= ord(char) < 160]
    assert wording.clean_text(once) == once


def test_cleaning_reaches_into_json() -> None:
    """Texts are cleaned wherever they stand, keys included; everything else stays."""
    assert wording.clean_json({"a\x1b[1m": ["\x07b", {"c": "\x1b[0m"}], "n": 1.5, "none": None, "yes": True}) == {
        "a": ["b", {"c": ""}],
        "n": 1.5,
        "none": None,
        "yes": True,
    }


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("fits", 4, "fits"),
        ("one two three", 9, "one two…"),
        ("one two three", 8, "one two…"),
        ("one two, three", 10, "one two…"),
        ("/a/very/long/path/without/spaces", 12, "/a/very/lon…"),
        ("a averyveryverylongword", 12, "a averyvery…"),
        ("日本語のテキスト", 7, "日本語…"),
        ("anything", 1, "…"),
        ("anything", 0, ""),
        ("", 0, ""),
    ],
)
def test_a_text_is_cut_at_the_end_of_a_word(text: str, width: int, expected: str) -> None:
    """What does not fit ends with … after a whole word, unless that would leave too little."""
    assert wording.cut(text, width) == expected


@given(st.text(alphabet="ab 日é👩", max_size=60), st.integers(0, 30))
def test_what_was_cut_fits(text: str, width: int) -> None:
    """No text is wider than the room that it was given."""
    assert cell_len(wording.cut(text, width)) <= width


@given(st.text(alphabet="ab 日\n", max_size=80), st.integers(4, 30), st.integers(0, 3))
def test_wrapped_lines_fit_and_lose_nothing(text: str, width: int, taken: int) -> None:
    """Every line fits, and all that is not white space is still there in its order."""
    lines = wording.wrap(text, width, taken)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_the_first_line_leaves_room() -> None:
    """Of the first line some room is taken already."""
    assert wording.wrap("one two three", 9, 4) == ["one", "two three"]


# --- time ---


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-30, "just now"),
        (0, "just now"),
        (4.9, "just now"),
        (12, "12 s ago"),
        (59.9, "59 s ago"),
        (60, "1 min ago"),
        (4 * 60 + 59, "4 min ago"),
        (2 * 3600, "2 h ago"),
        (47 * 3600, "47 h ago"),
        (3 * 86400, "3 d ago"),
        (400 * 86400, "400 d ago"),
    ],
)
def test_times_are_told_from_now(seconds: float, words: str) -> None:
    """One unit, rounded down; a clock that goes ahead of ours says "just now"."""
    assert wording.ago(before(seconds=seconds), NOW) == words


def test_a_time_that_cannot_be_read_is_no_error() -> None:
    """Surfaces never fail because of a strange time."""
    assert wording.ago("nonsense", NOW).endswith(" d ago")
    assert wording.parse_timestamp("2026-03-14T11:59:00") == NOW - timedelta(minutes=1)


def test_the_clock_shows_the_date_of_another_day() -> None:
    """Today the time is enough."""
    assert wording.clock_time(before(hours=1), NOW) == "11:00:00"
    assert wording.clock_time(before(days=1), NOW) == "2026-03-13 12:00"


# --- what an agent does ---


def wait(kind: str, text: str = "", **fields: Any) -> dict[str, Any]:
    """A wait with just what its words need."""
    return {"kind": kind, "text": text, "questions": [], "tool": None, "summary": "", **fields}


@pytest.mark.parametrize(
    ("opened", "words"),
    [
        (wait("question", "Which\ndatabase?", tool="AskUserQuestion"), "asks: Which database?"),
        (wait("question", "All done. Nice.\n\nIt works. Shall I push?"), "asks: Shall I push?"),
        (wait("question"), "asks a question"),
        (wait("elicitation", "Your key?"), "asks: Your key?"),
        (wait("permission", "Bash: rm x", tool="Bash", summary="rm x"), "wants to run: rm x"),
        (wait("permission", "Edit", tool="Edit", summary="/src/auth.py"), "wants to edit: auth.py"),
        (wait("permission", "x", tool="mcp__db__query", summary="SELECT"), "wants to use mcp__db__query: SELECT"),
        (wait("permission", "Claude needs your permission"), "asks: Claude needs your permission"),
        (wait("permission"), "asks for permission"),
        (wait("plan", "# The plan", tool="ExitPlanMode"), "has a plan"),
        (wait("plan", tool="EnterPlanMode"), "wants to plan first"),
        (wait("dialog", "trust this folder"), "shows a dialog: trust this folder"),
        (wait("dialog"), "shows a dialog"),
    ],
)
def test_what_is_wanted_is_said_in_words(opened: dict[str, Any], words: str) -> None:
    """Every kind of wait has its own words, and the words of the agent itself where there are any."""
    assert wording.summary(agent("waiting", waits=[opened]), NOW) == words


def test_the_newest_wait_speaks_for_the_others() -> None:
    """Of several waits the newest is told, with the number of the others."""
    waits = [wait("plan"), wait("question", "Really?")]
    assert wording.summary(agent("waiting", waits=waits), NOW) == "asks: Really? (and 1 more)"
    assert wording.summary(agent("waiting", waiting_for="plan", waits=[]), NOW) == "waiting for plan approval"


def tool(name: str, summary: str = "") -> dict[str, Any]:
    """A tool in flight."""
    return {"name": name, "summary": summary}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"tool": tool("Bash", "npm test")}, "Bash: npm test"),
        ({"tool": tool("Edit", "/src/auth.py")}, "editing auth.py"),
        ({"tool": tool("Read", "/src/auth.py")}, "reading auth.py"),
        ({"tool": tool("Grep", "TODO")}, "searching for TODO"),
        ({"tool": tool("TodoWrite")}, "TodoWrite"),
        ({"command": {"text": "Fix the\nlogin", "ended_at": None}}, "working: Fix the login"),
        ({"command": {"text": "Fix the login", "ended_at": before(seconds=9)}}, "working"),
        ({"subagents": [{"type": "Explore", "description": "find it", "tool": None}]}, "sub-agent: Explore, find it"),
        ({"subagents": [{"type": "Explore", "tool": tool("Read", "/a.py")}]}, "sub-agent: Explore, reading a.py"),
        ({"subagents": [{"type": ""}, {"type": ""}]}, "2 sub-agents working"),
        ({}, "working"),
    ],
)
def test_what_an_agent_does_now(fields: dict[str, Any], words: str) -> None:
    """The tool in flight comes first, then sub-agents, then what it was told."""
    assert wording.summary(agent("working", **fields), NOW) == words


def ended(outcome: str | None = "completed") -> dict[str, Any]:
    """A command that ended four minutes ago."""
    return {"text": "x", "ended_at": before(minutes=4), "outcome": outcome}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"command": ended()}, "done 4 min ago"),
        ({"command": ended("interrupted")}, "interrupted 4 min ago"),
        ({"command": ended(), "background_tasks": [{"kind": "shell"}]}, "idle, 1 shell running"),
        ({"command": ended(), "background_tasks": [{"kind": "shell"}] * 2}, "idle, 2 shells running"),
        ({"command": ended(), "background_tasks": [{"kind": "shell"}, {"kind": "monitor"}]}, "idle, 2 tasks running"),
        ({"command": ended(), "session": {"started_at": before(minutes=5)}}, "done 4 min ago"),
        ({"command": ended(), "session": {"started_at": before(minutes=1)}}, "idle"),
        ({"command": None}, "idle"),
    ],
)
def test_what_an_idle_agent_did(fields: dict[str, Any], words: str) -> None:
    """It is done, unless something still runs or it only just began."""
    idle = agent("idle", **fields)
    assert wording.summary(idle, NOW) == words
    assert wording.summary_has_time(idle) == words.endswith("ago")
    assert wording.summary(idle, None) == words.removesuffix(" 4 min ago")


def test_the_other_states_in_words() -> None:
    """Errors say which, ends say when, and a state that nobody knows yet says its name."""
    assert wording.summary(agent("error", error="rate_limit"), NOW) == "stopped: rate limit"
    assert wording.summary(agent("error"), NOW) == "stopped: unknown error"
    assert wording.summary(agent("starting"), NOW) == "starting"
    assert wording.summary(agent("ended", ended_at=before(hours=2)), NOW) == "ended 2 h ago"
    assert wording.summary(agent("dreaming"), NOW) == "dreaming"


# --- the page ---

EXAMPLES = json.loads((Path(__file__).parents[3] / "web/tests/agent-summaries.json").read_text(encoding="utf-8"))
"""The page is tested with the same file, so that page and terminal use the same sentences."""


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["summary"])
def test_the_terminal_and_the_page_use_the_same_sentences(example: dict[str, Any]) -> None:
    """Both are tested with one file of examples."""
    assert wording.summary(example["agent"], datetime(2026, 1, 1, 12, tzinfo=UTC)) == example["summary"]
