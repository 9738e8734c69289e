"""One agent in detail, and the reasons for its state."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from claude_headspace.clients.client import Capability
from claude_headspace.kernel.agent import Agent, AgentState, Confidence, Evidence, Project
from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.views.agent import agent_view
from claude_headspace.kernel.wait.answers import UNCONFIRMED
from claude_headspace.surfaces.cli.output import Line
from claude_headspace.surfaces.cli.presentation.agent_details import (
    CONFIDENCES,
    SOURCES,
    agent_lines,
    state_reasons,
    wait_lines,
)
from tests.limited_client import limited_client

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
AT = 1_773_489_360_000_000  # 11:56
ISO = "2026-03-14T11:56:00+00:00"
LATER = "2026-03-14T12:56:00+00:00"


def bare(**fields: Any) -> dict[str, Any]:
    """An agent of which almost nothing is known, in the JSON of the API."""
    agent = Agent(
        id="agent-1",
        name="calm-otter",
        host="laptop",
        client="claude-code",
        project=Project("p", "shop", "/projects/shop"),
        created_at=AT,
        state=AgentState.IDLE,
        state_since=AT,
        evidence=Evidence("process", Confidence.LOW, AT, "the client is gone"),
    )
    shown: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(agent_view(agent)))
    return {**shown, **fields}


def texts(lines: list[Line]) -> list[str]:
    """Lines without their roles."""
    return ["".join(span.text for span in line).rstrip() for line in lines]


def test_unknown_details_are_left_out() -> None:
    """Only known details have a line."""
    assert texts(agent_lines(bare(), [], NOW, 100)) == [
        "○ calm-otter  idle",
        "",
        "  state      idle since 11:56:00 (4 min ago)",
        "  because    the client is gone (the process table, low confidence)",
        "  project    shop  /projects/shop",
        "  client     Claude Code, on laptop",
        "  id         agent-1",
    ]


def test_all_details() -> None:
    """Command, session, terminal, usage, tasks, sub-agents, background tasks and end."""
    full = bare(
        cwd="/projects/shop/src",
        branch="main",
        pid=77,
        tmux={"session": "work", "pane": "%3"},
        session_id="abc",
        session={"id": "s", "ordinal": 2, "source": "clear", "started_at": ISO},
        command={
            "text": "",
            "trigger": "task_notification",
            "started_at": ISO,
            "ended_at": ISO,
            "outcome": "completed",
        },
        subagents=[{"type": "Explore", "description": "find it", "tool": None}],
        background_tasks=[{"id": "bg", "kind": "shell", "description": "npm run dev", "started_at": ISO}],
        todo={"done": 3, "total": 7},
        model="some-model",
        context_percent=61.8,
        tokens=120_000,
        cost_usd=1.5,
        permission_mode="plan",
        role="reviewer",
        mode="mission",
        effort={"skill": "fix", "ordinal": 2, "phase": "look"},
        supervision={"restarts": 2, "restarted_at": ISO, "reason": "full", "under_way": False, "ended": "too often"},
        ended_at=ISO,
        end_reason="logout",
    )
    shown = "\n".join(texts(agent_lines(full, [], NOW, 100)))
    for part in (
        "prompt     background task finished (completed 4 min ago)",
        "project    shop (main)  /projects/shop",
        "directory  /projects/shop/src",
        "session    abc, context window 2 (clear 4 min ago)",
        "client     Claude Code, on laptop, pid 77, tmux work %3, mission, role reviewer, plan mode",
        "usage      some-model, context 62 %, 120,000 tokens, $1.50",
        "effort     fix #2, phase look",
        "supervised restarted 2 times, 4 min ago: full; supervision ended: too often",
        "to-do list 3 of 7 done",
        "ended      4 min ago, logout",
        "Sub-agents\n  Explore, find it",
        "Background\n  shell, npm run dev (since 11:56:00)",
    ):
        assert part in shown


def wait(**fields: Any) -> dict[str, Any]:
    """An open wait."""
    asked: dict[str, Any] = {
        "kind": "question",
        "text": "?",
        "questions": [],
        "tool": None,
        "summary": "",
        "opened_at": ISO,
    }
    return {**asked, "held_until": None, "answered": None, **fields}


def test_a_plan_is_not_cut() -> None:
    """All of it is needed to answer."""
    plan = "# Plan\n\n" + "\n".join(f"{number}. do it" for number in range(30))
    shown = texts(agent_lines(bare(state="waiting", waits=[wait(kind="plan", text=plan)]), [], NOW, 60))
    assert "  29. do it" in shown


def test_a_question_with_several_choices() -> None:
    """The text says so."""
    question = {
        "text": "Which?",
        "options": [{"label": "A"}, {"label": "B", "description": "the\nother"}],
        "several": True,
    }
    asked = wait(questions=[question], held_until=LATER)
    shown = texts(agent_lines(bare(state="waiting", waits=[asked]), [], NOW, 100))
    assert shown[-4:-1] == ["  Which?  (choose one or more)", "    1. A", "    2. B: the other"]


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ({"held_until": LATER}, "headspace answer calm-otter ANSWER"),
        ({"held_until": LATER, "kind": "permission"}, "headspace approve calm-otter, or headspace deny calm-otter"),
        ({"held_until": ISO}, "Answer it in the terminal of the agent."),
        ({}, "Answer it in the terminal of the agent."),
        (
            {"undelivered": {"words": "allowed", "by": "ann", "problem": "It is gone.", "unconfirmed": False}},
            "The answer of ann (allowed) was not delivered. It is gone. Answer it in the terminal of the agent.",
        ),
        ({"answered": {"words": "allowed", "by": "ann"}}, "allowed by ann; waiting for the client to continue"),
    ],
)
def test_a_wait_says_how_to_answer_it(known: dict[str, Any], said: str) -> None:
    """With a command, only in the terminal, or not any more."""
    assert texts(agent_lines(bare(state="waiting", waits=[wait(**known)]), [], NOW, 200))[-1] == f"  {said}"


@pytest.mark.parametrize(
    ("until", "then"),
    [(None, "Answer it in the terminal of the agent."), (LATER, "Then: headspace answer calm-otter ANSWER")],
)
def test_an_answer_that_the_client_may_still_take_is_not_called_undelivered(until: str | None, then: str) -> None:
    """It is not recommended to try again without a look at the terminal."""
    lost = {"words": "allowed", "by": "ann", "problem": UNCONFIRMED, "unconfirmed": True}
    shown = texts(agent_lines(bare(state="waiting", waits=[wait(held_until=until, undelivered=lost)]), [], NOW, 100))
    said = " ".join(" ".join(shown).split())
    assert said.endswith(f"The answer of ann (allowed) is not confirmed. {UNCONFIRMED} {then}")


def test_why_explains_source_and_confidence() -> None:
    """In the first lines."""
    states = [
        {
            "at": ISO,
            "state": "working",
            "confidence": "high",
            "source": "hook",
            "event": "PreToolUse",
            "why": "started",
        },
        {"at": ISO, "state": "ended", "confidence": "low", "source": "process", "event": "Gone", "why": "it is gone"},
    ]
    assert texts(state_reasons(bare(), states, NOW, 100)) == [
        "○ calm-otter (Claude Code) has been idle since 11:56:00 (4 min ago).",
        "  Because the client is gone: reported by the process table at 11:56:00 (low confidence, inferred).",
        "",
        "States, newest first",
        "  11:56:00  – ended     it is gone · process Gone, low confidence",
        "  11:56:00  ● working   started · hook PreToolUse",
    ]


def test_evidence_that_confirmed_a_state_is_the_newest_row() -> None:
    """The list begins with the reason that the headline gives; the evidence of the beginning follows."""
    seen = {"source": "registry", "confidence": "medium", "at": ISO, "why": "the client's registry says idle"}
    states = [{**seen, "seq": 1, "state": "idle", "waiting_for": None, "event": "SessionRegistry"}]
    evidence = {"source": "hook", "confidence": "high", "at": ISO, "why": "the turn ended"}
    lines = texts(state_reasons(bare(evidence=evidence), states, NOW, 120))
    assert lines[1].startswith("  Because the turn ended: reported by a hook")
    assert lines[4:] == [
        "  11:56:00  ○ idle      the turn ended · hook (same state)",
        "  11:56:00  ○ idle      the client's registry says idle · registry SessionRegistry, medium confidence",
    ]
    assert "(same state)" not in "".join(texts(state_reasons(bare(evidence=seen), states, NOW, 120)))


def test_an_applied_answer_was_not_reported_by_a_person() -> None:
    """Headspace itself records that the client applied an answer, or that a client is restarting."""
    evidence = {"source": "operator", "confidence": "medium", "at": ISO, "why": "the client received the answer"}
    lines = texts(state_reasons(bare(evidence=evidence), [], NOW, 120))
    assert lines[1].startswith("  Because the client received the answer: reported by Headspace at 11:56:00")


def test_every_source_and_confidence_has_a_text() -> None:
    """All values of the kernel."""
    assert set(SOURCES) == {origin.value for origin in Origin}
    assert set(CONFIDENCES) == {confidence.value for confidence in Confidence}


def test_why_without_evidence() -> None:
    """The reason is left out."""
    assert texts(state_reasons(bare(evidence=None), [], NOW, 100)) == [
        "○ calm-otter (Claude Code) has been idle since 11:56:00 (4 min ago)."
    ]


@pytest.mark.parametrize(
    ("state", "begun"),
    [("error", "stopped with an error at"), ("ended", "ended at"), ("working", "has been working since")],
)
def test_each_state_has_a_sentence(state: str, begun: str) -> None:
    """An error and an end are no activities."""
    [line] = texts(state_reasons(bare(evidence=None, state=state), [], NOW, 100))
    assert f" {begun} 11:56:00 " in line


def test_a_dialog_that_was_never_held_says_why() -> None:
    """Nothing is offered that could not be granted."""
    wait: dict[str, Any] = {"kind": "permission", "opened_at": ISO, "held_until": None, "answered": None}
    wait |= {"questions": [], "text": "make", "tool": "bash", "summary": "make", "hidden_characters": []}
    wait["request"] = {"text": "make", "diff": "", "arguments": {}, "complete": True, "left_out": 0}
    wait["suggestions"] = [{"id": "rule-1", "words": "Allow make", "destination": "this session"}]
    shown = texts(wait_lines(wait, NOW, 200, bare(client="opencode")))
    assert shown[-1].startswith("  Answer it in the terminal of the agent. Headspace did not run when")
    assert not any("--grant" in each for each in shown)
    offered = texts(wait_lines({**wait, "held_until": LATER}, NOW, 200, bare(client="opencode")))
    assert any("--grant" in each for each in offered)


def test_several_waits_have_ids() -> None:
    """The commands name the wait that they answer."""
    waits = [wait(id=each, held_until=LATER, kind="permission") for each in ("w1", "w2")]
    shown = texts(agent_lines(bare(state="waiting", waits=waits), [], NOW, 200))
    for each in ("w1", "w2"):
        assert f"  headspace approve calm-otter -w {each}, or headspace deny calm-otter -w {each}" in shown


def test_a_wait_that_the_client_keeps_to_itself() -> None:
    """The reason follows what to do."""
    wait: dict[str, Any] = {"kind": "permission", "opened_at": ISO, "held_until": None, "answered": None}
    wait |= {"questions": [], "text": "make", "tool": "Bash", "summary": "make"}
    with limited_client() as client:
        *_, last = texts(wait_lines(wait, NOW, 120, bare(client=client.name)))
    reason = client.limits[Capability.ANSWER_PERMISSION]
    assert last == f"  Answer it in the terminal of the agent. {reason}"
