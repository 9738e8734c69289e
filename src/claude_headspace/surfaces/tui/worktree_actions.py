"""Merges, rebases and removes the worktree of an agent, with the checks of `headspace worktree`."""

from pathlib import Path

from claude_headspace.surfaces.cli.presentation.worktrees import integrated_text, removed_text
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.worktrees.checkout import listed, refuse
from claude_headspace.surfaces.worktrees.find import worktree_at
from claude_headspace.surfaces.worktrees.integrate import merge, rebase
from claude_headspace.surfaces.worktrees.remove import plan_removal, remove


def change_worktree(agent: Json, what: str) -> str:
    """Merge, rebase or remove; the result for the user."""
    root = agent["worktree"]["root"]
    if not Path(root).is_dir():
        raise refuse("missing", f"The worktree is not on this machine: {root}.", f"It is on {agent['host']}.")
    match what:
        case "merge":
            return integrated_text("merge", merge(worktree_at(root)))
        case "rebase":
            if agent["state"] not in ("idle", "ended"):
                raise refuse("working", f"{agent['name']} is working there.", "Wait until it is idle, or interrupt it.")
            return integrated_text("rebase", rebase(worktree_at(root)))
        case _:
            return _remove(agent, root)


def _remove(agent: Json, root: str) -> str:
    """Remove the worktree. With files that git ignores, only the command does: it lists them."""
    if agent["state"] != "ended":
        raise refuse("in_use", f"{agent['name']} is still running.", "Press X to stop it.")
    removal = plan_removal(worktree_at(root))
    if removal.ignored:
        hint = f"Run `headspace worktree remove {removal.worktree.name}`, which asks."
        raise refuse("ignored", f"Files that git ignores would be deleted: {listed(list(removal.ignored))}.", hint)
    remove(removal)
    return removed_text(removal)
