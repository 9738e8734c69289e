"""The daemon, its log and the settings as lines."""

from datetime import UTC, datetime
from typing import Any

from claude_headspace.inputs.watch.reconcile import Mode
from claude_headspace.surfaces.cli.output import Line
from claude_headspace.surfaces.cli.presentation.status import (
    MAX_DIFFERENCES,
    MODES,
    import_result,
    log_lines,
    status_footer,
    status_lines,
    toml_value,
    verify_result,
)

NOW = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)


def texts(lines: list[Line]) -> str:
    """Lines without their roles."""
    return "\n".join("".join(span.text for span in line).rstrip() for line in lines)


def report(**fields: Any) -> dict[str, Any]:
    """The status of a daemon that has just started."""
    return {
        "url": "http://127.0.0.1:5055",
        "pid": 7,
        "version": "1",
        "started_at": "2026-03-14T11:56:00+00:00",
        "hooks": {"installed": False, "firing": False, "summary": "not installed: run `headspace install`"},
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


def test_a_daemon_without_events() -> None:
    """The footer says how to send a first event."""
    shown = texts(status_lines(report(), NOW, 100))
    assert "none yet · 0 in total" in shown
    assert "hooks            not installed: run `headspace install`" in shown
    assert "polling; sessions are checked every 2 s" in shown
    assert "agents           none yet" in shown
    assert "curl http://127.0.0.1:5055/hook/session-start" in texts(status_footer(report()))


def test_a_journal_without_local_hooks() -> None:
    """Events were imported or come from other machines."""
    assert "no hook on this machine yet · 24,012 in total" in texts(status_lines(report(events_total=24_012), NOW, 100))


def test_machine_and_database_are_shown() -> None:
    """Without the password of the database."""
    shown = texts(status_lines(report(machine="laptop", database="postgresql://ann@db/headspace"), NOW, 100))
    assert "machine          laptop\n  database         postgresql://ann@db/headspace\n" in shown


def test_outages_are_shown() -> None:
    """A current one with its reason, a past one with its duration, both with spooled events."""
    over = {"since": "2026-03-14T11:50:00+00:00", "until": "2026-03-14T11:50:12+00:00", "reason": "refused"}
    now = {"since": "2026-03-14T11:59:00+00:00", "until": None, "reason": "no commit", "spooled": 1}
    shown = texts(status_lines(report(troubles=[{**over, "spooled": 29, "lost": 2}, now]), NOW, 100))
    assert "outage           10 min ago for 12 s: refused · 29 events waited in the spool · 2 events lost" in shown
    assert "outage           for 1 min: no commit · 1 event is waiting in the spool" in shown


def test_problems_are_shown() -> None:
    """Events in the spool, anomalies and failing components."""
    failing = {"parts": {"writer": {"status": "failing", "detail": "disk full"}}}
    shown = texts(status_lines(report(spool={"depth": 1880}, anomalies=1, health=failing), NOW, 100))
    assert "1,880 events waiting" in shown
    assert "1 event stored, but not fully understood" in shown
    assert "failing, disk full" in shown


def test_an_unavailable_database_is_shown_once() -> None:
    """Unknown values say so, and waiting components share one line."""
    reason = "The database cannot be used: refused"
    parts = {
        "journal": {"status": "failing", "detail": f"{reason} (since 2026-03-14T11:59:00+00:00)"},
        "writer": {"status": "failing", "detail": reason},
        "spool": {"status": "failing", "detail": reason},
        "conversations": {"status": "waiting", "detail": "begins when the database is there"},
        "notifications": {"status": "ok", "detail": "on"},
    }
    trouble = {"since": "2026-03-14T11:59:00+00:00", "until": None, "reason": reason, "spooled": 2}
    unknown = {"events_total": None, "agents": None, "anomalies": None, "spool": {"depth": 2}}
    away = report(**unknown, troubles=[trouble], health={"parts": parts})
    shown = texts(status_lines(away, NOW, 100))
    assert shown.count("refused") == 1
    assert "events           total unknown while the database is unavailable, 0 since the start" in shown
    assert "agents           unknown while the database is unavailable" in shown
    assert "waiting          for the database: event queue, spool, mission results" in shown
    assert "notifications    ok, on" in shown
    assert shown.count("  spool ") == 1
    assert "curl" not in texts(status_footer(away))


def test_a_failing_spool_shows_its_reason() -> None:
    """If the database is not the reason."""
    failing = {"parts": {"spool": {"status": "failing", "detail": "permission denied"}}}
    shown = status_lines(report(spool={"depth": 2}, health=failing), NOW, 100)
    assert "spool            2 events waiting · failing, permission denied" in texts(shown)


def test_refused_events_are_errors() -> None:
    """Lost events by reason; rejected ones are part of the spool."""
    refused = {"nowhere_to_store": 2, "bad_json": 3, "bad_field": 1, "spool": 4}
    lines = status_lines(report(refused=refused), NOW, 200)
    shown = texts(lines)
    assert "lost             2 events: neither the database nor the spool could be written" in shown
    assert "refused          4 events that could not be parsed (1 bad_field, 3 bad_json)" in shown
    assert [each[-1].role for each in lines if each[0].text.strip() in ("lost", "refused")] == ["error"] * 2


def test_a_long_label_is_separated_from_its_text() -> None:
    """A component without a label of its own may have a long name."""
    health = {"parts": {"a_component_with_a_long_name": {"status": "ok", "detail": "on"}}}
    assert "long_name ok, on" in texts(status_lines(report(health=health), NOW, 100))


def test_rejected_events_are_shown_with_their_clients() -> None:
    """A new version of one client may be the reason."""
    spool = {"depth": 0, "rejected": 3, "rejected_by_client": {"gemini": 2, "claude-code": 1}}
    shown = texts(status_lines(report(spool=spool), NOW, 200))
    assert "empty · 3 events rejected (Claude Code: 1, Gemini CLI: 2)" in shown


def test_every_mode_has_a_text() -> None:
    """All modes of the reconciler."""
    assert set(MODES) == {mode.value for mode in Mode}


def test_transcripts_to_import_are_counted() -> None:
    """One or many, in the same words."""
    for number, words in ((1, "1 transcript"), (2, "2 transcripts")):
        [shown] = import_result({"files": number, "bytes": 1_000_000}, dry_run=True)
        assert shown[0].text == f"To import: {words} (1.0 MB)."


def test_many_differences_are_counted() -> None:
    """The first ones are listed."""
    found = [{"table": "agents", "id": str(number), "problem": "missing"} for number in range(MAX_DIFFERENCES + 5)]
    shown = texts(verify_result({"ok": False, "differences": found}))
    assert shown.startswith(f"{MAX_DIFFERENCES + 5} differences")
    assert "… and 5 more" in shown


def test_a_line_of_the_log() -> None:
    """Time, level, event and details; a traceback below."""
    raw = (
        '{"event": "request_failed", "level": "error", "logger": "x", "path": "/a", "timestamp": "2026-03-14T11:56:00Z"'
    )
    assert texts(log_lines(raw + "}", NOW)) == "11:56:00  error    request_failed  path=/a"
    assert texts(log_lines(raw + ', "exception": "one\\ntwo"}', NOW)).splitlines()[1:] == ["    one", "    two"]
    assert texts(log_lines("not JSON\n", NOW)) == "not JSON"


def test_values_are_shown_as_in_the_file() -> None:
    """They can be copied into config.toml."""
    assert [toml_value(value) for value in ("a", 1, 0.5, ["x"], True)] == ['"a"', "1", "0.5", '["x"]', "true"]


def test_anomalies_are_shown_by_client() -> None:
    """With the versions that the formats were measured with; a client that Headspace does not know keeps its name."""
    counted = {"codex": 1_200, "claude-code": 3, "newcomer": 1}
    shown = texts(status_lines(report(anomalies=1_204, anomalies_by_client=counted), NOW, 100))
    assert (
        "  anomalies        1,204 events stored, but not fully understood\n"
        "                   Codex: 1,200 · tested with 0.166.0\n"
        "                   Claude Code: 3 · tested with 2.1.197 and 2.1.325\n"
        "                   newcomer: 1\n"
    ) in shown
