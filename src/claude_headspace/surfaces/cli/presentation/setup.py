"""The output of `demo` and `up`: what they did, where to look, and how to undo it."""

from collections.abc import Sequence

from claude_headspace.config import Paths
from claude_headspace.kernel.text import count
from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, hanging, line
from claude_headspace.surfaces.cli.presentation.status import WAITING_FOR_DATABASE
from claude_headspace.surfaces.client.running_daemon import DaemonInfo
from claude_headspace.surfaces.text.formatting import Json, clean_text

LABEL = 10


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
    "updated": "up to date in {}",
    "plugin": "provided by the plugin in {}",
    "declined": "not installed in {}; `headspace install` installs them later",
    "not asked": "not installed in {}: confirmation needs a terminal. Use a terminal, or --yes",
}
"""What happened to the hooks of a directory, by outcome."""


def hooks_text(outcome: str, where: str) -> str:
    """What happened to the hooks of a directory."""
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
