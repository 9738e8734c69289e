"""Starts, forks and resumes agents in tmux sessions of their own. The command line and the daemon both use it.

The agent is started by `headspace run` or `headspace resume` inside the new session, which ends with it. All checks
come first, because nobody sees the error of a command in a session that has ended. A worktree is prepared after the
checks, and removed again if the agent does not start.
"""

import time
import uuid
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from itertools import filterfalse
from pathlib import Path
from typing import Any

import msgspec

from claude_headspace.clients.capabilities import find_client, require
from claude_headspace.clients.catalog import DEFAULT
from claude_headspace.clients.client import Capability
from claude_headspace.clients.command_lines import check_resumed_prompt, chosen_options
from claude_headspace.config import Paths, load_settings
from claude_headspace.errors import BadRequest, HeadspaceError
from claude_headspace.kernel.mission.messages import worker_prompt
from claude_headspace.kernel.names import suggest_names
from claude_headspace.outputs import tmux
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.launch.demo import refuse_in_demo
from claude_headspace.surfaces.launch.start_client import (
    Job,
    find_program,
    fork_target,
    open_session,
    resume_target,
    tmux_name,
    worker_environment,
)
from claude_headspace.surfaces.text.matching import suggestion
from claude_headspace.surfaces.text.names import check_name
from claude_headspace.surfaces.worktrees.place import prepare_place, removed_if_refused

START_SECONDS = 20.0
"""How long a new agent may take to be registered."""
POLL_SECONDS = 0.1
NOT_STARTED = "it could not be started:"
"""Why a mission is abandoned, before the reason."""

Json = dict[str, Any]
FindAgent = Callable[[str], Json]
"""The agent with a name or id. Raises `BadRequest` if there is none."""


