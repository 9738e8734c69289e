"""Creates a worktree with a branch for an agent, next to the repository.

Rules
- The branch starts at its base: the branch that is checked out here, or the one that is given. The base is stored, so
  that the work can be compared with it and merged into it later.
- A worktree that has the branch checked out already is used as it is. An existing branch gets a worktree, as it is.
- If git or a hook fails, what was created is removed again, unless there are files in it.
"""

import uuid
from pathlib import Path
from typing import NamedTuple

from claude_headspace.inputs.repository.worktrees import BASE_SETTING, Worktree, list_worktrees
from claude_headspace.kernel.names import suggest_names
from claude_headspace.kernel.text import count
from claude_headspace.surfaces.worktrees.checkout import Checkout, Result, explained, refuse

DEFAULT_DIRECTORY = "../{project}-worktrees"


class Prepared(NamedTuple):
    """A worktree that an agent can start in."""

    path: str
    branch: str
    is_new: bool
    notes: tuple[str, ...] = ()
    """What the user should know about it."""


@explained()
def prepare_worktree(directory: str, name: str, base: str | None, location: str = DEFAULT_DIRECTORY) -> Prepared:
    """The worktree of a branch, created if there is none. Without a name, one is chosen."""
    here = open_checkout(directory)
    worktrees = list_worktrees(here.path)
    if name:
        _check_name(here, name)
    else:
        name = _free_name(here, worktrees, location)
    existing = next((each for each in worktrees if each.branch == name), None)
    return _reuse(existing) if existing else _create(here, worktrees[0], name, base, location)


def open_checkout(directory: str) -> Checkout:
    """The checkout of a directory. Raises an error if no worktree can be created for it."""
    here = Checkout(directory)
    if not here.succeeds("rev-parse", "--git-dir"):
        hint = "Start without --worktree, or create a repository with `git init` and a first commit."
        raise refuse("no_repository", f"{directory} is not in a git repository.", hint)
    if not here.succeeds("rev-parse", "--show-toplevel"):
        hint = "Create one with `git worktree add ../main main`, and start there."
        raise refuse("no_work_tree", f"{directory} is in a bare repository, outside of its worktrees.", hint)
    outer = here.read("rev-parse", "--show-superproject-working-tree")
    if outer:
        hint = f"Start in {outer}, or create the worktree with `git worktree add`."
        raise refuse("submodule", f"{directory} is in a submodule. Headspace creates no worktrees of submodules.", hint)
    return Checkout(here.read("rev-parse", "--show-toplevel"))


def _check_name(here: Checkout, name: str) -> None:
    is_valid = not name.startswith("-") and name != "HEAD" and here.succeeds("check-ref-format", f"refs/heads/{name}")
    if not is_valid:
        hint = "Use letters, digits and dashes, such as login-fix. The first prompt is given with --prompt."
        raise refuse("bad_name", f"{name!r} cannot be the name of a branch.", hint)


def _free_name(here: Checkout, worktrees: list[Worktree], location: str) -> str:
    """A name that no branch and no directory has."""
    names = suggest_names(uuid.uuid4().hex)
    return next(
        name
        for name in names
        if here.commit(f"refs/heads/{name}") is None and not worktree_path(worktrees[0], name, location).exists()
    )


def worktree_path(main: Worktree, name: str, location: str) -> Path:
    """Where the worktree of a branch is created. A relative location starts at the root of the repository."""
    root = Path(main.path)
    if main.is_bare and root.name.startswith("."):
        root = root.parent
    parent = Path(location.replace("{project}", root.name)).expanduser()
    return Path(root, parent).resolve() / name.replace("/", "-")


def _reuse(worktree: Worktree) -> Prepared:
    if worktree.is_main:
        hint = "Choose another name, or start without --worktree."
        raise refuse("checked_out", f"The branch {worktree.branch} is checked out in {worktree.path}.", hint)
    if not worktree.exists:
        hint = "Run `git worktree prune` if it was deleted, and try again."
        raise refuse("missing", f"The worktree of {worktree.branch} is missing: {worktree.path}.", hint)
    return Prepared(worktree.path, worktree.name, is_new=False)


def _create(here: Checkout, main: Worktree, name: str, base: str | None, location: str) -> Prepared:
    path = worktree_path(main, name, location)
    if path.exists():
        raise refuse("exists", f"{path} already exists.", "Choose another name, or remove the directory.")
    branch_commit = here.commit(f"refs/heads/{name}")
    base = _base(here, base, name, is_required=branch_commit is None)
    new = ("--no-track", "-b", name, str(path), f"refs/heads/{base}") if branch_commit is None else (str(path), name)
    _add(here, path, name if branch_commit is None else None, here.run("worktree", "add", *new))
    if base and (branch_commit is None or not here.succeeds("config", "--get", f"branch.{name}.{BASE_SETTING}")):
        here.read("config", f"branch.{name}.{BASE_SETTING}", base)
    return Prepared(str(path), name, is_new=True, notes=_notes(here, path))


def _base(here: Checkout, given: str | None, name: str, *, is_required: bool) -> str | None:
    """The branch that the work is merged into."""
    base = given or here.branch()
    if base is None:
        if not is_required:
            return None
        raise refuse("detached", f"HEAD is detached in {here.path}.", "Name the branch to start from: --base BRANCH.")
    if here.commit(f"refs/heads/{base}") is None:
        if given:
            hint = f"Use a local branch, because the work is merged into it: `git branch {given} COMMIT` creates one."
            raise refuse("no_branch", f"There is no branch {given}.", hint)
        raise refuse("no_commit", f"The branch {base} has no commit yet.", "Make a first commit, and try again.")
    return base if base != name else None


def _add(here: Checkout, path: Path, new_branch: str | None, result: Result) -> None:
    """Check the result of `git worktree add`, and undo it if it failed. A hook can fail after the creation."""
    if result.code == 0:
        return
    left = path.exists() and not here.succeeds("worktree", "remove", str(path))
    if new_branch is not None and not left and (commit := here.commit(f"refs/heads/{new_branch}")):
        here.run("update-ref", "-d", f"refs/heads/{new_branch}", commit)
    hint = f"It contains files: see {path}." if left else "Nothing was created."
    raise refuse("not_created", f"The worktree was not created: {result.text}", hint)


def _notes(here: Checkout, path: Path) -> tuple[str, ...]:
    notes = []
    if changed := here.changed_files():
        notes.append(f"Not in it: {count(len(changed), 'uncommitted file')} of {here.path}.")
    if (path / ".gitmodules").exists():
        notes.append("Its submodules are empty: `git submodule update --init` fills them.")
    return tuple(notes)
