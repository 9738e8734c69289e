"""Efforts as the terminal shows them."""

from datetime import UTC, datetime
from typing import Any

from claude_headspace.surfaces.cli.output import Line
from claude_headspace.surfaces.cli.presentation.efforts import effort_lines, effort_table

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
TIME = "2026-03-14T11:56:00+00:00"


def effort(**known: Any) -> dict[str, Any]:
    """An effort as the socket tells it."""
    return {
        "id": "0123456789",
        "skill": "fix",
        "ordinal": 2,
        "lifecycle": "active",
        "phase": "look",
        "phases": ["look", "repair"],
        "task_id": "t",
        "task_dir": "/app",
        "agent_id": None,
        "owner": None,
        "heartbeat": 3,
        "heartbeat_limit": 10,
        "context_usage": None,
        "logged": 4,
        "directives": [],
        "pending_preloads": [],
        "injections": [],
        "dehydrated": None,
        "started_at": TIME,
        "sessions": [],
        "messages": [],
        **known,
    }


def text(lines: list[Line]) -> str:
    """Lines without their roles."""
    return "\n".join("".join(span.text for span in line).rstrip() for line in lines)


def test_one_line_for_each_effort() -> None:
    """Shape, name, phase, calls, log entries, task, age; a finished one steps back."""
    shown = text(effort_table([effort(), effort(lifecycle="finished", phase=None)], [], NOW)).splitlines()
    assert shown[1].split() == ["●", "fix", "#2", "look", "3/10", "4", "/app", "4", "min", "ago"]
    assert shown[2].startswith("– fix #2")


def test_a_task_is_called_by_its_title() -> None:
    """Where it has one, the directory stands behind it."""
    assert "Faster checkout (/app)" in text(effort_table([effort()], [{"id": "t", "title": "Faster checkout"}], NOW))


def test_a_count_at_its_limit_calls_for_attention() -> None:
    """It is the only thing with a colour that calls."""
    roles = {span.text: span.role for line in effort_table([effort(heartbeat=10)], [], NOW) for span in line}
    assert roles["10/10"] == "waiting"


def test_no_effort_says_how_to_begin_one() -> None:
    """An empty list has its next step."""
    assert "headspace effort start SKILL" in text(effort_table([], [], NOW))


def test_one_effort_shows_what_is_known_and_nothing_else() -> None:
    """Phase among phases, sessions with what became of them, the newest of the log; empty facts are left out."""
    session = {
        "subagent_id": "sub",
        "heartbeat": 5,
        "loaded_files": ["/a"],
        "dehydrated": True,
        "spent": None,
        "started_at": TIME,
        "ended_at": TIME,
        "end_reason": "clear",
    }
    said = [{"at": TIME, "kind": kind, "text": f"{kind} words"} for kind in ("log", "dialogue")]
    found = effort(
        sessions=[session],
        messages=said,
        context_usage=0.42,
        injections=[{"text": "Look", "delivery": "queued"}],
    )
    shown = text(effort_lines(found, NOW, 100))
    for part in ("look of look, repair", "42% full", "Look (queued)", "sub-agent sub: 5 calls, 1 file, handed over"):
        assert part in shown
    assert "  log words" in shown
    assert "dialogue: dialogue words" in shown
    assert "owner" not in shown
