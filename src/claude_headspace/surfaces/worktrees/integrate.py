"""Merges the work of a worktree into its base, or rebases it onto its base.

Rules
- Everything is checked before anything changes. A merge with conflicts is recognised without touching a file, if git
  can do that (2.38), and is undone otherwise.
- A base is never left half-merged, and a branch never half-rebased: after a failure, a failed hook or Ctrl+C the
  operation is aborted, and it is verified that everything is as before.
- Uncommitted changes are never stashed, moved or overwritten.
"""

from collections.abc import Callable
from typing import NamedTuple

from claude_headspace.inputs.repository.worktrees import Distance, Worktree, list_worktrees, read_distance
from claude_headspace.kernel.text import count
from claude_headspace.surfaces.worktrees.checkout import Checkout, Result, explained, listed, refuse

COMMIT_FIRST = "Commit them first, or ask the agent to."
COMMITTED_ONLY = "`merge --committed` merges the commits and leaves the files."

MERGE = ("merge", "--no-edit", "--commit", "--no-squash", "--ff", "--no-autostash")
"""Options that replace those that the repository configures for the branch."""
REBASE = (
    *("-c", "rebase.autoStash=false", "-c", "rebase.updateRefs=false", "-c", "rebase.autoSquash=false"),
    "rebase",
)


class Integrated(NamedTuple):
    """What a merge or a rebase did."""

    branch: str
    base: str
    commits: int
    """How many commits the target got; 0: there was nothing to do."""


@explained()
def merge(worktree: Worktree, *, committed_only: bool = False) -> Integrated:
    """Merge the branch of a worktree into its base."""
    here, branch, distance = _examine(worktree, "" if committed_only else f"{COMMIT_FIRST} {COMMITTED_ONLY}")
    base = distance.base
    if distance.ahead:
        target = next((each for each in list_worktrees(worktree.path) if each.branch == base and each.exists), None)
        if target is None:
            _move_base(here, branch, distance)
        else:
            _merge_in(Checkout(target.path), branch, base)
    return Integrated(branch, base, distance.ahead)


@explained()
def rebase(worktree: Worktree) -> Integrated:
    """Rebase the branch of a worktree onto its base."""
    here, branch, distance = _examine(worktree, COMMIT_FIRST)
    if distance.behind:
        range_of_branch = f"refs/heads/{distance.base}..refs/heads/{branch}"
        if here.read("rev-list", "--merges", "--max-count=1", range_of_branch):
            hint = f"Merge instead: `headspace worktree merge {branch}`."
            raise refuse("has_merges", f"{branch} contains merges, which a rebase would drop.", hint)
        command = (*REBASE, f"refs/heads/{distance.base}")
        hint = f"Ask the agent to merge {distance.base} into {branch} and to resolve the conflicts."
        _try(here, "rebase", command, lambda: here.branch() == branch and here.is_ancestor(command[-1], "HEAD"), hint)
    return Integrated(branch, distance.base, distance.behind)


def _examine(worktree: Worktree, uncommitted_hint: str) -> tuple[Checkout, str, Distance]:
    """The checkout, its branch and its distance. Raises an error if its work cannot be integrated as it is.

    Files that are not committed are an error with this hint; without a hint they are allowed.
    """
    here, branch = Checkout(worktree.path), worktree.branch
    _refuse_operation(here)
    if branch is None:
        hint = f"Create a branch there: `git -C {worktree.path} switch -c NAME`."
        raise refuse("detached", f"HEAD is detached in {worktree.path}.", hint)
    if uncommitted_hint and (changed := here.changed_files()):
        raise refuse(
            "uncommitted", f"{count(len(changed), 'file')} not committed: {listed(changed)}.", uncommitted_hint
        )
    distance = read_distance(worktree.path, branch)
    if distance is None:
        hint = f"Name it: `git config branch.{branch}.headspaceBase BRANCH`."
        raise refuse("no_base", f"The base of {branch} is not known.", hint)
    return here, branch, distance


