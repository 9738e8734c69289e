"""The daemon, its log and the settings in words."""

from datetime import UTC, datetime
from typing import Any

from claude_headspace.inputs.reconcile import Mode
from claude_headspace.surfaces.cli.presentation.reports import (
    MODES,
    MOST_DIFFERENCES,
    after_status,
    log_lines,
    running,
    toml_value,
    verification,
)
from claude_headspace.surfaces.cli.terminal import Line

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)


def texts(lines: list[Line]) -> str:
    """Lines without their roles."""
    return "\n".join("".join(span.text for span in line).rstrip() for line in lines)


def report(**fields: Any) -> dict[str, Any]:
    """What `status` knows of a daemon that has just begun."""
    return {
        "url": "http://127.0.0.1:5055",
        "pid": 7,
        "version": "1",
        "started_at": "2026-03-14T11:56:00+00:00",
        "mode": "polling_fallback",
        "polling_interval_seconds": 2.0,
        "last_event_at": None,
        "events_total": 0,
        "events_since_start": 0,
        "agents": {},
        "anomalies": 0,
        "spool": {"depth": 0},
        "health": {"parts": {"writer": {"status": "ok", "detail": "0 waiting"}}},
        "error": None,
        **fields,
    }


def test_a_daemon_that_has_heard_nothing() -> None:
    """It says so, and how to send a first event."""
    shown = texts(running(report(), NOW, 100))
    assert "none yet · 0 in all" in shown
    assert "hooks are silent, so Headspace itself looks every 2 s" in shown
    assert "agents      none yet" in shown
    assert "curl http://127.0.0.1:5055/hook/session-start" in texts(after_status(report()))


def test_a_journal_of_what_others_heard() -> None:
    """What was brought in is in it, and no hook of this machine."""
    assert "no hook here yet · 24,012 in all" in texts(running(report(events_total=24_012), NOW, 100))


def test_what_happened_to_the_database_is_told() -> None:
    """One that lasts with its reason; one that is over with how long it took; and what waited meanwhile."""
    over = {"since": "2026-03-14T11:50:00+00:00", "until": "2026-03-14T11:50:12+00:00", "reason": "refused"}
    now = {"since": "2026-03-14T11:59:00+00:00", "until": None, "reason": "no commit", "spooled": 1}
    shown = texts(running(report(troubles=[{**over, "spooled": 29}, now]), NOW, 100))
    assert "trouble     10 min ago for 12 s: refused · 29 events waited in the spool" in shown
    assert "trouble     no commit, since 1 min · 1 event waited in the spool" in shown


def test_trouble_is_shown() -> None:
    """Events in the spool, events that did not fit, and parts that fail."""
    failing = {"parts": {"writer": {"status": "failing", "detail": "disk full"}}}
    shown = texts(running(report(spool={"depth": 1880}, anomalies=1, health=failing), NOW, 100))
    assert "1,880 events waiting" in shown
    assert "1 event did not quite fit" in shown
    assert "failing, disk full" in shown


def test_every_mode_has_words() -> None:
    """Those of the reconciler, all of them."""
    assert set(MODES) == {mode.value for mode in Mode}


def test_many_differences_are_counted() -> None:
    """The first are listed, the others counted."""
    found = [{"table": "agents", "id": str(number), "problem": "missing"} for number in range(MOST_DIFFERENCES + 5)]
    shown = texts(verification({"ok": False, "differences": found}))
    assert shown.startswith(f"{MOST_DIFFERENCES + 5} differences")
    assert "… and 5 more" in shown


def test_a_line_of_the_log() -> None:
    """Time, level, what happened and its details; a traceback stands below."""
    raw = (
        '{"event": "request_failed", "level": "error", "logger": "x", "path": "/a", "timestamp": "2026-03-14T11:56:00Z"'
    )
    assert texts(log_lines(raw + "}", NOW)) == "11:56:00  error    request_failed  path=/a"
    assert texts(log_lines(raw + ', "exception": "one\\ntwo"}', NOW)).splitlines()[1:] == ["    one", "    two"]
    assert texts(log_lines("not JSON\n", NOW)) == "not JSON"


def test_values_are_shown_as_the_file_writes_them() -> None:
    """What is shown can be copied into the configuration."""
    assert [toml_value(value) for value in ("a", 1, 0.5, ["x"], True)] == ['"a"', "1", "0.5", '["x"]', "true"]
