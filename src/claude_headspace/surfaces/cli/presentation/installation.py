"""What `install`, `uninstall` and `doctor` say."""

from collections.abc import Iterable, Sequence
from typing import Any

from claude_headspace.clients.claude_code.hooks.events import NOT_REGISTERED, REGISTERED, SINCE
from claude_headspace.clients.claude_code.hooks.installation import Change
from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, hanging, line
from claude_headspace.surfaces.text.labels import Json, clean_text

WIDEST_EVENT = max(map(len, (*REGISTERED, *NOT_REGISTERED)))


def reasons(events: Sequence[str], width: int) -> list[Line]:
    """Which events are registered, and why; and which are not."""
    unknown = {event: "not known to be there in your version of Claude Code" for event in SINCE if event not in events}
    return [
        line(Span("Claude Code will tell Headspace of these events", "strong")),
        *_reasons({event: REGISTERED[event] for event in events}, width),
        EMPTY_LINE,
        line(Span("and not of these", "strong")),
        *_reasons({**NOT_REGISTERED, **unknown}, width),
        EMPTY_LINE,
    ]


def _reasons(table: dict[str, str], width: int) -> Iterable[Line]:
    for event, reason in table.items():
        yield from hanging(line(f"  {event:<{WIDEST_EVENT}}  "), reason, min(width, 120), "quiet")


def differences(plans: Sequence[Change]) -> list[Line]:
    """What would change, as a diff."""
    lines: list[Line] = []
    for plan in plans:
        if not plan.changes:
            lines.append(line(f"{clean_text(str(plan.config.settings))} stays as it is."))
        lines += [_marked(clean_text(text)) for text in plan.diff()]
    return lines


def _marked(text: str) -> Line:
    return line(Span(text, {"+": "strong", "-": "quiet"}.get(text[:1], "")))


def outcome(plans: Sequence[Change], done: str) -> list[Line]:
    """What was done, for each directory."""
    return [_outcome(plan, done) for plan in plans]


def _outcome(plan: Change, done: str) -> Line:
    where = clean_text(str(plan.config.path))
    if done == "installed":
        rest = "what settings.json was before is kept beside the script" if plan.changes else "they were there already"
        return line(f"Hooks installed in {where}; {rest}.")
    if not plan.changes:
        return line(f"There are no hooks of Headspace in {where}.")
    rest = (
        "settings.json is byte for byte as it was"
        if plan.restores_original
        else "nothing else in settings.json was changed"
    )
    return line(f"Hooks removed from {where}; {rest}.")


def after_install(transport: str) -> list[Line]:
    """What to know, and to type next."""
    lost = [dim("Over HTTP nothing is kept while the daemon is down, and Claude Code shows an error then.")]
    return [
        dim("Sessions that run already pick the hooks up by themselves after about a second."),
        *(lost if transport == "http" else []),
        EMPTY_LINE,
        dim("headspace up   headspace doctor   headspace list"),
    ]


# --- doctor ---

MARKS = {"ok": Span("✓ ", "quiet"), "warning": Span("! ", "strong"), "failed": Span("✕ ", "error")}


def checkup(report: Json, width: int) -> list[Line]:
    """Everything that was looked at; what to do stands under what failed."""
    lines: list[Line] = []
    for place in report["places"]:
        lines += [line(Span(place["name"], "strong"))]
        for check in place["checks"]:
            lines += _check(check, min(width, 120))
        lines.append(EMPTY_LINE)
    return [*lines, line(summary(report))]


def _check(check: dict[str, Any], width: int) -> list[Line]:
    start = (Span("  "), MARKS[check["status"]], Span(f"{check['name']:<12}"))
    lines = hanging(start, check["detail"], width)
    if check["hint"]:
        lines += hanging((Span(" " * 16), Span("→ ", "quiet")), check["hint"], width)
    return lines


def summary(report: Json) -> str:
    """All in one sentence."""
    statuses = [check["status"] for place in report["places"] for check in place["checks"]]
    failed, odd = statuses.count("failed"), statuses.count("warning")
    if failed:
        return f"{failed} of {len(statuses)} checks failed."
    return f"All {len(statuses)} checks passed" + (f", {odd} with a remark." if odd else ".")
