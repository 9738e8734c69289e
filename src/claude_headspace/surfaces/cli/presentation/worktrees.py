"""Worktrees as lines."""

from collections.abc import Sequence

from rich.cells import cell_len

from claude_headspace.surfaces.cli.output import Line, Span, dim, line, row
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.text.worktrees import distance_text
from claude_headspace.surfaces.worktrees.remove import Removal
from claude_headspace.surfaces.worktrees.texts import removal_texts

COLUMNS = ("branch", "base", "status", "agents", "directory")


def worktree_table(found: Sequence[Json], width: int) -> list[Line]:
    """The worktrees of a repository as a table."""
    if not found:
        return [line("There are no worktrees."), dim("headspace run --worktree NAME   starts an agent in a new one")]
    cells = [_cells(each) for each in found]
    widths = [max(cell_len(each[n]) for each in (COLUMNS, *cells)) for n in range(len(COLUMNS))]
    widths[-1] = max(min(widths[-1], width - sum(widths[:-1]) - 2 * len(COLUMNS)), 10)
    right = [False] * len(COLUMNS)
    headings = row([Span(name, "dim") for name in COLUMNS], widths, right)
    return [headings, *(row([Span(text) for text in each], widths, right) for each in cells)]


def _cells(found: Json) -> tuple[str, ...]:
    text = found["problem"] or distance_text(
        found["base"], found["ahead"], found["behind"], found["uncommitted"], with_base=False
    )
    return found["branch"] or "–", found["base"] or "–", text, ", ".join(found["agents"]) or "–", found["path"]


def removal_lines(removal: Removal) -> list[Line]:
    """What a removal deletes."""
    return [line(text) for text in removal_texts(removal)]
