"""What `demo` and `up` say: what they did, where to look, and how to undo it."""

from collections.abc import Sequence

from claude_headspace.config import Paths
from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, hanging, line
from claude_headspace.surfaces.cli.presentation.status import WAITS
from claude_headspace.surfaces.client.running_daemon import DaemonInfo
from claude_headspace.surfaces.text.labels import Json, clean_text, count

LABEL = 10


def field(label: str, text: str, width: int, role: str = "") -> list[Line]:
    """A thing with its name before it."""
    return hanging(line(Span(f"  {label:<{LABEL}}", "quiet")), text, width, role)


def programme(link: str, home: str, *, is_open: bool, width: int) -> list[Line]:
    """What a demo shows, and where."""
    note = "opened in your browser" if is_open else "works once, for five minutes; `headspace demo` makes a new one"
    return [
        line(Span("A team at work, in a home of its own.", "strong"), " Nothing of yours is touched."),
        *field("page", link, width),
        *field("", note, width),
        *field("terminal", f"HEADSPACE_HOME={home} headspace top", width),
        *field("try", "answer somebody who waits: they go on with what you say", width),
        *field("end", "Ctrl+C; nothing is left behind", width),
        EMPTY_LINE,
        dim("headspace up   shows your own sessions"),
    ]


HOOKS = {
    "installed": "installed in {}; sessions that run already report after about a second",
    "updated": "are in {}, and up to date",
    "plugin": "are told by the plugin in {}",
    "declined": "not installed in {}; `headspace install` does that later",
    "not asked": "not installed in {}: nobody could be asked. Run it in a terminal, or with --yes",
}
"""What became of the hooks of a directory."""


def hooks_outcome(outcome: str, where: str) -> str:
    """The same in words."""
    return HOOKS[outcome].format(clean_text(where))


def past_sessions(files: Sequence[Json]) -> str:
    """What there is of the time before."""
    size = sum(file["size"] - file["done"] for file in files) / 1e6
    return f"There are {count(len(files), 'transcript')} of earlier sessions ({size:,.1f} MB)."


def risen(
    daemon: DaemonInfo,
    how: str,
    hooks: Sequence[str],
    past: str,
    away: str,
    *,
    is_open: bool,
    home: Paths,
    width: int,
) -> list[Line]:
    """What `up` did, what it waits for, and how to undo it."""
    page = "opened in your browser" if is_open else "`headspace open` shows it; `headspace top` in the terminal"
    kept = dict.fromkeys(clean_text(str(place)) for place in (home.data, home.state, home.config))
    return [
        line(Span(f"Headspace runs at {daemon.url}", "strong")),
        *field("daemon", f"{how} (pid {daemon.pid}, version {daemon.version})", width),
        *(field("waits", WAITS.format(away), width, "error") if away else []),
        *(each for told in hooks for each in field("hooks", told, width)),
        *(field("past", past, width) if past else []),
        *field("page", page, width),
        *field("undo", f"`headspace down`, `headspace uninstall`; what it keeps is in {', '.join(kept)}", width),
        EMPTY_LINE,
        dim("headspace list   headspace top   headspace doctor"),
    ]
