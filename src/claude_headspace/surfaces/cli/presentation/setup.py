"""The output of `demo`, `up`, `install`, `uninstall` and `doctor`."""

from collections.abc import Iterable, Mapping, Sequence

from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.settings_change import Change
from claude_headspace.config import Paths
from claude_headspace.kernel.text import count
from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, hanging, line
from claude_headspace.surfaces.cli.presentation.status import WAITING_FOR_DATABASE
from claude_headspace.surfaces.client.running_daemon import DaemonInfo
from claude_headspace.surfaces.text.formatting import Json, clean_text

LABEL = 10

# --- demo and up ---


def labelled(label: str, text: str, width: int, role: str = "") -> list[Line]:
    """A text with its label."""
    return hanging(line(Span(f"  {label:<{LABEL}}", "dim")), text, width, role)


def demo_intro(link: str, home: str, *, is_open: bool, width: int) -> list[Line]:
    """What the demo shows, and where."""
    note = "opened in your browser" if is_open else "works once, within five minutes"
    return [
        line(Span("Demo with simulated agents.", "strong"), " It uses a temporary directory and none of your files."),
        *labelled("dashboard", link, width),
        *labelled("", note, width),
        *labelled("terminal", f"HEADSPACE_HOME={home} headspace top", width),
        *labelled("try", "answer a waiting agent: it continues with your answer", width),
        *labelled("end", "Ctrl+C; all files are removed", width),
        EMPTY_LINE,
        dim("headspace up   monitors your own sessions"),
    ]


HOOKS = {
    "installed": "installed in {}; running sessions use them after about a second",
    "installed for new sessions": "installed in {}; sessions use them after their next start",
    "updated": "up to date in {}",
    "plugin": "provided by the plugin in {}",
    "declined": "not installed in {}; `headspace install` installs them later",
    "not asked": "not installed in {}: confirmation needs a terminal. Use a terminal, or --yes",
}
"""What happened to the hooks of a directory, by outcome."""


def hooks_text(client: str, outcome: str, where: str) -> str:
    """What happened to the hooks of a directory."""
    if outcome == "installed" and not CLIENTS[client].reloads_hooks:
        outcome = "installed for new sessions"
    return HOOKS[outcome].format(clean_text(where))


def transcripts_text(files: Sequence[Json]) -> str:
    """The transcripts that can be imported."""
    size = sum(file["size"] - file["done"] for file in files) / 1e6
    return f"Found {count(len(files), 'transcript')} of earlier sessions ({size:,.1f} MB)."


def up_result(
    daemon: DaemonInfo,
    how: str,
    hooks: Sequence[str],
    transcripts: str,
    unavailable: str,
    *,
    is_open: bool,
    paths: Paths,
    width: int,
) -> list[Line]:
    """What `up` did, what the daemon waits for, and how to undo it."""
    page = "opened in your browser" if is_open else "`headspace open`, or `headspace top` in the terminal"
    kept = dict.fromkeys(clean_text(str(path)) for path in (paths.data, paths.state, paths.config))
    return [
        line(Span(f"Headspace is running at {daemon.url}", "strong")),
        *labelled("daemon", f"{how} (pid {daemon.pid}, version {daemon.version})", width),
        *(labelled("waiting", WAITING_FOR_DATABASE.format(unavailable), width, "error") if unavailable else []),
        *(each for text in hooks for each in labelled("hooks", text, width)),
        *(labelled("earlier", transcripts, width) if transcripts else []),
        *labelled("dashboard", page, width),
        *labelled("undo", f"`headspace down`, `headspace uninstall`; data is stored in {', '.join(kept)}", width),
        EMPTY_LINE,
        dim("headspace list   headspace top   headspace doctor"),
    ]


# --- install and uninstall ---


def hook_reasons(
    title: str, registered: Mapping[str, str], not_registered: Mapping[str, str], width: int
) -> list[Line]:
    """Which hook events of a client are registered and which are not, with the reasons."""
    widest = max(map(len, (*registered, *not_registered)))
    omitted = [line(Span("It will not send these", "strong")), *_reasons(not_registered, widest, width), EMPTY_LINE]
    return [
        line(Span(f"{title} will send these events to Headspace", "strong")),
        *_reasons(registered, widest, width),
        EMPTY_LINE,
        *(omitted if not_registered else ()),
    ]


def _reasons(table: Mapping[str, str], widest: int, width: int) -> Iterable[Line]:
    for event, reason in table.items():
        yield from hanging(line(f"  {event:<{widest}}  "), reason, min(width, 120), "dim")


def settings_diff(plans: Sequence[Change]) -> list[Line]:
    """The changes of settings files, as a diff."""
    lines: list[Line] = []
    for plan in plans:
        if not plan.changes:
            lines.append(line(f"{clean_text(str(plan.config.settings))} is not changed."))
        diff = map(clean_text, plan.diff())
        lines += [line(Span(text, {"+": "strong", "-": "dim"}.get(text[:1], ""))) for text in diff]
    return lines


def install_result(plans: Sequence[tuple[str, Change]], done: str) -> list[Line]:
    """What was done in each directory."""
    return [_install_line(client, plan, done) for client, plan in plans]


def _install_line(client: str, plan: Change, done: str) -> Line:
    where, file = clean_text(str(plan.config.path)), plan.config.settings.name
    hooks = f"Hooks of {CLIENTS[client].title}"
    if done == "installed":
        existed = plan.old is not None
        saved = f"the original {file} is saved next to the script" if existed else f"{file} was created"
        rest = saved if plan.changes else "they already existed"
        return line(f"{hooks} installed in {where}; {rest}.")
    if not plan.changes:
        return line(f"No hooks of Headspace found in {where}.")
    restored = f"{file} was restored" if plan.new is not None else f"{file} was removed"
    rest = restored if plan.restores_original else f"nothing else in {file} was changed"
    return line(f"{hooks} removed from {where}; {rest}.")


def install_footer(transport: str) -> list[Line]:
    """Notes after the installation, and the next commands worth typing."""
    http = [dim("Over HTTP, events are lost while the daemon is down, and Claude Code shows an error.")]
    return [
        dim("Running sessions of Claude Code use the hooks after about a second, others after their next start."),
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
        name = f"{place['client']}: {place['name']}" if place.get("client") else place["name"]
        lines += [line(Span(name, "strong"))]
        for check in place["checks"]:
            lines += _check(check, min(width, 120))
        lines.append(EMPTY_LINE)
    return [*lines, line(doctor_summary(report))]


def _check(check: Json, width: int) -> list[Line]:
    start = (Span("  "), MARKS[check["status"]], Span(f"{check['name']:<11} "))
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
