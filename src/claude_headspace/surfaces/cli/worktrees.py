"""`headspace worktree`: the git worktrees of a repository, and the work of the agents in them."""

from pathlib import Path
from typing import Annotated

from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.inputs.repository.git import GitError
from claude_headspace.inputs.repository.worktrees import Worktree, list_worktrees, read_status
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.parameters import Argument, Option
from claude_headspace.surfaces.cli.options import AsJson, examples
from claude_headspace.surfaces.cli.presentation.worktrees import removal_lines, worktree_table
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.worktrees.checkout import explained
from claude_headspace.surfaces.worktrees.find import agents_in, find_worktree
from claude_headspace.surfaces.worktrees.integrate import Integrated, merge, rebase
from claude_headspace.surfaces.worktrees.of_agent import refuse_running, refuse_working
from claude_headspace.surfaces.worktrees.remove import Removal, plan_removal, remove
from claude_headspace.surfaces.worktrees.texts import integrated_text, removal_texts, removed_text


def complete_worktrees(incomplete: str) -> list[str]:
    """Names of worktrees for shell completion."""
    try:
        found = list_worktrees(str(Path.cwd()))
    except (GitError, HeadspaceError):
        return []
    return [each.name for each in found if not each.is_main and each.name.startswith(incomplete)]


WorktreeArgument = Annotated[
    str,
    Argument("NAME", help="The branch or the directory of a worktree here, or an agent.", complete=complete_worktrees),
]


@examples("headspace worktree list", "headspace worktree list --json")
def list_all(as_json: AsJson = False) -> None:
    """List the worktrees of this repository.

    Shows the branch of each, how many commits it is ahead of and behind its base, how many files are not committed, and
    the agents that run in it.
    """
    with explained():
        found = [each for each in list_worktrees(str(Path.cwd())) if not each.is_main]
    described = [_describe(each) for each in found]
    output.write_result(described, as_json, lambda described, screen: worktree_table(described, screen.width))


def _describe(worktree: Worktree) -> Json:
    problem, status = "", None
    try:
        status = read_status(worktree.path) if worktree.exists else None
        problem = "" if worktree.exists else "the directory is missing"
    except GitError as error:
        problem = str(error)
    distance = status.distance if status else None
    return {
        "branch": worktree.branch,
        "path": worktree.path,
        "base": distance.base if distance else None,
        "ahead": distance.ahead if distance else None,
        "behind": distance.behind if distance else None,
        "uncommitted": status.uncommitted if status else None,
        "agents": [agent["name"] for agent in agents_in(worktree)],
        "problem": problem,
    }


@examples("headspace worktree merge login-fix", "headspace worktree merge login-fix --committed")
def merge_work(
    name: WorktreeArgument,
    committed: Annotated[
        bool, Option("--committed", help="Merge the commits, although other changes are not committed.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Merge the work of a worktree into its base.

    The merge is done where the base is checked out. If it has conflicts, or a hook refuses it, nothing changes. The
    worktree and its branch stay.
    """
    _print("merge", merge(find_worktree(str(Path.cwd()), name), committed_only=committed), as_json)


@examples("headspace worktree rebase login-fix")
def rebase_work(name: WorktreeArgument, as_json: AsJson = False) -> None:
    """Rebase the branch of a worktree onto its base.

    Refused while an agent works there. If there are conflicts, nothing changes.
    """
    worktree = find_worktree(str(Path.cwd()), name)
    refuse_working(worktree, agents_in(worktree))
    _print("rebase", rebase(worktree), as_json)


def _print(verb: str, done: Integrated, as_json: bool) -> None:
    result = {"branch": done.branch, "base": done.base, "commits": done.commits}
    output.write_result(result, as_json, lambda _, __: [output.line(integrated_text(verb, done))])


@examples("headspace worktree remove login-fix", "headspace worktree remove login-fix --keep-branch --yes")
def remove_worktree(
    name: WorktreeArgument,
    keep_branch: Annotated[bool, Option("--keep-branch", help="Remove the directory and keep the branch.")] = False,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove a worktree and its branch, if no work is lost.

    Refused if a file in it is not committed or not tracked, if commits are not in the base, if an operation of git is
    in progress, or if an agent or another program runs in it. Files that git ignores are listed, and deleted.
    """
    worktree = find_worktree(str(Path.cwd()), name)
    refuse_running(worktree, agents_in(worktree))
    removal = plan_removal(worktree, keep_branch=keep_branch)
    if not yes:
        _confirm(removal)
    remove(removal)
    result = {
        "path": worktree.path,
        "branch": worktree.branch,
        "branch_deleted": removal.deletes_branch,
        "ignored": removal.ignored,
    }
    output.write_result(result, as_json, lambda _, __: [output.line(removed_text(removal))])


def _confirm(removal: Removal) -> None:
    if not output.can_ask():
        hint = f"It would remove: {'; '.join(removal_texts(removal))}. Use --yes."
        raise BadRequest("not_confirmed", "Nothing was removed: there is no terminal to ask.", hint)
    output.screen().show(removal_lines(removal))
    if not output.confirm("Remove it?"):
        raise BadRequest("not_confirmed", "Nothing was removed.", "Use --yes to remove it without a question.")