def _refuse_operation(checkout: Checkout) -> None:
    if operation := checkout.operation():
        hint = f"Finish it there, or abort it: `git -C {checkout.path} {operation} --abort`."
        raise refuse("in_progress", f"A {operation} is in progress in {checkout.path}.", hint)


def _merge_in(target: Checkout, branch: str, base: str) -> None:
    """Merge in the checkout of the base."""
    _refuse_operation(target)
    if changed := target.changed_files(untracked=False):
        hint = "Commit or stash them, and try again."
        raise refuse("base_changed", f"{target.path} has uncommitted changes: {listed(changed)}.", hint)
    hint = f"Try `headspace worktree rebase {branch}`, or ask the agent to merge {base} and to resolve the conflicts."
    tip = target.commit(f"refs/heads/{branch}") or ""
    if conflicts := _conflicts(target, base, branch):
        raise refuse("conflicts", f"{branch} and {base} conflict in {listed(conflicts)}. Nothing was changed.", hint)
    command = (*MERGE, "-m", f"Merge branch '{branch}'", f"refs/heads/{branch}")
    _try(target, "merge", command, lambda: target.is_ancestor(tip, "HEAD"), hint)


def _conflicts(target: Checkout, base: str, branch: str) -> list[str]:
    """The files that conflict. Empty if there are none, or if this git cannot tell."""
    revisions = (f"refs/heads/{base}", f"refs/heads/{branch}")
    result = target.run("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", *revisions)
    return [each for each in result.output.split("\0")[1:] if each] if result.code == 1 else []


def _move_base(here: Checkout, branch: str, distance: Distance) -> None:
    """Move a base that is checked out nowhere. Only forward: a merge needs files to merge in."""
    base = distance.base
    if distance.behind:
        hint = f"Check out {base}, or rebase first: `headspace worktree rebase {branch}`."
        raise refuse("not_checked_out", f"{base} is not checked out, and has commits that {branch} lacks.", hint)
    before, after = here.commit(f"refs/heads/{base}"), here.commit(f"refs/heads/{branch}")
    here.read("update-ref", "-m", f"merge {branch}: Fast-forward", f"refs/heads/{base}", str(after), str(before))


def _try(checkout: Checkout, operation: str, command: tuple[str, ...], is_done: Callable[[], bool], hint: str) -> None:
    """Run an operation; abort it if it fails."""
    before = checkout.commit(), checkout.branch()
    try:
        result = checkout.run(*command)
    except BaseException:
        if checkout.operation() is not None or not is_done():
            _abort(checkout, operation, before)
        raise
    if result.code == 0 and checkout.operation() is None and is_done():
        return
    conflicts = checkout.conflicting_files()
    _abort(checkout, operation, before, result)
    if conflicts:
        raise refuse("conflicts", f"The {operation} has conflicts in {listed(conflicts)}, and was undone.", hint)
    raise refuse(f"{operation}_failed", f"The {operation} failed, and was undone: {result.text}", hint)


def _abort(
    checkout: Checkout, operation: str, before: tuple[str | None, str | None], result: Result | None = None
) -> None:
    """Abort an operation, and verify that the checkout is as before."""
    if checkout.operation() == operation:
        checkout.run(operation, "--abort")
    elif checkout.commit() == before[0] and checkout.changed_files(untracked=False):
        checkout.run("reset", "--merge", "HEAD")  # git wrote files and did not get to the commit; there were no others
    is_restored = checkout.operation() is None and (checkout.commit(), checkout.branch()) == before
    if not is_restored or checkout.changed_files(untracked=False):
        text = result.text if result else "It was interrupted."
        hint = f"See `git -C {checkout.path} status`. Before, it was at {before[0]}."
        raise refuse("not_restored", f"The {operation} failed, and {checkout.path} needs your attention: {text}", hint)
