"""What happened to a worktree, or would happen, as sentences for people."""

from claude_headspace.inputs.repository.worktrees import WorktreeStatus
from claude_headspace.kernel.hidden_characters import mark_controls
from claude_headspace.kernel.text import count
from claude_headspace.surfaces.text.worktrees import distance_text
from claude_headspace.surfaces.worktrees.integrate import Integrated
from claude_headspace.surfaces.worktrees.remove import Removal

MAX_IGNORED = 5


def status_text(status: WorktreeStatus) -> str:
    """The distance and what is not committed."""
    distance = status.distance
    if distance is None:
        return distance_text(None, 0, 0, status.uncommitted)
    return distance_text(distance.base, distance.ahead, distance.behind, status.uncommitted)


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


def removal_texts(removal: Removal) -> list[str]:
    """What a removal deletes."""
    texts = [f"Directory: {mark_controls(removal.worktree.path)}"]
    if removal.deletes_branch:
        texts.append(f"Branch: {removal.worktree.branch}, whose commits are all in {removal.base}")
    elif removal.worktree.branch:
        texts.append(f"The branch {removal.worktree.branch} is kept.")
    if removal.ignored:
        texts.append(_ignored_text(removal))
    return texts


def _ignored_text(removal: Removal) -> str:
    more = f" and {len(removal.ignored) - MAX_IGNORED} more" if len(removal.ignored) > MAX_IGNORED else ""
    return f"With files that git ignores: {mark_controls(', '.join(removal.ignored[:MAX_IGNORED]))}{more}"


def removed_text(removal: Removal) -> str:
    """The result of a removal."""
    branch = f" and the branch {removal.worktree.branch}" if removal.deletes_branch else ""
    ignored = f" {_ignored_text(removal)}." if removal.ignored else ""
    return f"Removed {mark_controls(removal.worktree.path)}{branch}.{ignored}"
