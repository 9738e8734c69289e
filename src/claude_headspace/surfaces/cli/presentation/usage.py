"""Cost and tokens as a table."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len

from claude_headspace.clients.catalog import title_of
from claude_headspace.kernel.text import count
from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, hanging, line, row
from claude_headspace.surfaces.text.formatting import Json, dollars

TOKENS = {
    "total_tokens": "tokens",
    "input_tokens": "input",
    "cache_read_tokens": "cache read",
    "cache_write_tokens": "cache write",
    "output_tokens": "output",
}
"""The columns of tokens. A narrow terminal shows only their sum."""
UNKNOWN = "unknown"
MAX_WIDTH = 120


def usage_table(report: Json, width: int) -> list[Line]:
    """The report as a table with a sum, and what is missing in it."""
    notes = [each for text in _notes(report) for each in hanging(line("  "), text, min(width, MAX_WIDTH), "dim")]
    if not report["rows"]:
        return [line("No cost and no tokens were reported in this time."), *notes]
    keys, names = report["by"], list(TOKENS)
    table = [
        [Span(heading, "dim") for heading in (*keys, "cost", *TOKENS.values())],
        *(_cells(each, keys, names) for each in report["rows"]),
    ]
    if len(report["rows"]) > 1:
        start = [Span("all" if at == 0 else "", "strong") for at in range(len(keys))]
        table.append([*start, *_sums(report["total"], names, "strong")])
    return [*_fitted(table, len(keys), width), *([EMPTY_LINE, *notes] if notes else [])]


def _cells(found: Json, keys: Sequence[str], names: Sequence[str]) -> list[Span]:
    return [*(Span(_key(found, name)) for name in keys), *_sums(found, names, "")]


def _sums(found: Json, names: Sequence[str], role: str) -> list[Span]:
    return [Span(cost_text(found), role), *(Span(short_number(found[name]), role or "dim") for name in names)]


def _key(found: Json, name: str) -> str:
    match name:
        case "project":
            return str(found["project"]["name"])
        case "client":
            return title_of(found["client"])
        case "session":
            return str(found["session_id"])[:8] or UNKNOWN
        case _:
            return str(found[name]) or UNKNOWN


def _fitted(table: Sequence[Sequence[Span]], keys: int, width: int) -> list[Line]:
    """The rows of a table. Without room, the kinds of tokens are left out."""
    columns = len(table[0])
    widths = [max(cell_len(cells[at].text) for cells in table) for at in range(columns)]
    if sum(widths) + 2 * (columns - 1) > width:
        columns = keys + 2
    right = [at >= keys for at in range(columns)]
    return [row(cells[:columns], widths[:columns], right) for cells in table]


def cost_text(found: Json) -> str:
    """A cost: `unknown`, or a minimum if some of it is not known."""
    if found["cost_usd"] is None:
        return UNKNOWN
    return ("at least " if found["unpriced_tokens"] else "") + dollars(found["cost_usd"])


def short_number(number: int) -> str:
    """A number of tokens: 940, 12.5k, 3.1M."""
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return str(number) if number else "–"


def _notes(report: Json) -> Iterator[str]:
    """What the sums do not include."""
    unpriced = report["total"]["unpriced_tokens"]
    if unpriced:
        yield f"{count(unpriced, 'token')} without a known price: their cost is not included. See --by model."
    if without := report["sessions_without_tokens"]:
        yield f"{count(without, 'session')} with a cost and without tokens: Claude Code reports tokens at the end."
    for each in report["unmeasured"]:
        agents, client = count(each["agents"], "agent"), title_of(each["client"])
        yield f"{agents} of {client} without any report of cost or tokens: not included."
