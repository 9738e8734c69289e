"""Notifications and their rules as lines."""

from collections.abc import Sequence
from datetime import datetime

from rich.cells import cell_len

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, hanging, line, row
from claude_headspace.surfaces.text.formatting import Json, ago, clock_time, duration

BUDGETS = {"budget": "per session", "agent_budget": "per agent", "day_budget": "a day", "month_budget": "a month"}
"""The budgets of a rule, in words."""
ROLES = {"failed": "error", "sending": "working", "over": "dim", "sent": "", "unavailable": "dim"}


def notification_table(found: Json, now: datetime, width: int) -> list[Line]:
    """Sent notifications, newest first, then the delayed ones."""
    lines: list[Line] = [] if found["on"] else [dim("Notifications are turned off in notify.toml."), EMPTY_LINE]
    lines += _table([_sent(each, now) for each in found["notices"]], width) or [line("No recent notifications.")]
    if found["held"]:
        lines += [EMPTY_LINE, line(Span("Delayed", "strong"))]
        lines += _table([_held(each, now) for each in found["held"]], width)
    if found["unsent"]:
        lines += [EMPTY_LINE, line(Span("Resolved before a notification was sent", "strong"))]
        lines += _table([_held(each, now) for each in found["unsent"][:10]], width)
    return lines


def _sent(each: Json, now: datetime) -> tuple[Span, ...]:
    notice = each["notice"]
    rest = notice["failure"] or notice["outcome"]
    status = Span(notice["status"], ROLES.get(notice["status"], ""))
    return (
        Span(ago(notice["begun_at"], now), "dim"),
        Span(notice["channel"]),
        status,
        Span(notice["title"]),
        Span(rest, "error" if notice["failure"] else "dim"),
    )


def _held(each: Json, now: datetime) -> tuple[Span, ...]:
    until = clock_time(each["until"], now) if each["until"] else ""
    return Span(until, "dim"), Span(each["channel"]), Span(each["title"]), Span(each["why"], "dim")


def _table(rows: Sequence[tuple[Span, ...]], width: int) -> list[Line]:
    if not rows:
        return []
    widths = [max(cell_len(cells[n].text) for cells in rows) for n in range(len(rows[0]))]
    widths = [min(each, max(width // 2, 10)) for each in widths]
    return [row(cells, widths, [False] * len(widths)) for cells in rows]


def notification_rules(found: Json, now: datetime, width: int) -> list[Line]:
    """Channels, kinds, projects and quiet hours."""
    lines: list[Line] = []
    if found["problem"]:
        lines += [*hanging(line(Span("✕ ", "error")), found["problem"], width), EMPTY_LINE]
    lines += [line(Span("Channels", "strong"))]
    lines += _table([_channel(each, now) for each in found["channels"]], width)
    lines += [EMPTY_LINE, line(Span("Rules", "strong")), *_table([_rule(each) for each in found["rules"]], width)]
    for pattern, changed in found["projects"].items():
        lines += [EMPTY_LINE, line(Span(f"In {pattern}", "strong")), *_table([_rule(each) for each in changed], width)]
    if quiet_hours := found["quiet"]:
        passing = f", except {', '.join(quiet_hours['let_through'])}" if quiet_hours["let_through"] else ""
        current = f" (now, until {clock_time(quiet_hours['until'], now)})" if quiet_hours["until"] else ""
        lines += [EMPTY_LINE, line(f"Quiet from {quiet_hours['begins']} to {quiet_hours['ends']}{passing}{current}")]
    return [*lines, EMPTY_LINE, dim(f"{found['file']}   headspace notify test   sends a test")]


def _channel(each: Json, now: datetime) -> tuple[Span, ...]:
    last = f"failed {ago(each['last_at'], now)}: {each['last_failure']}" if each["last_failure"] else ""
    used = last or (f"worked {ago(each['last_at'], now)}" if each["last_at"] else "")
    mark = Span("●", "working") if each["available"] else Span("–", "dim")
    return mark, Span(each["name"]), Span(each["detail"], "dim"), Span(used, "error" if last else "dim")


def _rule(rule: Json) -> tuple[Span, ...]:
    if not rule["on"]:
        return Span(rule["kind"]), Span("off", "dim"), Span("")
    steps = (" → " if rule["escalate_after"] else ", else ").join(" + ".join(step) for step in rule["to"])
    return Span(rule["kind"]), Span(steps), Span(", ".join(filter(None, _conditions(rule))), "dim")


def _conditions(rule: Json) -> list[str]:
    levels = ", ".join(f"{level:g} %" for level in rule["levels"])
    return [
        f"longer than {duration(rule['longer_than'])}" if rule["longer_than"] else "",
        f"at {levels}" if levels else "",
        _budgets(rule) if rule["kind"] == "cost" else "",
        _delay(rule),
        f"next after {duration(rule['escalate_after'])}" if rule["escalate_after"] and len(rule["to"]) > 1 else "",
    ]


def _budgets(rule: Json) -> str:
    found = (f"over ${rule[name]:g} {words}" for name, words in BUDGETS.items() if rule.get(name))
    return ", ".join(found) or "no budget set"


def _delay(rule: Json) -> str:
    delay = f"after {duration(rule['after'])}" if rule["after"] else "immediately"
    return delay + (f" (after {duration(rule['present_after'])} if you are present)" if rule["present_after"] else "")


def channel_test_result(found: Json) -> list[Line]:
    """The result of a test."""
    cells = [
        (Span(each["channel"]), Span(each["status"], ROLES[each["status"]]), Span(each["detail"], "dim"))
        for each in found["channels"]
    ]
    nothing = all(each["status"] == "unavailable" for each in found["channels"])
    hint = [dim("Add a channel to notify.toml; see docs/notifications.md.")] if nothing else []
    return [*_table(cells, 10_000), *hint]