class NewAgent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent to start."""

    directory: str
    client: str = DEFAULT
    """Its name or its program."""
    name: str = ""
    """Empty: Headspace chooses one."""
    prompt: str = ""
    model: str = ""
    permission_mode: str = ""
    """In the words of the client."""
    role: str = ""
    worktree: str | None = None
    """The branch of the git worktree in which it works, created if needed; empty: with a generated name. None: it works
    in the directory itself. The worktree is kept when the agent ends."""
    base: str | None = None
    """The branch that a new worktree starts from; by default the one that is checked out."""
    arguments: tuple[str, ...] = ()
    """Further arguments of the client."""


class Launcher(msgspec.Struct, frozen=True):
    """Starts agents from one place: its paths, its environment, its machine, and the agents."""

    paths: Paths
    env: Mapping[str, str]
    host: str
    find: FindAgent
    names: Callable[[], Collection[str]]
    """The names that a new agent cannot have."""
    worktree_directory: str
    """Where worktrees are created."""

    def new(self, wanted: NewAgent, say: Callable[[str], None] = lambda _text: None) -> Json:
        """Start an agent; the agent as soon as it is registered. `say` is called with what is worth knowing."""
        self._check(wanted)
        if wanted.worktree is None:
            return self._start(wanted, [])
        place = prepare_place(wanted.directory, wanted.worktree, wanted.base, self.worktree_directory, self.names())
        for note in place.notes:
            say(note)
        inside = msgspec.structs.replace(
            wanted, directory=place.directory, worktree=place.branch, name=wanted.name or place.agent_name
        )
        with removed_if_refused(place):
            return self._start(inside, [])

    def require_free(self, name: str) -> None:
        """Raise `BadRequest` for a name that a new agent cannot have."""
        check_name(name)
        if name in self.names():
            raise BadRequest("name_taken", f"Another agent is called {name}.", "Choose another name.", status=409)

    def fork(self, agent: Mapping[str, Any], wanted: NewAgent) -> Json:
        """Continue the conversation of an agent as another agent. Its directory and client are used."""
        refuse_in_demo(self.paths)
        session_id, directory, variables = fork_target(agent, self.host)
        check_resumed_prompt(agent["client"], wanted.prompt)
        wanted = msgspec.structs.replace(wanted, directory=directory, client=agent["client"])
        self._check(wanted)
        return self._start(wanted, [f"--fork={session_id}"], variables)

    def resume(self, agent: Mapping[str, Any], prompt: str = "", model: str = "", permission_mode: str = "") -> Json:
        """Resume an ended agent; the agent as soon as its client runs."""
        refuse_in_demo(self.paths)
        _, directory, _ = resume_target(agent, self.host)
        check_resumed_prompt(agent["client"], prompt)
        options = chosen_options(agent["client"], model, permission_mode)
        find_program(find_client(agent["client"]))
        given = ["resume", agent["id"], *([f"--prompt={prompt}"] if prompt else [])]
        given += ["--", *options] if options else []
        return self._open(agent["id"], agent["name"], Job(given, dict(self.env)), directory)

    def check_worker(self, wanted: NewAgent) -> None:
        """Raise an error if the worker of a mission cannot be started."""
        require(find_client(wanted.client).name, Capability.MISSION)
        self._check(wanted)
        tmux.require_tmux()

    def work_on(self, mission: Mapping[str, Any], wanted: NewAgent) -> str:
        """Start the worker of a registered mission, whose goal is its prompt; the name of its tmux session."""
        client = find_client(wanted.client).name
        given = [
            "run",
            client,
            "--here",
            f"--mission={mission['id']}",
            f"--mode={mission['mode']}",
            f"--prompt={worker_prompt(wanted.prompt)}",
            *["--headless"] * (mission["mode"] == "background"),
            *chosen_options(client, wanted.model, wanted.permission_mode),
            *wanted.arguments,
        ]
        session = tmux_name(mission["workers"][0]["name"])
        open_session(self.paths, session, Job(given, dict(self.env)), wanted.directory)
        return session

    def _check(self, wanted: NewAgent) -> None:
        """Raise an error if an agent cannot be started."""
        refuse_in_demo(self.paths)
        client = find_client(wanted.client)
        require(client.name, Capability.RUN)
        find_program(client)
        require_directory(wanted.directory)
        if wanted.name:
            self.require_free(wanted.name)
        chosen_options(client.name, wanted.model, wanted.permission_mode)

    def _start(self, wanted: NewAgent, more: list[str], variables: Mapping[str, str] | None = None) -> Json:
        client = find_client(wanted.client)
        options = chosen_options(client.name, wanted.model, wanted.permission_mode)
        name = wanted.name or free_name(self.names())
        given = [f"--{key}={value}" for key in ("prompt", "role") if (value := getattr(wanted, key))]
        if wanted.worktree:
            given += [f"--worktree={wanted.worktree}", "--keep-worktree"]
        arguments = ["run", client.name, f"--name={name}", *given, *more, "--here", "--", *options, *wanted.arguments]
        return self._open(name, name, Job(arguments, {**self.env, **(variables or {})}), wanted.directory)

    def _open(self, reference: str, name: str, job: Job, directory: str) -> Json:
        """Run a job in a tmux session with the name of the agent, or a similar one if there is such a session."""
        tmux.require_tmux()
        session = tmux_name(name)
        if tmux.has_session(session, self.env):
            session = f"{session}-{uuid.uuid4().hex[:6]}"
        open_session(self.paths, session, job, directory)
        return self._wait_for(reference, name, session)

    def _wait_for(self, reference: str, name: str, session: str) -> Json:
        """The agent as soon as it is registered. Raises an error if its tmux session ends before."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            with suppress(BadRequest):
                if (found := self.find(reference))["state"] != "ended":
                    return found
            if not tmux.has_session(session, self.env):
                break
            time.sleep(POLL_SECONDS)
        raise HeadspaceError(
            "not_started", f"{name} was not started: its client ended at once, or did not report.", _AFTER_FAILURE
        )


def local_launcher(paths: Paths, api: ApiClient) -> Launcher:
    """Starts agents from this process, with its environment."""

    def names() -> list[str]:
        return [each["name"] for each in api.agents() if each["state"] != "ended"]

    settings = load_settings(paths)
    return Launcher(paths, worker_environment(), settings.host_name, api.agent, names, settings.worktree_directory)


_AFTER_FAILURE = "Start it with `headspace run --here` in its directory, which shows the reason."


def require_directory(path: str) -> None:
    """Raise `BadRequest` unless a path is an existing directory. The hint names one with a similar name."""
    if _is_directory(path):
        return
    similar = suggestion(Path(path).name, _neighbours(Path(path)))
    raise BadRequest("no_directory", f"There is no directory {path}.", f"{similar} Nothing was started.".lstrip())


def _is_directory(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):  # too long, or with a null character
        return False


def _neighbours(path: Path) -> list[str]:
    """The names of the directories beside a path."""
    try:
        return [each.name for each in path.parent.iterdir() if each.is_dir()]
    except (OSError, ValueError):
        return []


def free_name(taken: Collection[str]) -> str:
    """A name for a new agent that no other one has."""
    return next(filterfalse(set(taken).__contains__, suggest_names(uuid.uuid4().hex)))
