"""Calls to people, in words."""

from collections.abc import Sequence
from datetime import datetime

from rich.cells import cell_len

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, hanging, line, row
from claude_headspace.surfaces.text.labels import Json, ago, clock_time, duration

ROLES = {"failed": "error", "sending": "working", "over": "quiet", "sent": "", "unavailable": "quiet"}


def notices(found: Json, now: datetime, width: int) -> list[Line]:
    """What was sent, the newest first; then what is held back."""
    lines: list[Line] = [] if found["on"] else [dim("Notifications are switched off in notify.toml."), EMPTY_LINE]
    lines += _table([_sent(each, now) for each in found["notices"]], width) or [line("Nobody was called lately.")]
    if found["held"]:
        lines += [EMPTY_LINE, line(Span("Held back", "strong"))]
        lines += _table([_held(each, now) for each in found["held"]], width)
    if found["unsent"]:
        lines += [EMPTY_LINE, line(Span("Settled before anybody was called", "strong"))]
        lines += _table([_held(each, now) for each in found["unsent"][:10]], width)
    return lines


def _sent(each: Json, now: datetime) -> tuple[Span, ...]:
    notice = each["notice"]
    rest = notice["failure"] or notice["outcome"]
    status = Span(notice["status"], ROLES.get(notice["status"], ""))
    return (
        Span(ago(notice["begun_at"], now), "quiet"),
        Span(notice["channel"]),
        status,
        Span(notice["title"]),
        Span(rest, "error" if notice["failure"] else "quiet"),
    )


def _held(each: Json, now: datetime) -> tuple[Span, ...]:
    until = clock_time(each["until"], now) if each["until"] else ""
    return Span(until, "quiet"), Span(each["channel"]), Span(each["title"]), Span(each["why"], "quiet")


def _table(rows: Sequence[tuple[Span, ...]], width: int) -> list[Line]:
    if not rows:
        return []
    widths = [max(cell_len(cells[n].text) for cells in rows) for n in range(len(rows[0]))]
    widths = [min(each, max(width // 2, 10)) for each in widths]
    return [row(cells, widths, [False] * len(widths)) for cells in rows]


def rules(found: Json, now: datetime, width: int) -> list[Line]:
    """Channels, kinds, projects and quiet hours."""
    lines: list[Line] = []
    if found["problem"]:
        lines += [*hanging(line(Span("✕ ", "error")), found["problem"], width), EMPTY_LINE]
    lines += [line(Span("Channels", "strong"))]
    lines += _table([_channel(each, now) for each in found["channels"]], width)
    lines += [EMPTY_LINE, line(Span("When", "strong")), *_table([_rule(each) for each in found["rules"]], width)]
    for pattern, changed in found["projects"].items():
        lines += [EMPTY_LINE, line(Span(f"In {pattern}", "strong")), *_table([_rule(each) for each in changed], width)]
    if quietly := found["quiet"]:
        passing = f", except {', '.join(quietly['let_through'])}" if quietly["let_through"] else ""
        current = f" (now, until {clock_time(quietly['until'], now)})" if quietly["until"] else ""
        lines += [EMPTY_LINE, line(f"Quiet from {quietly['begins']} to {quietly['ends']}{passing}{current}")]
    return [*lines, EMPTY_LINE, dim(f"{found['file']}   headspace notify test   tries the channels")]


def _channel(each: Json, now: datetime) -> tuple[Span, ...]:
    last = f"failed {ago(each['last_at'], now)}: {each['last_failure']}" if each["last_failure"] else ""
    used = last or (f"worked {ago(each['last_at'], now)}" if each["last_at"] else "")
    mark = Span("●", "working") if each["available"] else Span("–", "quiet")
    return mark, Span(each["name"]), Span(each["detail"], "quiet"), Span(used, "error" if last else "quiet")


def _rule(rule: Json) -> tuple[Span, ...]:
    if not rule["on"]:
        return Span(rule["kind"]), Span("off", "quiet"), Span("")
    steps = (" → " if rule["escalate_after"] else ", else ").join(" + ".join(step) for step in rule["to"])
    return Span(rule["kind"]), Span(steps), Span(", ".join(filter(None, _conditions(rule))), "quiet")


def _conditions(rule: Json) -> list[str]:
    levels = ", ".join(f"{level:g} %" for level in rule["levels"])
    budget = f"over ${rule['budget']:g}" if rule["budget"] else "no budget is set" if rule["kind"] == "cost" else ""
    return [
        f"longer than {duration(rule['longer_than'])}" if rule["longer_than"] else "",
        f"at {levels}" if levels else "",
        budget,
        f"after {duration(rule['after'])}" if rule["after"] else "at once",
        f"after {duration(rule['present_after'])} while you are there" if rule["present_after"] else "",
        f"next after {duration(rule['escalate_after'])}" if rule["escalate_after"] and len(rule["to"]) > 1 else "",
    ]


def trial(found: Json) -> list[Line]:
    """What came of a test."""
    cells = [
        (Span(each["channel"]), Span(each["status"], ROLES[each["status"]]), Span(each["detail"], "quiet"))
        for each in found["channels"]
    ]
    nothing = all(each["status"] == "unavailable" for each in found["channels"])
    hint = [dim("Name a channel in notify.toml: docs/notifications.md has examples.")] if nothing else []
    return [*_table(cells, 10_000), *hint]
