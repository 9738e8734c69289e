"""The output of `install`, `uninstall` and `doctor`."""

from collections.abc import Iterable, Sequence
from typing import Any

from claude_headspace.clients.claude_code.hooks.events import NOT_REGISTERED, REGISTERED, SINCE
from claude_headspace.clients.claude_code.hooks.installation import Change
from claude_headspace.kernel.text import count
from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, hanging, line
from claude_headspace.surfaces.text.formatting import Json, clean_text

WIDEST_EVENT = max(map(len, (*REGISTERED, *NOT_REGISTERED)))


def hook_reasons(events: Sequence[str], width: int) -> list[Line]:
    """Which hook events are registered and which are not, with the reasons."""
    unknown = {event: "not supported by your version of Claude Code" for event in SINCE if event not in events}
    return [
        line(Span("Claude Code will send these events to Headspace", "strong")),
        *_reasons({event: REGISTERED[event] for event in events}, width),
        EMPTY_LINE,
        line(Span("It will not send these", "strong")),
        *_reasons({**NOT_REGISTERED, **unknown}, width),
        EMPTY_LINE,
    ]


def _reasons(table: dict[str, str], width: int) -> Iterable[Line]:
    for event, reason in table.items():
        yield from hanging(line(f"  {event:<{WIDEST_EVENT}}  "), reason, min(width, 120), "dim")


def settings_diff(plans: Sequence[Change]) -> list[Line]:
    """The changes of settings files, as a diff."""
    lines: list[Line] = []
    for plan in plans:
        if not plan.changes:
            lines.append(line(f"{clean_text(str(plan.config.settings))} is not changed."))
        lines += [_marked(clean_text(text)) for text in plan.diff()]
    return lines


def _marked(text: str) -> Line:
    return line(Span(text, {"+": "strong", "-": "dim"}.get(text[:1], "")))


def install_result(plans: Sequence[Change], done: str) -> list[Line]:
    """What was done in each directory."""
    return [_install_line(plan, done) for plan in plans]


def _install_line(plan: Change, done: str) -> Line:
    where = clean_text(str(plan.config.path))
    if done == "installed":
        saved = (
            "the original settings.json is saved next to the script"
            if plan.old is not None
            else "settings.json was created"
        )
        rest = saved if plan.changes else "they already existed"
        return line(f"Hooks installed in {where}; {rest}.")
    if not plan.changes:
        return line(f"No hooks of Headspace found in {where}.")
    restored = "settings.json was restored" if plan.new is not None else "settings.json was removed"
    rest = restored if plan.restores_original else "nothing else in settings.json was changed"
    return line(f"Hooks removed from {where}; {rest}.")


def install_footer(transport: str) -> list[Line]:
    """Notes after the installation, and the next commands worth typing."""
    http = [dim("Over HTTP, events are lost while the daemon is down, and Claude Code shows an error.")]
    return [
        dim("Running sessions use the hooks after about a second."),
        *(http if transport == "http" else []),
        EMPTY_LINE,
        dim("headspace up   headspace doctor   headspace list"),
    ]


# --- doctor ---

MARKS = {"ok": Span("✓ ", "dim"), "warning": Span("! ", "strong"), "failed": Span("✕ ", "error")}


def doctor_report(report: Json, width: int) -> list[Line]:
    """All checks; below a failed one, what to do."""
    lines: list[Line] = []
    for place in report["places"]:
        lines += [line(Span(place["name"], "strong"))]
        for check in place["checks"]:
            lines += _check(check, min(width, 120))
        lines.append(EMPTY_LINE)
    return [*lines, line(doctor_summary(report))]


def _check(check: dict[str, Any], width: int) -> list[Line]:
    start = (Span("  "), MARKS[check["status"]], Span(f"{check['name']:<12}"))
    lines = hanging(start, check["detail"], width)
    if check["hint"]:
        lines += hanging((Span(" " * 16), Span("→ ", "dim")), check["hint"], width)
    return lines


def doctor_summary(report: Json) -> str:
    """The result of all checks in one sentence."""
    statuses = [check["status"] for place in report["places"] for check in place["checks"]]
    failed, warnings = statuses.count("failed"), statuses.count("warning")
    if failed:
        return f"{failed} of {len(statuses)} checks failed."
    return f"All {len(statuses)} checks passed" + (f", {count(warnings, 'warning')}." if warnings else ".")
