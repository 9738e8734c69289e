"""`run --worktree`: the worktree that an agent starts in, and what to do with it when the agent has ended."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

from claude_headspace.clients.capabilities import named_client
from claude_headspace.config import find_paths, load_settings
from claude_headspace.errors import HeadspaceError
from claude_headspace.inputs.repository.worktrees import Worktree, WorktreeStatus, read_status
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.echo import echo
from claude_headspace.surfaces.cli.arguments.parameters import Option
from claude_headspace.surfaces.cli.presentation.worktrees import removal_lines
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.worktrees.checkout import explained
from claude_headspace.surfaces.worktrees.find import worktree_at
from claude_headspace.surfaces.worktrees.integrate import merge, rebase
from claude_headspace.surfaces.worktrees.place import Place, prepare_place, removed_if_refused
from claude_headspace.surfaces.worktrees.remove import plan_removal, remove
from claude_headspace.surfaces.worktrees.texts import integrated_text, removed_text, status_text


def _is_name(word: str) -> bool:
    """Whether a word after --worktree is its name, and not an option or a client."""
    return not word.startswith("-") and named_client(word) is None


WorktreeOption = Annotated[
    str | None,
    Option(
        "--worktree",
        metavar="[NAME]",
        help="Work in a git worktree with this branch, created if needed; default: a generated name.",
    ).value_if(_is_name),
]
BaseOption = Annotated[
    str | None,
    Option("--base", metavar="BRANCH", help="Branch that a new worktree starts from; default: the current one."),
]
KeepWorktreeOption = Annotated[
    bool, Option("--keep-worktree", help="Do not ask what to do with the worktree when the agent ends.")
]


def enter_worktree(api: ApiClient, name: str, base: str | None) -> Place:
    """Prepare a worktree, and make it the current directory: the same subdirectory, if it exists there."""
    taken = {agent["name"] for agent in api.agents(include_old=True)}
    place = prepare_place(str(Path.cwd()), name, base, load_settings(find_paths()).worktree_directory, taken)
    os.chdir(place.directory)
    for each in place.notes:
        echo(each, is_error=True)
    return place


@contextmanager
def undo_if_refused(place: Place | None) -> Iterator[None]:
    """Remove a worktree that was just created, and is the current directory, if its agent cannot be started."""
    with removed_if_refused(place):
        try:
            yield
        except HeadspaceError:
            if place is not None and place.is_new:
                os.chdir(worktree_at(place.path).repository)
            raise


CHOICES = {"m": "merge", "r": "rebase", "d": "remove", "": "keep", "k": "keep"}


def offer(place: Place) -> None:
    """Ask what to do with the worktree, until it is removed or kept. Without a terminal, it is kept."""
    if not output.can_ask():
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the client used it before
    with suppress(KeyboardInterrupt, EOFError, OSError):
        os.chdir(worktree_at(place.path).repository)
        while _offer_once(worktree_at(place.path)):
            pass


def _offer_once(worktree: Worktree) -> bool:
    """Ask once. Whether to ask again."""
    with explained():
        status = read_status(worktree.path)
    echo(f"\n{worktree.name}: {status_text(status)}.")
    choice = _ask(status)
    try:
        return _act(choice, worktree)
    except HeadspaceError as error:
        echo(f"{error.message}\n{error.hint}")
        return True


def _ask(status: WorktreeStatus) -> str:
    base = status.distance.base if status.distance else "its base"
    question = f"[m] merge into {base}  [r] rebase onto {base}  [d] remove the worktree  [Enter] keep it: "
    while True:
        sys.stdout.write(question)
        sys.stdout.flush()
        if not (line := sys.stdin.readline()):
            raise EOFError
        if (word := line.strip().lower()) in CHOICES:
            return CHOICES[word]
        echo("Answer m, r, d or Enter.")


def _act(choice: str, worktree: Worktree) -> bool:
    """Do what was chosen. Whether to ask again."""
    match choice:
        case "merge":
            echo(integrated_text("merge", merge(worktree)))
        case "rebase":
            echo(integrated_text("rebase", rebase(worktree)))
        case "remove":
            removal = plan_removal(worktree)
            output.screen().show(removal_lines(removal))
            if output.confirm("Remove it?"):
                remove(removal)
                echo(removed_text(removal))
                return False
        case _:
            return False
    return True
