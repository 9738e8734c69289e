"""The daemon, its log and the settings, in words."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from claude_headspace.surfaces.cli.terminal import NOTHING, Line, Span, hang, line, quiet
from claude_headspace.surfaces.wording import SHAPES, Json, ago, clean, clock, count, one_line, shape, span, wrap

LABEL = 12
MOST_DIFFERENCES = 50
MOST_TROUBLES = 3

MODES = {
    "hooks_active": "hooks arrive, and Headspace itself looks every {}",
    "polling_fallback": "hooks are silent, so Headspace itself looks every {}",
}


# --- the daemon ---


def running(report: Json, now: datetime, width: int) -> list[Line]:
    """How the daemon is doing."""
    process = f"pid {report['pid']}, version {report['version']}, started {ago(report['started_at'], now)}"
    lines = [line(f"Headspace runs at {report['url']}"), *_field("process", process, width)]
    if report["error"] is not None:
        return [*lines, *_field("answers", report["error"], width, "error")]
    for label, text in _receiver(report, now):
        lines += _field(label, text, width)
    for name, part in report["health"]["parts"].items():
        if name == "spool" and part["status"] == "ok":
            continue  # told above, in more words
        lines += _field(name, f"{part['status']}, {part['detail']}", width, "" if part["status"] == "ok" else "error")
    return lines


_NOT_HEARD = {False: "none yet", True: "no hook here yet"}
"""Of a journal with nothing in it, and of one with what was brought in or what others heard."""


def _receiver(report: Json, now: datetime) -> list[tuple[str, str]]:
    last = report["last_event_at"]
    heard = f"last one {ago(last, now)}" if last else _NOT_HEARD[report["events_total"] > 0]
    agents = [f"{shape(state)} {report['agents'][state]} {state}" for state in SHAPES if report["agents"].get(state)]
    odd = report["anomalies"]
    mode = MODES.get(report["mode"], "Headspace itself looks every {}")
    return [
        ("events", f"{heard} · {report['events_total']:,} in all, {report['events_since_start']:,} since it started"),
        ("mode", mode.format(span(report["polling_interval_seconds"]))),
        ("agents", " · ".join(agents) or "none yet"),
        ("spool", _spool(report["spool"], now)),
        *_troubles(report.get("troubles", ()), now),
        *([("odd", f"{count(odd, 'event')} did not quite fit; they are kept as they came")] if odd else []),
    ]


def _troubles(troubles: Sequence[Json], now: datetime) -> list[tuple[str, str]]:
    """What happened to the database, the newest last."""
    return [("trouble", _trouble(each, now)) for each in troubles[-MOST_TROUBLES:]]


def _trouble(trouble: Json, now: datetime) -> str:
    waited = f" · {count(trouble['spooled'], 'event')} waited in the spool" if trouble["spooled"] else ""
    if trouble["until"] is None:
        return f"{trouble['reason']}, since {ago(trouble['since'], now).removesuffix(' ago')}{waited}"
    lasted = (datetime.fromisoformat(trouble["until"]) - datetime.fromisoformat(trouble["since"])).total_seconds()
    length = f" for {span(lasted)}" if lasted >= 1 else ""
    return f"{ago(trouble['since'], now)}{length}: {trouble['reason']}{waited}"


def _spool(spool: Json, now: datetime) -> str:
    words = [f"{count(spool['depth'], 'event')} waiting" if spool["depth"] else "empty"]
    words += [f"last taken from {ago(spool['last_drain_at'], now)}"] if spool.get("last_drain_at") else []
    words += [f"{count(spool['rejected'], 'event')} set aside"] if spool.get("rejected") else []
    words += [f"{count(spool['lost'], 'event')} lost while it was full"] if spool.get("lost") else []
    return " · ".join(words)


def not_running() -> list[Line]:
    """What to say when nobody is there."""
    return [line("Headspace is not running."), quiet("headspace up starts it.")]


def after_status(report: Json) -> list[Line]:
    """What to type next."""
    if report.get("events_total"):
        return [NOTHING, quiet("headspace list   headspace tail   headspace logs")]
    return [NOTHING, *first_event(report["url"])]


def first_event(url: str) -> list[Line]:
    """How to see something at once."""
    return [
        quiet("Try it, then look with `headspace list`:"),
        quiet(f"  curl {url}/hook/session-start \\"),
        quiet("    -H 'Content-Type: application/json' \\"),
        quiet("""    -d '{"session_id": "hello", "cwd": "'"$PWD"'"}'"""),
    ]


def banner(url: str, database: str, log_file: str, width: int) -> list[Line]:
    """What `serve` says once it listens."""
    return [
        line(f"Headspace listens at {url}"),
        *_field("database", database, width),
        *_field("log", log_file, width),
        *_field("stop", "Ctrl+C here, or `headspace down`", width),
        NOTHING,
        *first_event(url),
    ]


def _field(label: str, text: str, width: int, role: str = "") -> list[Line]:
    return hang(line(Span(f"  {label:<{LABEL}}", "quiet")), text, width, role)


def verification(result: Json) -> list[Line]:
    """What `db verify` found."""
    if result["ok"]:
        return [line("Everything that is shown follows from the log.")]
    found = result["differences"]
    return [
        line(f"{count(len(found), 'difference')} between the log and what is shown:"),
        *(line(f"  {each['table']} {each['id']}: {each['problem']}") for each in found[:MOST_DIFFERENCES]),
        *([line(f"  … and {len(found) - MOST_DIFFERENCES:,} more")] if len(found) > MOST_DIFFERENCES else []),
        quiet("headspace db rebuild makes it anew from the log."),
    ]


# --- the log ---

_TONES = {"warning": "strong", "error": "error", "critical": "error", "debug": "quiet"}


def import_report(result: Json, *, dry_run: bool) -> list[Line]:
    """What there was to bring in, and what came of it."""
    files = f"{count(result['files'], 'transcript')} ({result['bytes'] / 1e6:,.1f} MB)"
    if not result["files"]:
        return [line("Every transcript has been brought in already.")]
    if dry_run:
        return [line(f"There are {files} to bring in.")]
    events, agents = count(result["events"], "event"), count(result["agents"], "agent")
    return [line(f"Brought in {files}: {events} of {agents}."), quiet("headspace list --all    shows them")]


def log_lines(raw: str, now: datetime) -> list[Line]:
    """One entry of the log for people; what is no JSON is shown as it is."""
    entry = _entry(raw)
    if entry is None:
        return [line(one_line(clean(raw)))]
    event, level = str(entry.pop("event")), str(entry.pop("level", "info"))
    time = clock(str(entry.pop("timestamp", "")), now)
    trace = str(entry.pop("exception", "")).splitlines()
    entry.pop("logger", None)
    details = " ".join(f"{key}={value}" for key, value in entry.items())
    first = (
        Span(f"{time}  ", "quiet"),
        Span(f"{clean(level):<7}", _TONES.get(level, "quiet")),
        Span(f"  {one_line(clean(event))}"),
        Span(f"  {one_line(clean(details))}", "quiet"),
    )
    return [first, *(quiet(f"    {clean(each)}") for each in trace)]


def _entry(raw: str) -> dict[str, Any] | None:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and "event" in found else None


# --- the settings ---


def settings(entries: Sequence[Json], places: Json, width: int) -> list[Line]:
    """Every setting with its value, where it comes from and what it is for."""
    lines: list[Line] = []
    for entry in entries:
        changed = "" if entry["origin"] == "default" else f"  from {entry['origin']}"
        lines.append(line(Span(entry["name"], "strong"), f" = {toml_value(entry['value'])}", Span(changed, "quiet")))
        lines += [quiet(f"    {text}") for text in wrap(entry["description"], min(width, 120) - 4)]
    lines += [NOTHING, line(Span("Places", "strong"))]
    for name, path in places.items():
        lines += _field(name, path, width)
    return lines


def toml_value(value: Any) -> str:
    """A value as the configuration file writes it."""
    return json.dumps(value, ensure_ascii=False)
