"""Removes a worktree and its branch, only if no work is lost.

Rules
- What is not committed, not tracked or not merged is never deleted. Each case is refused with the next step.
- A file that is hidden from `git status` (assume-unchanged, skip-worktree) counts as not committed.
- Files that git ignores are deleted. They are listed before, so that the user can decide.
- The directory next to the repository that holds its worktrees is removed with the last one, if it is empty. A
  directory that the user configured stays.
- Git checks once more when it removes the directory, because it is never forced. The branch is deleted only if it is
  still at the commit that was checked.
"""

from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import psutil

from claude_headspace.inputs.repository.worktrees import BASE_SETTING, Worktree, list_worktrees, read_distance
from claude_headspace.kernel.text import count
from claude_headspace.surfaces.worktrees.checkout import Checkout, explained, listed, refuse
from claude_headspace.surfaces.worktrees.create import DEFAULT_DIRECTORY, worktree_path

HIDDEN_FLAGS = ("h", "s", "S")
"""What `git ls-files -v` prints for files that git does not compare."""


class Removal(NamedTuple):
    """What a removal deletes."""

    worktree: Worktree
    deletes_branch: bool
    base: str | None
    ignored: tuple[str, ...]
    """Files and directories in it that git ignores."""


@explained()
def plan_removal(worktree: Worktree, *, keep_branch: bool = False) -> Removal:
    """What is deleted. Raises an error if work would be lost."""
    if worktree.is_main or worktree.is_bare:
        hint = "Only worktrees that were added to it can be removed: see `headspace worktree list`."
        raise refuse("main_worktree", f"{worktree.path} is the repository itself.", hint)
    if worktree.is_locked:
        hint = f"If it is not needed any more: `git worktree unlock {worktree.path}`."
        raise refuse("locked", f"{worktree.path} is locked.", hint)
    ignored = _check_files(worktree) if worktree.exists else ()
    base = _check_commits(worktree, keep_branch=keep_branch)
    return Removal(worktree, worktree.branch is not None and not keep_branch, base, ignored)


@explained()
def remove(removal: Removal) -> None:
    """Remove the worktree, after all checks were repeated."""
    worktree = removal.worktree
    plan_removal(worktree, keep_branch=not removal.deletes_branch)
    main = Checkout(worktree.repository)
    result = main.run("worktree", "remove", worktree.path)
    if result.code:
        hint = "Nothing was deleted." if worktree.exists else "See what is left in it."
        raise refuse("not_removed", f"{worktree.path} was not removed: {result.text}", hint)
    _remove_empty_parent(worktree)
    if removal.deletes_branch:
        _delete_branch(main, worktree)


def _remove_empty_parent(worktree: Worktree) -> None:
    """Remove the default directory of a repository's worktrees after the last one."""
    main = list_worktrees(worktree.repository)[0]
    parent = worktree_path(main, worktree.name, DEFAULT_DIRECTORY).parent
    if parent == Path(worktree.path).parent:
        with suppress(OSError):  # it is not empty
            parent.rmdir()


def _check_files(worktree: Worktree) -> tuple[str, ...]:
    """Refuse if there is work in the directory, or if a program runs in it. Returns what git ignores."""
    here = Checkout(worktree.path)
    if operation := here.operation():
        hint = f"Finish it, or abort it: `git -C {here.path} {operation} --abort`."
        raise refuse("in_progress", f"A {operation} is in progress in {here.path}.", hint)
    changed = here.changed_files() + _hidden_files(here)
    if changed:
        hint = f"Commit or move them: `git -C {here.path} status` lists them."
        raise refuse("uncommitted", f"{count(len(changed), 'file')} not committed: {listed(changed)}.", hint)
    if _has_submodules(here):
        hint = f"Check them, then run `git worktree remove --force {here.path}` yourself."
        raise refuse("submodules", f"{here.path} contains submodules, whose commits would be lost.", hint)
    ignored = _ignored_files(here)
    if inner := [each for each in ignored if (Path(here.path) / each / ".git").exists()]:
        raise refuse("repositories", f"It contains other repositories: {listed(inner)}.", "Move them elsewhere.")
    if used := _programs_in(here.path):
        hint = "Stop the agent, close its terminal, or leave the directory, and try again."
        raise refuse("in_use", f"Programs run in {here.path}: {listed(used)}.", hint)
    return tuple(ignored)


def _hidden_files(here: Checkout) -> list[str]:
    """Files that exist and that git does not compare with the index."""
    entries = here.read("ls-files", "-v", "-z").split("\0")
    hidden = [entry[2:] for entry in entries if entry[:1] in HIDDEN_FLAGS]
    return [each for each in hidden if (Path(here.path) / each).exists()]


def _ignored_files(here: Checkout) -> list[str]:
    arguments = ("--porcelain=v1", "-z", "--ignored=traditional", "--untracked-files=normal")
    entries = here.read("status", *arguments).split("\0")
    return [entry[3:] for entry in entries if entry.startswith("!! ")]


def _has_submodules(here: Checkout) -> bool:
    folder = Path(here.read("rev-parse", "--absolute-git-dir"))
    return (folder / "modules").is_dir() and any((folder / "modules").iterdir())


def _programs_in(path: str) -> list[str]:
    """The programs whose current directory is in a directory, with their process ids."""
    root, found = Path(path).resolve(), []
    for process in psutil.process_iter(("pid", "name", "cwd")):
        directory = process.info["cwd"]
        if directory and Path(directory).is_relative_to(root):
            found.append(f"{process.info['name']} ({process.info['pid']})")
    return found


def _check_commits(worktree: Worktree, *, keep_branch: bool) -> str | None:
    """Refuse if commits would be lost. Returns the base of the branch."""
    if worktree.branch is None:
        commit = Checkout(worktree.path).commit() if worktree.exists else worktree.commit
        if commit and not Checkout(worktree.repository).read("for-each-ref", "--count=1", f"--contains={commit}"):
            hint = f"Create a branch there: `git -C {worktree.path} switch -c NAME`."
            raise refuse("detached", f"HEAD is detached in {worktree.path}, and its commits are on no branch.", hint)
        return None
    distance = read_distance(worktree.repository, worktree.branch)
    if keep_branch:
        return distance.base if distance else None
    hint = f"Merge it: `headspace worktree merge {worktree.branch}`. Or keep the branch: --keep-branch."
    if distance is None:
        raise refuse("no_base", f"The base of {worktree.branch} is not known.", "Keep the branch: --keep-branch.")
    if distance.ahead:
        message = f"{count(distance.ahead, 'commit')} of {worktree.branch} not in {distance.base}."
        raise refuse("unmerged", message, hint)
    return distance.base


def _delete_branch(main: Checkout, worktree: Worktree) -> None:
    """Delete the branch if it is still at the commit that was checked, and checked out nowhere."""
    if any(each.branch == worktree.branch for each in list_worktrees(main.path)):
        return
    result = main.run("update-ref", "-d", f"refs/heads/{worktree.branch}", str(worktree.commit))
    if result.code:
        hint = f"`git branch -d {worktree.branch}` deletes it if it is merged."
        raise refuse("branch_kept", f"The directory was removed. The branch was not: {result.text}", hint)
    main.run("config", "--unset", f"branch.{worktree.branch}.{BASE_SETTING}")
    main.run("config", "--remove-section", f"branch.{worktree.branch}")
