"""Finds the worktree that a person means: by the name of its branch, its directory, or an agent that works in it."""

from collections.abc import Iterable
from pathlib import Path

from claude_headspace.errors import HeadspaceError
from claude_headspace.inputs.repository.git import GitError
from claude_headspace.inputs.repository.worktrees import Worktree, list_worktrees
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.worktrees.checkout import explained, listed, refuse


@explained()
def worktree_at(path: str) -> Worktree:
    """The worktree with a path."""
    found = (each for each in list_worktrees(path) if Path(each.path).resolve() == Path(path).resolve())
    return next(found)


def find_worktree(directory: str, name: str) -> Worktree:
    """The worktree with exactly this name: in the repository of a directory, or else of an agent."""
    known = _linked(directory)
    matching = [each for each in known if name in (each.branch, each.path, Path(each.path).name)]
    if not matching and (path := _path_of_agent(name)):
        matching = [worktree_at(path)]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise refuse("ambiguous", f"{name} is several worktrees.", f"Use a branch: {listed(_names(matching))}.")
    hint = f"There are: {listed(_names(known))}." if known else "`headspace worktree list` lists those of a repository."
    raise refuse("no_worktree", f"There is no worktree {name}.", hint)


def _linked(directory: str) -> list[Worktree]:
    try:
        return [each for each in list_worktrees(directory) if not each.is_main]
    except GitError:
        return []


def _names(worktrees: list[Worktree]) -> list[str]:
    return [each.name for each in worktrees]


def _path_of_agent(name: str) -> str | None:
    """The worktree of the agent with exactly this name, if the daemon runs here."""
    try:
        agents = ApiClient.local().agents()
    except HeadspaceError:
        return None
    paths = [path for agent in agents if agent["name"] == name and (path := path_of(agent))]
    return paths[0] if len(paths) == 1 else None


def path_of(agent: Json) -> str | None:
    """The worktree in which an agent works."""
    worktree = agent.get("worktree")
    return str(worktree["root"]) if worktree else None


def agents_in(worktree: Worktree) -> list[Json]:
    """The running agents in a worktree, as far as the daemon knows them."""
    try:
        agents = ApiClient.local().agents()
    except HeadspaceError:
        return []
    return inside(agents, worktree.path)


def inside(agents: Iterable[Json], path: str) -> list[Json]:
    """The running agents that work in a directory, or below it."""
    running = [agent for agent in agents if agent["state"] != "ended" and agent["cwd"]]
    return [agent for agent in running if Path(agent["cwd"]).is_relative_to(path)]
