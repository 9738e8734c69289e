"""The worktree that an agent starts in. The command line, `top` and the daemon prepare it in the same way.

A worktree that was just created is removed again if its agent cannot be started.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from claude_headspace.errors import HeadspaceError
from claude_headspace.kernel.names import VALID_NAME
from claude_headspace.surfaces.worktrees.checkout import Checkout
from claude_headspace.surfaces.worktrees.create import Prepared, prepare_worktree
from claude_headspace.surfaces.worktrees.find import worktree_at
from claude_headspace.surfaces.worktrees.remove import plan_removal, remove


class Place(NamedTuple):
    """The worktree of an agent."""

    path: str
    directory: str
    """Where the agent starts: the same subdirectory as before, if it exists in the worktree."""
    branch: str
    is_new: bool
    agent_name: str
    """The branch if it can be the name of the agent; otherwise empty."""
    notes: tuple[str, ...] = ()
    """What the user should know about it."""


def prepare_place(directory: str, name: str, base: str | None, location: str, taken: Collection[str]) -> Place:
    """Prepare the worktree of a branch for an agent. Without a name, one is chosen."""
    prepared = prepare_worktree(directory, name, base, location)
    top = Path(Checkout(directory).read("rev-parse", "--show-toplevel"))
    inner = Path(prepared.path, Path(directory).resolve().relative_to(top.resolve()))
    return Place(
        prepared.path,
        str(inner) if inner.is_dir() else prepared.path,
        prepared.branch,
        prepared.is_new,
        _agent_name(prepared.branch, taken),
        (_created_text(prepared), *prepared.notes),
    )


def _created_text(prepared: Prepared) -> str:
    verb = "New worktree" if prepared.is_new else "Existing worktree"
    return f"{verb} {prepared.path}, branch {prepared.branch}."


def _agent_name(branch: str, taken: Collection[str]) -> str:
    name = branch.rpartition("/")[2].lower()
    return name if VALID_NAME.fullmatch(name) and name not in taken else ""


@contextmanager
def removed_if_refused(place: Place | None) -> Iterator[None]:
    """Remove a worktree that was just created if its agent cannot be started."""
    try:
        yield
    except HeadspaceError:
        if place is not None and place.is_new:
            with suppress(HeadspaceError):
                remove(plan_removal(worktree_at(place.path)))
        raise
