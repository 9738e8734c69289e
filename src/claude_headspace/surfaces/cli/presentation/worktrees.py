"""Worktrees as lines."""

from collections.abc import Sequence

from rich.cells import cell_len

from claude_headspace.inputs.repository.worktrees import WorktreeStatus
from claude_headspace.kernel.hidden_characters import mark_controls
from claude_headspace.kernel.text import count
from claude_headspace.surfaces.cli.output import Line, Span, dim, line, row
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.text.worktrees import distance_text
from claude_headspace.surfaces.worktrees.integrate import Integrated
from claude_headspace.surfaces.worktrees.remove import Removal

COLUMNS = ("branch", "base", "status", "agents", "directory")
MAX_IGNORED = 5


def status_text(status: WorktreeStatus) -> str:
    """The distance and what is not committed, in words."""
    distance = status.distance
    if distance is None:
        return distance_text(None, 0, 0, status.uncommitted)
    return distance_text(distance.base, distance.ahead, distance.behind, status.uncommitted)


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


def integrated_text(verb: str, done: Integrated) -> str:
    """The result of a merge or a rebase."""
    if not done.commits:
        return (
            f"Nothing to {verb}: {done.branch} has all commits of {done.base}."
            if verb == "rebase"
            else (f"Nothing to merge: {done.base} has all commits of {done.branch}.")
        )
    if verb == "rebase":
        return f"Rebased {done.branch} onto {done.base}, which had {count(done.commits, 'new commit')}."
    return f"Merged {count(done.commits, 'commit')} of {done.branch} into {done.base}."


def removal_lines(removal: Removal) -> list[Line]:
    """What a removal deletes."""
    lines = [line(f"Directory: {mark_controls(removal.worktree.path)}")]
    if removal.deletes_branch:
        lines.append(line(f"Branch: {removal.worktree.branch}, whose commits are all in {removal.base}"))
    elif removal.worktree.branch:
        lines.append(line(f"The branch {removal.worktree.branch} is kept."))
    if removal.ignored:
        more = f" and {len(removal.ignored) - MAX_IGNORED} more" if len(removal.ignored) > MAX_IGNORED else ""
        names = mark_controls(", ".join(removal.ignored[:MAX_IGNORED]))
        lines.append(line(f"With files that git ignores: {names}{more}"))
    return lines


def removed_text(removal: Removal) -> str:
    """The result of a removal."""
    branch = f" and the branch {removal.worktree.branch}" if removal.deletes_branch else ""
    return f"Removed {mark_controls(removal.worktree.path)}{branch}."
