"""Efforts as lines."""

from datetime import UTC, datetime
from typing import Any

from claude_headspace.surfaces.cli.output import Line
from claude_headspace.surfaces.cli.presentation.efforts import effort_lines, effort_table

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)
TIME = "2026-03-14T11:56:00+00:00"


def effort(**known: Any) -> dict[str, Any]:
    """An effort as the socket returns it."""
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


def test_table_of_efforts() -> None:
    """Symbol, name, id, phase, calls, log entries, task and age; finished efforts are dim."""
    shown = text(effort_table([effort(), effort(lifecycle="finished", phase=None)], [], NOW)).splitlines()
    assert shown[1].split() == ["●", "fix", "#2", effort()["id"][:12], "look", "3/10", "4", "/app", "4", "min", "ago"]
    assert shown[2].startswith("– fix #2")


def test_a_task_is_shown_by_its_title() -> None:
    """Followed by its directory."""
    assert "Faster checkout (/app)" in text(effort_table([effort()], [{"id": "t", "title": "Faster checkout"}], NOW))


def test_a_count_at_its_limit_is_highlighted() -> None:
    """No other cell is."""
    roles = {span.text: span.role for line in effort_table([effort(heartbeat=10)], [], NOW) for span in line}
    assert roles["10/10"] == "waiting"


def test_no_efforts() -> None:
    """The output says how to start one."""
    assert "headspace effort start SKILL" in text(effort_table([], [], NOW))


def test_details_of_an_effort() -> None:
    """Phases, sessions and the newest log entries; empty details are left out."""
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
    for part in (
        "look of look, repair",
        "42% full",
        "Look (queued)",
        "sub-agent sub: 5 calls, 1 file, handover stored",
    ):
        assert part in shown
    assert "  log words" in shown
    assert "dialogue: dialogue words" in shown
    assert "owner" not in shown
