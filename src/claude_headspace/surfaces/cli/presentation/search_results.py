"""Search results as lines: agent, project and time on one line, the matching text below."""

from collections.abc import Sequence
from datetime import datetime

from rich.cells import cell_len

from claude_headspace.surfaces.cli.output import EMPTY_LINE, Line, Span, dim, line
from claude_headspace.surfaces.text.formatting import Json, ago, clean_text, clock_time, cut

INDENT = "  "
MAX_WIDTH = 120

KINDS = {"prompt": "prompt", "answer": "reply", "tool_input": "input of {}", "tool_result": "result of {}"}


def result_lines(hits: Sequence[Json], now: datetime, width: int) -> list[Line]:
    """The results, best first."""
    width = min(width, MAX_WIDTH)
    lines: list[Line] = []
    for hit in hits:
        lines += [*([EMPTY_LINE] if lines else []), _head(hit, now, width), *_snippet(hit["snippet"], width)]
    return lines


def _head(hit: Json, now: datetime, width: int) -> Line:
    did = KINDS.get(hit["kind"], "text").format(hit["tool"] or "a tool")
    when = f"{clock_time(hit['at'], now)}, {ago(hit['at'], now)}"
    name = hit["agent"] or hit["agent_id"][:12]
    rest = cut(f"{hit['project']} · {did} · {when}", max(width - cell_len(name) - 2, 20))
    return line(Span(name, "strong"), Span(f"  {rest}", "dim"))


def _snippet(pieces: Sequence[Json], width: int) -> list[Line]:
    """The matching text, wrapped, with highlighted matches."""
    lines: list[list[Span]] = [[Span(INDENT)]]
    used = len(INDENT)
    for piece in pieces:
        role = "found" if piece["match"] else ""
        for number, word in enumerate(piece["text"].split(" ")):
            space = " " if number else ""
            if word and used + len(space) + cell_len(word) > width and used > len(INDENT):
                lines.append([Span(INDENT)])
                used, space = len(INDENT), ""
            lines[-1].append(Span(space))
            lines[-1].append(Span(cut(word, width - len(INDENT)), role))
            used += len(space) + cell_len(word)
    return [tuple(spans) for spans in lines]


def no_results(query: str, hint: str, *, filtered: bool) -> list[Line]:
    """What to print if nothing matches."""
    what = f"No results for {cut(clean_text(query), 60)!r}" + (" with these filters." if filtered else ".")
    return [line(what), dim(hint)]


def results_footer(hits: Sequence[Json], *, more: bool) -> list[Line]:
    """The next commands worth typing."""
    agent = hits[0]["agent"] or hits[0]["agent_id"]
    again = "   headspace search … --limit 50   for more" if more else ""
    return [EMPTY_LINE, dim(f"headspace show {agent}   headspace replay {agent} --at {hits[0]['at'][:19]}Z{again}")]
