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
<<<<<<< HEAD
    return [line(text) for text in removal_texts(removal)]
=======
    lines = [line(f"Directory: {mark_controls(removal.worktree.path)}")]
    if removal.deletes_branch:
        lines.append(line(f"Branch: {removal.worktree.branch}, whose commits are all in {removal.base}"))
    elif removal.worktree.branch:
        lines.append(line(f"The branch {removal.worktree.branch} is kept."))
    if removal.ignored:
        lines.append(line(f"With files that git ignores: {ignored_text(removal)}"))
    return lines


def ignored_text(removal: Removal) -> str:
    """The files that git ignores, which are deleted, too."""
    more = f" and {len(removal.ignored) - MAX_IGNORED} more" if len(removal.ignored) > MAX_IGNORED else ""
    return mark_controls(", ".join(removal.ignored[:MAX_IGNORED])) + more


def removed_text(removal: Removal) -> str:
    """The result of a removal."""
    branch = f" and the branch {removal.worktree.branch}" if removal.deletes_branch else ""
    ignored = f" With files that git ignores: {ignored_text(removal)}." if removal.ignored else ""
    return f"Removed {mark_controls(removal.worktree.path)}{branch}.{ignored}"
>>>>>>> 1091ac24 (The screen of a client that asks before its first report is shown; refusals of worktrees say what helps)
