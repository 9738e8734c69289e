"""What can be started on this machine: clients with their modes and models, projects, and whether a directory fits."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.client import Capability, Client
from claude_headspace.clients.command_lines import program_of
from claude_headspace.config import Paths
from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.kernel.agent import Agent
from claude_headspace.outputs import tmux
from claude_headspace.surfaces.launch.demo import refuse_in_demo
from claude_headspace.surfaces.launch.detached import require_directory
from claude_headspace.surfaces.launch.start_client import find_program
from claude_headspace.surfaces.worktrees.checkout import Checkout
from claude_headspace.surfaces.worktrees.create import open_checkout

MAX_MODELS = 12
MAX_PROJECTS = 100
MAX_BRANCHES = 200


class ClientOffer(msgspec.Struct, frozen=True):
    """A client that agents can be started with."""

    name: str
    title: str
    problem: str
    """Why it cannot be started; empty if it can."""
    hint: str
    mission_problem: str
    """Why it cannot work on missions; empty if it can."""
    permission_modes: list[str]
    models: list[str]
    """Models that agents used, the most frequent first."""


class ProjectOffer(msgspec.Struct, frozen=True):
    """A project in which agents worked."""

    name: str
    directory: str


class LaunchOffers(msgspec.Struct, frozen=True):
    """What can be started on a machine."""

    host: str
    problem: str
    """Why nothing can be started; empty if something can."""
    hint: str
    clients: list[ClientOffer]
    projects: list[ProjectOffer]
    """The one that was used last comes first."""


class DirectoryView(msgspec.Struct, frozen=True):
    """A directory in which an agent could start."""

    directory: str
    """Its complete path."""
    problem: str
    """Why no agent can start there; empty if one can."""
    hint: str
    worktree_problem: str = ""
    """Why no worktree can be created for it; empty if one can."""
    branch: str | None = None
    """The branch that is checked out."""
    branches: list[str] = []
    uncommitted: int = 0
    """Files whose changes are not committed. A new worktree does not have them."""


def launch_offers(paths: Paths, host: str, agents: Iterable[Agent]) -> LaunchOffers:
    """What can be started here, with suggestions from what these agents used."""
    known = sorted(agents, key=lambda agent: -agent.last_active_at)
    problem, hint = _refusal(partial(refuse_in_demo, paths), tmux.require_tmux)
    clients = [_client_offer(each, known) for each in CLIENTS.values()]
    here = {agent.project.root: agent.project.name for agent in reversed(known) if agent.host == host}
    projects = [ProjectOffer(name, root) for root, name in reversed(here.items()) if root and Path(root).is_dir()]
    return LaunchOffers(host, problem, hint, clients, projects[:MAX_PROJECTS])


def _client_offer(client: Client, agents: Sequence[Agent]) -> ClientOffer:
    problem, hint = client.limits.get(Capability.RUN, ""), ""
    if not problem:
        problem, hint = _refusal(partial(find_program, client))
    used = Counter(agent.model for agent in agents if agent.client == client.name and agent.model)
    return ClientOffer(
        client.name,
        client.title,
        problem,
        hint,
        client.limits.get(Capability.MISSION, ""),
        list(program_of(client.name).permission_modes),
        [model for model, _ in used.most_common(MAX_MODELS)],
    )


def complete_directory(text: str) -> str:
    """The complete path of a directory that a person typed. `~` is the home of the user of the daemon."""
    try:
        path = Path(text.strip()).expanduser()
    except RuntimeError:  # an unknown user
        path = Path(text.strip())
    if not path.is_absolute():
        raise BadRequest("no_directory", f"{text!r} is not a complete path.", "Begin with / or ~.")
    return str(path)


def examine_directory(text: str) -> DirectoryView:
    """Whether an agent, and a worktree for it, can be started in a directory."""
    try:
        directory = complete_directory(text)
        require_directory(directory)
    except HeadspaceError as error:
        return DirectoryView(text, error.message, error.hint)
    if shutil.which("git") is None:
        return DirectoryView(directory, "", "", "git is not installed.")
    try:
        return _repository(directory, open_checkout(directory))
    except HeadspaceError as error:
        return DirectoryView(directory, "", "", error.message)


def _repository(directory: str, here: Checkout) -> DirectoryView:
    names = here.read("for-each-ref", "--format=%(refname:short)", f"--count={MAX_BRANCHES}", "refs/heads")
    return DirectoryView(
        directory,
        "",
        "",
        branch=here.branch(),
        branches=names.splitlines(),
        uncommitted=len(here.changed_files()),
    )


def _refusal(*checks: Callable[[], object]) -> tuple[str, str]:
    """Why the first of these checks refuses, and what to do; empty if none does."""
    try:
        for check in checks:
            check()
    except HeadspaceError as error:
        return error.message, error.hint
    return "", ""
