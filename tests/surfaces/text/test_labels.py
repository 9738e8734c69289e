"""The texts of agents."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.kernel.agent import AgentState
from claude_headspace.surfaces.text import labels

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)


def before(**length: float) -> str:
    """A time before now, in the format of the API."""
    return (NOW - timedelta(**length)).isoformat()


def agent(state: str, **fields: Any) -> dict[str, Any]:
    """An agent with only the given fields."""
    return {"state": state, "waiting_for": None, **fields}


def test_every_state_has_its_own_shape() -> None:
    """No state of the kernel is without a shape, and no two share one."""
    assert set(labels.SHAPES) == {state.value for state in AgentState}
    assert len(set(labels.SHAPES.values())) == len(labels.SHAPES)
    assert labels.shape("a state of next year") == "?"


# --- summaries ---


def wait(kind: str, text: str = "", **fields: Any) -> dict[str, Any]:
    """A wait with only the given fields."""
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
        (wait("permission", "mcp__forms__ask", tool="mcp__forms__ask"), "wants to use mcp__forms__ask"),
        (wait("permission", "Claude needs your permission"), "asks: Claude needs your permission"),
        (wait("permission"), "asks for permission"),
        (wait("plan", "# The plan", tool="ExitPlanMode"), "has a plan"),
        (wait("plan", tool="EnterPlanMode"), "wants to plan first"),
        (wait("dialog", "trust this folder"), "shows a dialog: trust this folder"),
        (wait("dialog"), "shows a dialog"),
    ],
)
def test_each_kind_of_wait_has_a_text(opened: dict[str, Any], words: str) -> None:
    """The text contains the question of the agent, if there is one."""
    assert labels.summary(agent("waiting", waits=[opened]), NOW) == words


def test_the_oldest_wait_without_an_answer_is_shown() -> None:
    """The number of other waits is added."""
    waits = [wait("question", "Really?"), wait("plan")]
    assert labels.summary(agent("waiting", waits=waits), NOW) == "asks: Really? (and 1 more)"
    waits = [{**wait("plan"), "answered": {"words": "approved"}}, wait("question", "Really?")]
    assert labels.summary(agent("waiting", waits=waits), NOW) == "asks: Really? (and 1 more)"
    assert labels.summary(agent("waiting", waiting_for="plan", waits=[]), NOW) == "waiting for plan approval"


def tool(name: str, summary: str = "") -> dict[str, Any]:
    """A running tool call."""
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
def test_summary_of_a_working_agent(fields: dict[str, Any], words: str) -> None:
    """The running tool call comes first, then sub-agents, then the command."""
    assert labels.summary(agent("working", **fields), NOW) == words


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
def test_summary_of_an_idle_agent(fields: dict[str, Any], words: str) -> None:
    """It is done, unless a background task runs or the session is newer than the command."""
    idle = agent("idle", **fields)
    assert labels.summary(idle, NOW) == words
    assert labels.summary_has_time(idle) == words.endswith("ago")
    assert labels.summary(idle, None) == words.removesuffix(" 4 min ago")


def test_summary_of_other_states() -> None:
    """An unknown state is shown by its name."""
    assert labels.summary(agent("error", error="rate_limit"), NOW) == "stopped: rate limit"
    assert labels.summary(agent("error"), NOW) == "stopped: unknown error"
    assert labels.summary(agent("starting"), NOW) == "starting"
    assert labels.summary(agent("ended", ended_at=before(hours=2)), NOW) == "ended 2 h ago"
    assert labels.summary(agent("dreaming"), NOW) == "dreaming"


def test_a_client_that_does_not_report_may_ask_something() -> None:
    """Only in a terminal, and only after a while: then the board says where to look."""
    silent = {"tmux": {"pane": "%1"}, "state_since": before(minutes=1)}
    assert labels.summary(agent("starting", **silent), NOW) == "starting: its terminal may show a question"
    assert labels.summary(agent("starting", **silent), None) == "starting"
    assert labels.summary(agent("starting", **{**silent, "state_since": before(seconds=5)}), NOW) == "starting"
    assert labels.summary(agent("starting", **{**silent, "tmux": {"pane": None}}), NOW) == "starting"


# --- dashboard ---

EXAMPLES = json.loads((Path(__file__).parents[3] / "web/tests/agent-summaries.json").read_text(encoding="utf-8"))
"""The page is tested with the same file, so that page and terminal use the same sentences."""


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["summary"])
def test_the_terminal_and_the_page_use_the_same_sentences(example: dict[str, Any]) -> None:
    """Both are tested with one file of examples."""
    assert labels.summary(example["agent"], datetime(2026, 1, 1, 12, tzinfo=UTC)) == example["summary"]


def test_supervision_without_an_effort_says_what_it_needs() -> None:
    """Until there is an effort, nothing is restarted."""
    found = {"restarts": 0, "restarted_at": None, "reason": "", "ended": ""}
    text = labels.supervision_text({"supervision": found, "effort": None}, NOW)
    assert text == "not restarted yet; restarts need an effort"
    assert labels.supervision_text({"supervision": found, "effort": {"skill": "fix"}}, NOW) == "not restarted yet"
