"""Notifications and their rules as lines."""

from datetime import UTC, datetime
from typing import Any

from claude_headspace.surfaces.cli.output import Line
from claude_headspace.surfaces.cli.presentation.notifications import (
    channel_test_result,
    notification_rules,
    notification_table,
)

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
SENT = {
    "agent": "calm-otter",
    "notice": {
        "channel": "phone",
        "status": "failed",
        "title": "calm-otter asks",
        "begun_at": "2026-11-15T11:58:00+00:00",
        "failure": "no route",
        "outcome": "",
    },
}
HELD = {
    "channel": "desktop",
    "title": "bold-ant is done after 20 min",
    "why": "quiet hours",
    "until": "2026-11-15T13:00:00+00:00",
}
RULE = {
    "kind": "waiting",
    "on": True,
    "to": [["desktop", "page"], ["phone"]],
    "after": 0,
    "present_after": 20,
    "escalate_after": 180,
    "longer_than": 0,
    "levels": [],
    "budget": 0,
}
CHANNEL = {"name": "phone", "available": True, "detail": "ntfy://…", "last_at": None, "last_failure": ""}


def text(lines: list[Line]) -> str:
    """What is read."""
    return "\n".join("".join(span.text for span in line).rstrip() for line in lines)


def test_table_of_notifications() -> None:
    """Time, channel, status, title and reason of sent and delayed ones."""
    found: dict[str, Any] = {"on": True, "notices": [SENT], "held": [HELD], "unsent": []}
    said = text(notification_table(found, NOW, 200))
    assert "2 min ago  phone  failed  calm-otter asks  no route" in said
    assert "Delayed\n13:00:00  desktop  bold-ant is done after 20 min  quiet hours" in said
    assert (
        text(notification_table({"on": True, "notices": [], "held": [], "unsent": []}, NOW, 80))
        == "No recent notifications."
    )


def test_rules() -> None:
    """Each kind with its steps and times, each channel with its last result."""
    off = {**RULE, "kind": "error", "on": False}
    failing = {**CHANNEL, "name": "team", "last_at": "2026-11-15T11:59:00+00:00", "last_failure": "403"}
    found: dict[str, Any] = {
        "problem": None,
        "file": "/x/notify.toml",
        "channels": [CHANNEL, failing],
        "rules": [RULE, off],
        "projects": {"shop*": [{**RULE, "kind": "cost", "budget": 5.0}]},
        "quiet": {"begins": "22:00", "ends": "08:00", "let_through": ["error"], "until": None},
    }
    said = text(notification_rules(found, NOW, 200))
    assert "waiting  desktop + page → phone  immediately (after 20 s if you are present), next after 3 min" in said
    assert "error    off" in said
    assert "In shop*" in said
    assert "over $5" in said
    assert "failed 1 min ago: 403" in said
    assert "Quiet from 22:00 to 08:00, except error" in said


def test_result_of_a_test() -> None:
    """Of each channel; without a channel, a hint."""
    gone = {"channel": "desktop", "status": "unavailable", "detail": "no D-Bus session"}
    sent = {"channel": "phone", "status": "sent", "detail": "ntfy://…"}
    assert "phone    sent         ntfy://…" in text(channel_test_result({"channels": [gone, sent]}))
    assert "Add a channel" in text(channel_test_result({"channels": [gone]}))
