"""The daemon, its log and the settings, in words."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, hanging, line
from claude_headspace.surfaces.client.running_daemon import KilledDaemon
from claude_headspace.surfaces.text.components import waiting_for_database
from claude_headspace.surfaces.text.labels import (
    SHAPES,
    Json,
    ago,
    clean_text,
    clock_time,
    count,
    duration,
    one_line,
    shape,
    wrap,
)

LABEL = 15
MOST_DIFFERENCES = 50
MOST_TROUBLES = 3

MODES = {
    "hooks_active": "hooks arrive, and Headspace itself looks every {}",
    "polling_fallback": "hooks are silent, so Headspace itself looks every {}",
}

UNKNOWN = "unknown while the database is away"

SET_ASIDE = "spool"
"""The code of what is told with the spool."""
LOST = {
    "nowhere_to_store": "{}: neither the database nor the spool could be written; make room on the disk",
    "too_large": "{} larger than the setting `max_body_bytes`",
}
"""Hooks that were refused, by their code: nobody sends them again."""


# --- the daemon ---


def running(report: Json, now: datetime, width: int) -> list[Line]:
    """How the daemon is doing."""
    process = f"pid {report['pid']}, version {report['version']}, started {ago(report['started_at'], now)}"
    lines = [line(f"Headspace runs at {report['url']}"), *_field("process", process, width)]
    for name in ("machine", "database"):
        lines += _field(name, report[name], width) if report.get(name) else []
    if report["error"] is not None:
        return [*lines, *_field("answers", report["error"], width, "error")]
    for label, text, role in (*_receiver(report, now), *_parts(report)):
        lines += _field(label, text, width, role)
    return lines


Field = tuple[str, str, str]
"""What it is about, the words, and their role."""


def _receiver(report: Json, now: datetime) -> list[Field]:
    odd = report["anomalies"]
    mode = MODES.get(report["mode"], "Headspace itself looks every {}")
    return [
        ("events", _events(report, now), ""),
        ("mode", mode.format(duration(report["polling_interval_seconds"])), ""),
        ("agents", _agents(report["agents"]), ""),
        _spool_field(report, now),
        *_refused(report.get("refused") or {}),
        *_troubles(report.get("troubles", ()), now),
        *([("odd", f"{count(odd, 'event')} did not quite fit; they are kept as they came", "")] if odd else []),
    ]


def _events(report: Json, now: datetime) -> str:
    total, last, here = report["events_total"], report["last_event_at"], report["events_since_start"]
    unheard = "" if total is None else "no hook here yet" if total else "none yet"
    heard = f"last one {ago(last, now)}" if last else unheard
    in_all = f"how many in all is {UNKNOWN}" if total is None else f"{total:,} in all"
    return " · ".join(filter(None, (heard, f"{in_all}, {here:,} since it started")))


def _agents(by_state: Json | None) -> str:
    if by_state is None:
        return UNKNOWN
    return (
        " · ".join(f"{shape(state)} {by_state[state]} {state}" for state in SHAPES if by_state.get(state)) or "none yet"
    )


def _refused(refused: Json) -> list[Field]:
    """What came and was not kept: whoever sent it does not send it again."""
    told = {code: number for code, number in refused.items() if code != SET_ASIDE}
    lines = [
        ("lost", text.format(count(told.pop(code), "event")), "error") for code, text in LOST.items() if code in told
    ]
    if told:
        why = ", ".join(f"{number} {code}" for code, number in sorted(told.items()))
        lines.append(("refused", f"{count(sum(told.values()), 'event')} that could not be understood ({why})", "error"))
    return lines


def _parts(report: Json) -> list[Field]:
    """Every part that is not told already; those that only wait for the database in one line."""
    parts = report["health"]["parts"]
    waiting = waiting_for_database(parts)
    told = {
        "spool",
        *waiting,
        *(["journal"] if any(each["until"] is None for each in report.get("troubles", ())) else []),
    }
    lines = [(name, *_part(part)) for name, part in parts.items() if name not in told]
    return [*lines, *([("waiting", f"for the database: {', '.join(waiting)}", "error")] if waiting else [])]


def _part(part: Json) -> tuple[str, str]:
    return f"{part['status']}, {part['detail']}", "" if part["status"] == "ok" else "error"


def _troubles(troubles: Sequence[Json], now: datetime) -> list[Field]:
    """What happened, the newest last; in red what lasts, and where something was lost."""
    return [
        ("trouble", _trouble(each, now), "error" if each["until"] is None or each.get("lost") else "")
        for each in troubles[-MOST_TROUBLES:]
    ]


def _trouble(trouble: Json, now: datetime) -> str:
    waited = f" · {count(trouble['spooled'], 'event')} waited in the spool" if trouble["spooled"] else ""
    waited += f" · {count(trouble['lost'], 'event')} lost" if trouble.get("lost") else ""
    if trouble["until"] is None:
        since = ago(trouble["since"], now).removesuffix(" ago").replace("just now", "a moment")
        return f"{trouble['reason']}, since {since}{waited}"
    lasted = (datetime.fromisoformat(trouble["until"]) - datetime.fromisoformat(trouble["since"])).total_seconds()
    length = f" for {duration(lasted)}" if lasted >= 1 else ""
    return f"{ago(trouble['since'], now)}{length}: {trouble['reason']}{waited}"


def _spool_field(report: Json, now: datetime) -> Field:
    """The spool, with what fails there unless it is the database."""
    parts = report["health"]["parts"]
    part = parts.get("spool", {"status": "ok"})
    if part["status"] == "ok":
        return "spool", _spool(report["spool"], now), ""
    why = [] if "spool" in waiting_for_database(parts) else [f"{part['status']}, {part['detail']}"]
    return "spool", " · ".join([_spool(report["spool"], now), *why]), "error"


def _spool(spool: Json, now: datetime) -> str:
    words = [f"{count(spool['depth'], 'event')} waiting" if spool["depth"] else "empty"]
    words += [f"last taken from {ago(spool['last_drain_at'], now)}"] if spool.get("last_drain_at") else []
    words += [f"{count(spool['rejected'], 'event')} set aside"] if spool.get("rejected") else []
    words += [f"{count(spool['lost'], 'event')} lost while it was full"] if spool.get("lost") else []
    return " · ".join(words)


def not_running(spool: Json | None = None, killed: KilledDaemon | None = None) -> list[Line]:
    """What to say when nobody is there, and what waits for somebody."""
    waiting, aside = (spool["depth"], spool["rejected"]) if spool else (0, 0)
    words = [f"The last daemon (pid {killed.pid}) was killed, or crashed."] if killed else []
    words += [f"{count(waiting, 'event')} in the spool, to be taken in when it starts."] if waiting else []
    words += [f"{count(aside, 'event')} set aside."] if aside else []
    return [line("Headspace is not running."), *(line(each) for each in words), dim("headspace up starts it.")]


def after_status(report: Json, *, needs_token: bool = False) -> list[Line]:
    """What to type next."""
    if report.get("events_total") == 0:
        return [EMPTY_LINE, *first_event(report["url"], needs_token=needs_token)]
    return [EMPTY_LINE, dim("headspace list   headspace tail   headspace logs")]


EVERYWHERE = {"//0.0.0.0:": "//127.0.0.1:", "//[::]:": "//[::1]:"}
"""Addresses to listen on, and how to reach them from here."""


def first_event(url: str, *, needs_token: bool) -> list[Line]:
    """How to see something at once."""
    for everywhere, here in EVERYWHERE.items():
        url = url.replace(everywhere, here)
    token = [dim('    -H "Authorization: Bearer $(headspace token --scope ingest)" \\')] if needs_token else []
    return [
        dim("Try it, then look with `headspace list`:"),
        dim(f"  curl {url}/hook/session-start \\"),
        dim("    -H 'Content-Type: application/json' \\"),
        *token,
        dim("""    -d '{"session_id": "hello", "cwd": "'"$PWD"'"}'"""),
    ]


WAITS = "for the database: {}. Hooks are answered meanwhile, and their events wait in the spool"
NAMELESS = "nobody is let in but under 127.0.0.1 and localhost: set `allowed_hosts` to the names that others use"


def banner(
    url: str, database: str, log_file: str, width: int, warnings: Mapping[str, str], *, needs_token: bool
) -> list[Line]:
    """What `serve` says once it listens; warnings by what they are about."""
    told = [each for label, text in warnings.items() if text for each in _field(label, text, width, "error")]
    return [
        line(f"Headspace listens at {url}"),
        *_field("database", database, width),
        *told,
        *_field("log", log_file, width),
        *_field("stop", "Ctrl+C here, or `headspace down`", width),
        EMPTY_LINE,
        *first_event(url, needs_token=needs_token),
    ]


def _field(label: str, text: str, width: int, role: str = "") -> list[Line]:
    return hanging(line(Span(f"  {label:<{LABEL}}", "quiet")), text, width, role)


def verification(result: Json) -> list[Line]:
    """What `db verify` found."""
    if result["ok"]:
        return [line("Everything that is shown follows from the log.")]
    found = result["differences"]
    return [
        line(f"{count(len(found), 'difference')} between the log and what is shown:"),
        *(line(f"  {each['table']} {each['id']}: {each['problem']}") for each in found[:MOST_DIFFERENCES]),
        *([line(f"  … and {len(found) - MOST_DIFFERENCES:,} more")] if len(found) > MOST_DIFFERENCES else []),
        dim("headspace db rebuild makes it anew from the log."),
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
    return [line(f"Brought in {files}: {events} of {agents}."), dim("headspace list --all    shows them")]


def log_lines(raw: str, now: datetime) -> list[Line]:
    """One entry of the log for people; what is no JSON is shown as it is."""
    entry = _entry(raw)
    if entry is None:
        return [line(one_line(clean_text(raw)))]
    event, level = str(entry.pop("event")), str(entry.pop("level", "info"))
    time = clock_time(str(entry.pop("timestamp", "")), now)
    trace = str(entry.pop("exception", "")).splitlines()
    entry.pop("logger", None)
    details = " ".join(f"{key}={value}" for key, value in entry.items())
    first = (
        Span(f"{time}  ", "quiet"),
        Span(f"{clean_text(level):<7}", _TONES.get(level, "quiet")),
        Span(f"  {one_line(clean_text(event))}"),
        Span(f"  {one_line(clean_text(details))}", "quiet"),
    )
    return [first, *(dim(f"    {clean_text(each)}") for each in trace)]


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
        lines += [dim(f"    {text}") for text in wrap(entry["description"], min(width, 120) - 4)]
    lines += [EMPTY_LINE, line(Span("Places", "strong"))]
    for name, path in places.items():
        lines += _field(name, path, width)
    return lines


def toml_value(value: Any) -> str:
    """A value as the configuration file writes it."""
    return json.dumps(value, ensure_ascii=False)
