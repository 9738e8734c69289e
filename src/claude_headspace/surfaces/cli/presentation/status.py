"""The daemon, its log and the settings as lines."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from claude_headspace.clients.catalog import title_of
from claude_headspace.kernel.text import count
from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, hanging, line
from claude_headspace.surfaces.client.running_daemon import KilledDaemon
from claude_headspace.surfaces.text.clients import tested_with
from claude_headspace.surfaces.text.formatting import Json, ago, clean_text, clock_time, duration, one_line, wrap
from claude_headspace.surfaces.text.labels import (
    SHAPES,
    component_label,
    guard_problem_text,
    shape,
    waiting_for_database,
)

LABEL = 17
MAX_DIFFERENCES = 50
MAX_OUTAGES = 3

MODES = {
    "hooks_active": "hooks active; sessions are also checked every {}",
    "polling_fallback": "polling; sessions are checked every {}",
}

UNKNOWN = "unknown while the database is unavailable"

SPOOL_CODE = "spool"
"""The code of refused events that are counted with the spool."""
QUARANTINED = "{} quarantined in spool/rejected, because only regular files are events"
LOST = {
    "nowhere_to_store": "{}: neither the database nor the spool could be written; free some disk space",
    "too_large": "{} larger than the setting `max_body_bytes`",
}
"""Events that were lost, by error code. They are not sent again."""


# --- the daemon ---


def status_lines(report: Json, now: datetime, width: int) -> list[Line]:
    """The status of the running daemon."""
    process = f"pid {report['pid']}, version {report['version']}, started {ago(report['started_at'], now)}"
    lines = [line(f"Headspace is running at {report['url']}"), *_field("process", process, width)]
    for name in ("machine", "database"):
        lines += _field(name, report[name], width) if report.get(name) else []
    if report["error"] is not None:
        return [*lines, *_field("answers", report["error"], width, "error")]
    for label, text, role in (*_receiver(report, now), *_parts(report)):
        lines += _field(label, text, width, role)
    return lines


Field = tuple[str, str, str]
"""Label, text and role."""


def _receiver(report: Json, now: datetime) -> list[Field]:
    anomalies = report["anomalies"]
    mode, hooks = MODES.get(report["mode"], "sessions are checked every {}"), report["hooks"]
    return [
        ("hooks", hooks["summary"], "" if hooks["installed"] or hooks["firing"] else "error"),
        ("events", _events(report, now), ""),
        ("mode", mode.format(duration(report["polling_interval_seconds"])), ""),
        ("agents", _agents(report["agents"]), ""),
        _spool_field(report, now),
        *_refused(report.get("refused") or {}),
        *_guard_problems(report["health"].get("guard_problems", ()), now),
        *_outages(report.get("troubles", ()), now),
        *([("anomalies", f"{count(anomalies, 'event')} stored, but not fully understood", "")] if anomalies else []),
        *_anomalies(report.get("anomalies_by_client") or {}),
    ]


def _anomalies(by_client: Json) -> list[Field]:
    """Events that were not fully understood, by client. A newer version of a client may have other formats."""
    return [
        ("", " · ".join(filter(None, (f"{title_of(name)}: {number:,}", tested_with(name)))), "")
        for name, number in sorted(by_client.items(), key=lambda each: (-each[1], each[0]))
    ]


def _events(report: Json, now: datetime) -> str:
    total, last, here = report["events_total"], report["last_event_at"], report["events_since_start"]
    no_hook = "" if total is None else "no hook on this machine yet" if total else "none yet"
    newest = f"last one {ago(last, now)}" if last else no_hook
    stored = f"total {UNKNOWN}" if total is None else f"{total:,} in total"
    return " · ".join(filter(None, (newest, f"{stored}, {here:,} since the start")))


def _agents(by_state: Json | None) -> str:
    if by_state is None:
        return UNKNOWN
    return (
        " · ".join(f"{shape(state)} {by_state[state]} {state}" for state in SHAPES if by_state.get(state)) or "none yet"
    )


def _refused(refused: Json) -> list[Field]:
    """Events that were received and not stored. They are not sent again."""
    others = {code: number for code, number in refused.items() if code != SPOOL_CODE}
    lines = [
        ("lost", text.format(count(others.pop(code), "event")), "error")
        for code, text in LOST.items()
        if code in others
    ]
    if others:
        why = ", ".join(f"{number} {code}" for code, number in sorted(others.items()))
        lines.append(("refused", f"{count(sum(others.values()), 'event')} that could not be parsed ({why})", "error"))
    return lines


def _parts(report: Json) -> list[Field]:
    """Components that are not shown elsewhere. Those that only wait for the database share one line."""
    parts = report["health"]["parts"]
    waiting = waiting_for_database(parts)
    shown = {
        "spool",
        *(["guards"] if report["health"].get("guard_problems") else []),
        *waiting,
        *(["journal"] if any(each["until"] is None for each in report.get("troubles", ())) else []),
    }
    lines = [
        (component_label(name), f"{part['status']}, {part['detail']}", "" if part["status"] == "ok" else "error")
        for name, part in parts.items()
        if name not in shown
    ]
    labels = ", ".join(map(component_label, waiting))
    return [*lines, *([("waiting", f"for the database: {labels}", "error")] if waiting else [])]


def _guard_problems(problems: Sequence[Json], now: datetime) -> list[Field]:
    """Why guards are off. Always an error."""
    return [("guards", guard_problem_text(each, now), "error") for each in problems]


def _outages(troubles: Sequence[Json], now: datetime) -> list[Field]:
    """Outages of the database, newest last. Those that last or lost events are errors."""
    return [
        ("outage", _outage(each, now), "error" if each["until"] is None or each.get("lost") else "")
        for each in troubles[-MAX_OUTAGES:]
    ]


def _outage(trouble: Json, now: datetime) -> str:
    lost = f" · {count(trouble['lost'], 'event')} lost" if trouble.get("lost") else ""
    spooled = trouble["spooled"]
    if trouble["until"] is None:
        length = ago(trouble["since"], now).removesuffix(" ago").replace("just now", "a few seconds")
        verb = "is" if spooled == 1 else "are"
        waiting = f" · {count(spooled, 'event')} {verb} waiting in the spool" if spooled else ""
        return f"for {length}: {trouble['reason']}{waiting}{lost}"
    waited = f" · {count(spooled, 'event')} waited in the spool" if spooled else ""
    lasted = (datetime.fromisoformat(trouble["until"]) - datetime.fromisoformat(trouble["since"])).total_seconds()
    length = f" for {duration(lasted)}" if lasted >= 1 else ""
    return f"{ago(trouble['since'], now)}{length}: {trouble['reason']}{waited}{lost}"


def _spool_field(report: Json, now: datetime) -> Field:
    """The spool, with its problem unless that is the database."""
    parts = report["health"]["parts"]
    part = parts.get("spool", {"status": "ok"})
    if part["status"] == "ok":
        return "spool", _spool(report["spool"], now), ""
    why = [] if "spool" in waiting_for_database(parts) else [f"{part['status']}, {part['detail']}"]
    return "spool", " · ".join([_spool(report["spool"], now), *why]), "error"


def _spool(spool: Json, now: datetime) -> str:
    words = [f"{count(spool['depth'], 'event')} waiting" if spool["depth"] else "empty"]
    words += [f"last read {ago(spool['last_drain_at'], now)}"] if spool.get("last_drain_at") else []
    words += [rejected_events(spool)] if spool.get("rejected") else []
    words += [QUARANTINED.format(spool["quarantined"])] if spool.get("quarantined") else []
    words += [f"{count(spool['lost'], 'event')} lost while it was full"] if spool.get("lost") else []
    return " · ".join(words)


def rejected_events(spool: Json) -> str:
    """How many events were rejected, with their clients."""
    by_client = (spool.get("rejected_by_client") or {}).items()
    clients = ", ".join(f"{title_of(name)}: {number:,}" for name, number in sorted(by_client))
    return f"{count(spool['rejected'], 'event')} rejected" + (f" ({clients})" if clients else "")


def not_running(spool: Json | None = None, killed: KilledDaemon | None = None) -> list[Line]:
    """What to print if no daemon runs."""
    waiting = spool["depth"] if spool else 0
    words = [f"The last daemon (pid {killed.pid}) was killed or crashed."] if killed else []
    words += [f"{count(waiting, 'event')} in the spool will be processed at the next start."] if waiting else []
    words += [f"{rejected_events(spool)}."] if spool and spool["rejected"] else []
    return [line("Headspace is not running."), *(line(each) for each in words), dim("headspace up starts it.")]


def status_footer(report: Json, *, needs_token: bool = False) -> list[Line]:
    """The next commands worth typing."""
    if report.get("events_total") == 0:
        return [EMPTY_LINE, *first_event(report["url"], needs_token=needs_token)]
    return [EMPTY_LINE, dim("headspace list   headspace tail   headspace logs")]


WILDCARD_ADDRESSES = {"//0.0.0.0:": "//127.0.0.1:", "//[::]:": "//[::1]:"}
"""Addresses to listen on, and how to reach them from this machine."""


def first_event(url: str, *, needs_token: bool) -> list[Line]:
    """A command that sends a first event."""
    for everywhere, here in WILDCARD_ADDRESSES.items():
        url = url.replace(everywhere, here)
    token = [dim('    -H "Authorization: Bearer $(headspace token --scope ingest)" \\')] if needs_token else []
    return [
        dim("Send a first event, then run `headspace list`:"),
        dim(f"  curl {url}/hook/session-start \\"),
        dim("    -H 'Content-Type: application/json' \\"),
        *token,
        dim("""    -d '{"session_id": "hello", "cwd": "'"$PWD"'"}'"""),
    ]


WAITING_FOR_DATABASE = "for the database: {}. Hooks are answered, and their events are stored in the spool"
NO_ALLOWED_HOSTS = (
    "only requests to 127.0.0.1 and localhost are accepted: set `allowed_hosts` to the names that other machines use"
)


def serve_banner(
    url: str, database: str, log_file: str, width: int, warnings: Mapping[str, str], *, needs_token: bool
) -> list[Line]:
    """The output of `serve`; warnings by label."""
    warning_lines = [each for label, text in warnings.items() if text for each in _field(label, text, width, "error")]
    return [
        line(f"Headspace is listening at {url}"),
        *_field("database", database, width),
        *warning_lines,
        *_field("log", log_file, width),
        *_field("stop", "Ctrl+C here, or `headspace down`", width),
        EMPTY_LINE,
        *first_event(url, needs_token=needs_token),
    ]


def _field(label: str, text: str, width: int, role: str = "") -> list[Line]:
    return hanging(line(Span(f"  {label:<{LABEL - 1}} ", "dim")), text, width, role)


def verify_result(result: Json) -> list[Line]:
    """The result of `db verify`."""
    if result["ok"]:
        return [line("The projections match the log.")]
    found = result["differences"]
    return [
        line(f"{count(len(found), 'difference')} between the log and the projections:"),
        *(line(f"  {each['table']} {each['id']}: {each['problem']}") for each in found[:MAX_DIFFERENCES]),
        *([line(f"  … and {len(found) - MAX_DIFFERENCES:,} more")] if len(found) > MAX_DIFFERENCES else []),
        dim("headspace db rebuild rebuilds the projections from the log."),
    ]


# --- the log ---

_TONES = {"warning": "strong", "error": "error", "critical": "error", "debug": "dim"}


def import_result(result: Json, *, dry_run: bool) -> list[Line]:
    """What was imported, or would be."""
    files = f"{count(result['files'], 'transcript')} ({result['bytes'] / 1e6:,.1f} MB)"
    if not result["files"]:
        return [line("All transcripts are already imported.")]
    if dry_run:
        return [line(f"To import: {files}.")]
    events, agents = count(result["events"], "event"), count(result["agents"], "agent")
    return [line(f"Imported {files}: {events} of {agents}."), dim("headspace list --all    shows them")]


def log_lines(raw: str, now: datetime) -> list[Line]:
    """One entry of the log. A line that is not JSON is shown unchanged."""
    entry = _entry(raw)
    if entry is None:
        return [line(one_line(clean_text(raw)))]
    event, level = str(entry.pop("event")), str(entry.pop("level", "info"))
    time = clock_time(str(entry.pop("timestamp", "")), now)
    trace = str(entry.pop("exception", "")).splitlines()
    entry.pop("logger", None)
    details = " ".join(f"{key}={value}" for key, value in entry.items())
    first = (
        Span(f"{time}  ", "dim"),
        Span(f"{clean_text(level):<7}", _TONES.get(level, "dim")),
        Span(f"  {one_line(clean_text(event))}"),
        Span(f"  {one_line(clean_text(details))}", "dim"),
    )
    return [first, *(dim(f"    {clean_text(each)}") for each in trace)]


def _entry(raw: str) -> dict[str, Any] | None:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and "event" in found else None


# --- the settings ---


def settings_lines(entries: Sequence[Json], files: Json, width: int) -> list[Line]:
    """Every setting with its value, source and description."""
    lines: list[Line] = []
    for entry in entries:
        changed = "" if entry["origin"] == "default" else f"  from {entry['origin']}"
        lines.append(line(Span(entry["name"], "strong"), f" = {toml_value(entry['value'])}", Span(changed, "dim")))
        lines += [dim(f"    {text}") for text in wrap(entry["description"], min(width, 120) - 4)]
    lines += [EMPTY_LINE, line(Span("Files", "strong"))]
    for name, path in files.items():
        lines += _field(name, path, width)
    return lines


def toml_value(value: Any) -> str:
    """A value as in config.toml."""
    return json.dumps(value, ensure_ascii=False)
