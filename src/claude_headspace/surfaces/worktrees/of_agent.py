"""Merges, rebases and removes the worktree of an agent, on its machine. `top` and the daemon use it.

Rules
- The checks are those of `headspace worktree`: no work is lost, and no agent is disturbed that works there.
- Files that git ignores are deleted only if the request lists all of them, because the person has seen them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from claude_headspace.errors import HeadspaceError
from claude_headspace.inputs.repository.worktrees import Worktree, read_status
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.worktrees.checkout import explained, listed, refuse
from claude_headspace.surfaces.worktrees.find import worktree_at
from claude_headspace.surfaces.worktrees.integrate import merge, rebase
from claude_headspace.surfaces.worktrees.remove import Removal, plan_removal, remove
from claude_headspace.surfaces.worktrees.texts import integrated_text, removal_texts, removed_text, status_text


class WorktreeChange(msgspec.Struct, frozen=True):
    """What to do with a worktree."""

    what: Literal["merge", "rebase", "remove"]
    committed: bool = False
    """Merge the commits although other changes are not committed."""
    keep_branch: bool = False
    """Remove only the directory."""
    ignored: tuple[str, ...] = ()
    """The files that git ignores which a removal may delete."""


class RemovalView(msgspec.Struct, frozen=True):
    """What a removal deletes, or why it is refused."""

    deletes: list[str] = []
    """As sentences."""
    ignored: tuple[str, ...] = ()
    """The files that git ignores, which are deleted, too."""
    problem: str = ""
    """Why it is refused now; empty if it is not."""
    hint: str = ""


class WorktreePlan(msgspec.Struct, frozen=True):
    """The worktree of an agent, and what its removal would delete."""

    branch: str
    path: str
    status: str
    """How far it is from its base, in words."""
    removal: RemovalView
    """The removal of the directory and the branch."""
    directory_removal: RemovalView
    """The removal of the directory alone."""


class WorktreeChanged(msgspec.Struct, frozen=True):
    """The result of a change, as a sentence."""

    text: str


def plan_worktree(agent: Json, inside: Sequence[Json]) -> WorktreePlan:
    """The worktree of an agent. `inside` are the agents that work in it."""
    worktree = _worktree_of(agent)
    with explained():
        status = read_status(worktree.path)
    both, directory = (_removal_view(worktree, inside, keep_branch=keep) for keep in (False, True))
    return WorktreePlan(worktree.name, worktree.path, status_text(status), both, directory)


def _removal_view(worktree: Worktree, inside: Sequence[Json], *, keep_branch: bool) -> RemovalView:
    try:
        refuse_running(worktree, inside)
        removal = plan_removal(worktree, keep_branch=keep_branch)
    except HeadspaceError as error:
        return RemovalView(problem=error.message, hint=error.hint)
    return RemovalView(removal_texts(removal), removal.ignored)


def change_worktree(agent: Json, change: WorktreeChange, inside: Sequence[Json]) -> str:
    """Merge, rebase or remove; the result for the user. `inside` are the agents that work in it."""
    worktree = _worktree_of(agent)
    match change.what:
        case "merge":
            return integrated_text("merge", merge(worktree, committed_only=change.committed))
        case "rebase":
            refuse_working(worktree, inside)
            return integrated_text("rebase", rebase(worktree))
        case _:
            refuse_running(worktree, inside)
            return _remove(plan_removal(worktree, keep_branch=change.keep_branch), change.ignored)


def refuse_working(worktree: Worktree, inside: Sequence[Json]) -> None:
    """Raise an error while an agent works in a worktree."""
    if working := [agent["name"] for agent in inside if agent["state"] not in ("idle", "ended")]:
        hint = f"Wait until it is idle, or interrupt it: `headspace interrupt {working[0]}`."
        raise refuse("working", f"{working[0]} works in {worktree.path}.", hint)


def refuse_running(worktree: Worktree, inside: Sequence[Json]) -> None:
    """Raise an error while the client of an agent runs in a worktree."""
    if running := [agent["name"] for agent in inside if agent["state"] != "ended"]:
        hint = f"Stop it first: `headspace stop {running[0]}`."
        raise refuse("in_use", f"{running[0]} runs in {worktree.path}.", hint)


def _worktree_of(agent: Json) -> Worktree:
    found = agent.get("worktree")
    if not found:
        hint = "Start an agent with `--worktree` to give it one."
        raise refuse("no_worktree", f"{agent['name']} does not work in a git worktree of its own.", hint)
    root = found["root"]
    if not Path(root).is_dir():
        raise refuse("missing", f"The worktree is not on this machine: {root}.", f"It is on {agent['host']}.")
    return worktree_at(root)


def _remove(removal: Removal, seen: Sequence[str]) -> str:
    if unseen := [each for each in removal.ignored if each not in seen]:
        hint = f"Run `headspace worktree remove {removal.worktree.name}`, which asks."
        raise refuse("ignored", f"Files that git ignores would be deleted: {listed(unseen)}.", hint)
    remove(removal)
    return removed_text(removal)
