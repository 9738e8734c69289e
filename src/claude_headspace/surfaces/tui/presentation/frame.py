"""The header with the counts, the footer with the keys, the text of an empty board, and the help."""

from collections.abc import Collection, Sequence
from datetime import datetime

from rich.cells import cell_len

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, hanging, line
from claude_headspace.surfaces.cli.presentation.board import tally
from claude_headspace.surfaces.text.clients import clients_without_guards
from claude_headspace.surfaces.text.formatting import Json, cut
from claude_headspace.surfaces.text.labels import SHAPES, guard_problem_since
from claude_headspace.surfaces.tui.keymap import translate
from claude_headspace.surfaces.tui.keys import KEYS, PANEL_KEYS, Key, footer_hints

MAX_FILTER_WIDTH = 30


def header_line(agents: Sequence[Json], *, connected: bool, loaded: bool, width: int) -> Line:
    """The name, the number of agents by state, and the connection."""
    name = Span(" headspace  ", "strong")
    numbers = tally(agents) if agents else (Span("no agents" if loaded else "", "dim"),)
    live = Span("live " if connected else "reconnecting ", "dim" if connected else "warm")
    if not loaded and not connected:
        live = Span("waiting for the daemon ", "warm")
    used = cell_len(name.text) + sum(cell_len(part.text) for part in numbers) + cell_len(live.text)
    if used > width:
        numbers = _short_counts(agents)
        used = cell_len(name.text) + sum(cell_len(part.text) for part in numbers) + cell_len(live.text)
    space = Span(" " * max(width - used, 1))
    return (name, *numbers, space, live)


def guards_line(problems: Sequence[Json], now: datetime, width: int) -> Line:
    """Why guards are off, and since when."""
    if not problems:
        return EMPTY_LINE
    more = f" (and {len(problems) - 1} more, see `headspace status`)" if len(problems) > 1 else ""
    title = f" Guards are off{clients_without_guards(problems)} since {guard_problem_since(problems[0], now)}"
    text = cut(f": {problems[0]['text']}{more}. {problems[0]['hint']}", max(width - cell_len(title), 0))
    return (Span(title, "error"), Span(text))


def _short_counts(agents: Sequence[Json]) -> Line:
    """The counts without the names of the states."""
    spans: list[Span] = []
    for state, mark in SHAPES.items():
        number = sum(1 for agent in agents if agent["state"] == state)
        if number:
            spans += [Span(f"{mark} {number}", state if state in ("waiting", "error") else "dim"), Span("  ")]
    return tuple(spans)


def footer_line(
    width: int,
    *,
    filter_text: str,
    hidden: int,
    message: Line | None,
    escape: str = "clear",
    keys: Sequence[Key] = KEYS,
    useless: Collection[str] = (),
) -> Line:
    """The filter, and the message if there is one, else the keys of all actions that are not useless now."""
    start: list[Span] = [Span(" ")]
    if filter_text:
        start += [Span(f"filter: {cut(filter_text, MAX_FILTER_WIDTH)}", "warm"), Span(f"  esc {escape}   ", "dim")]
    if message is not None:
        return (*start, *message)
    if hidden:
        start += [Span(f"{hidden} ended hidden   ", "dim")]
    room = width - sum(cell_len(part.text) for part in start)
    return (*start, *_key_hints(room, footer_hints(keys, useless)))


def _key_hints(room: int, hints: Sequence[tuple[str, str]]) -> Line:
    """As many keys as fit, most important first. Help is always included."""
    shown: list[Span] = []
    for key, word in hints:
        last = key == hints[-1][0]
        needed = cell_len(key) + cell_len(word) + 4
        reserve = 0 if last else cell_len(hints[-1][0]) + cell_len(hints[-1][1]) + 4
        if needed + reserve <= room:
            shown += [Span(key, "key"), Span(f" {word}   ", "dim")]
            room -= needed
    return tuple(shown)


def empty_board_lines(
    *, loaded: bool, connected: bool, filtered: bool, width: int, keys: Sequence[Key] = KEYS
) -> list[Line]:
    """The text of a list without agents, and what to do."""
    if filtered:
        return [
            EMPTY_LINE,
            line("  No agent matches."),
            dim(translate("  Press esc to clear the filter, or press e to show ended agents.", keys)),
        ]
    if not loaded and not connected:
        texts = ("Headspace is not running.", "Start it with `headspace up`. The board connects automatically.")
    elif not loaded:
        texts = ("Loading…", "")
    else:
        texts = ("No agents yet.", "Sessions appear when they report. Start one with `headspace run`.")
    return [EMPTY_LINE, line(f"  {cut(texts[0], width - 2)}"), dim(f"  {cut(texts[1], width - 2)}")]


MEANINGS = {
    "waiting": "needs you: a question, a plan or a permission request",
    "error": "the last turn ended with an error",
    "working": "a turn or a sub-agent is running",
    "idle": "ready for a prompt",
    "starting": "registered, has not reported yet",
    "ended": "the client has ended",
}


def help_lines(width: int, keys: Sequence[Key] = KEYS) -> list[Line]:
    """All lines of the help."""
    lines: list[Line] = []
    for key in keys:
        lines += hanging(line(Span(f" {key.label:<11}", "key")), key.description, width, "said")
    lines += [EMPTY_LINE, line(Span(" In the panel that answers", "strong"))]
    for label, description in PANEL_KEYS:
        lines += hanging(line(Span(f" {label:<11}", "key")), description, width, "said")
    lines += [EMPTY_LINE]
    for state, shape in SHAPES.items():
        lines += hanging(line(Span(f" {shape} {state}", state), " " * (9 - len(state))), MEANINGS[state], width, "said")
    return [
        *lines,
        line(Span(" •", "unseen"), " " * 10, Span("has changes that you have not seen", "said")),
    ]
