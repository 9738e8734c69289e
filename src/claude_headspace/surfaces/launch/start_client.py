"""Starts a client as a child process, with environment variables that identify the agent in its hooks.

The wrapper is transparent: signals are forwarded, the exit code is returned, and the client owns the terminal. In a new
tmux session or window the arguments and the environment come from a job file with mode 0600. So no secret appears on a
command line, and the environment of the tmux server does not matter.
"""

import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

import msgspec

from claude_headspace.clients import environment
from claude_headspace.clients.capabilities import find_client, require
from claude_headspace.clients.client import Capability, Client
from claude_headspace.clients.command_lines import config_dir_of, shared_session_hint
from claude_headspace.clients.config_dirs import config_variables, default_config_dirs
from claude_headspace.clients.processes import shares_process
from claude_headspace.config import Paths
from claude_headspace.errors import BadRequest, ClientMissing, ClientUnusable, HeadspaceError
from claude_headspace.outputs import tmux
from claude_headspace.surfaces.text.formatting import Json

IGNORED = (signal.SIGINT, signal.SIGQUIT)
"""The terminal sends these to all foreground processes. The client decides what to do."""
ENDINGS = (signal.SIGTERM, signal.SIGHUP)
"""These end the client and the wrapper."""
NOT_A_PROGRAM = (errno.ENOEXEC, errno.ENOENT)
"""What the system reports if a file is no program, or if its interpreter is missing."""
MAX_ERROR_SECONDS = 1.0
FORWARDED = (*ENDINGS, signal.SIGUSR1, signal.SIGUSR2)


def find_program(client: Client) -> str:
    """The path of a client's program."""
    found = shutil.which(client.program)
    if found is None:
        raise ClientMissing(
            "client_missing",
            f"The program `{client.program}` was not found.",
            f"Install {client.title}, or add it to your PATH.",
        )
    return found


def worker_environment() -> dict[str, str]:
    """The environment of this process without the variables of the client that runs it."""
    return {name: value for name, value in os.environ.items() if name not in environment.NOT_INHERITED}


def client_environment(
    client: Client,
    url: str,
    headspace_id: str,
    session: str | None,
    role: str | None = None,
    mode: str | None = None,
    mission: str | None = None,
) -> dict[str, str]:
    """The environment of a client: inherited variables, and those that identify the agent in its hooks.

    A client that a tool of another client starts does not inherit the variables of that tool.
    """
    ids = {
        environment.MISSION: mission or "",
        environment.DAEMON_URL: url,
        environment.HEADSPACE_ID: headspace_id,
        environment.WRAPPER_ID: headspace_id,
        environment.TMUX_SESSION: session or "",
        environment.ROLE: role or "",
        environment.MODE: mode or "",
    }
    dropped = environment.tool_variables_of_others(client.name, os.environ).union(ids)
    inherited = {name: value for name, value in os.environ.items() if name not in dropped}
    return inherited | {name: value for name, value in ids.items() if value}


def new_headspace_id() -> str:
    """An id for a new agent."""
    return str(uuid.uuid4())


class ClientProcess:
    """A client that this process started."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str], directory: str, *, keeps_errors: bool = False
    ) -> None:
        """Start the client. `keeps_errors`: its error output is shown, and its last line kept (`last_error`)."""
        for number in IGNORED:
            signal.signal(number, lambda _number, _frame: None)
        self.was_asked_to_end = False
        self.last_error = ""
        errors = subprocess.PIPE if keeps_errors else None
        try:
            self._process = subprocess.Popen(command, env=dict(env), cwd=directory, stderr=errors)
        except OSError as error:
            raise _unusable(command[0], error) from error
        self._reader = threading.Thread(target=self._pass_errors_on, daemon=True)
        if keeps_errors:
            self._reader.start()
        for number in FORWARDED:
            signal.signal(number, self._forward)

    @property
    def pid(self) -> int:
        """The process id of the client."""
        return self._process.pid

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        self.was_asked_to_end = self.was_asked_to_end or number in ENDINGS
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def _pass_errors_on(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            sys.stderr.buffer.write(line)
            sys.stderr.buffer.flush()
            self.last_error = line.decode("utf-8", "replace").strip() or self.last_error

    def _wait_for_errors(self) -> None:
        """Read the rest of the error output. Processes that the client left behind may keep it open."""
        if self._reader.is_alive():
            self._reader.join(MAX_ERROR_SECONDS)

    def wait(self) -> int:
        """Wait until the client ends; its exit code as in a shell. This process stops and continues with the client."""
        while True:
            _, status = os.waitpid(self.pid, os.WUNTRACED)
            if os.WIFSTOPPED(status):
                os.kill(os.getpid(), signal.SIGSTOP)
                self._forward(signal.SIGCONT, None)
            else:
                code = os.waitstatus_to_exitcode(status)
                self._process.returncode = code
                self._wait_for_errors()
                return code if code >= 0 else 128 - code


def _unusable(program: str, error: OSError) -> HeadspaceError:
    """The error for a program that cannot be run."""
    if error.errno in NOT_A_PROGRAM:
        why = "it is not a program for this machine: its installation is incomplete, or for another system"
    else:
        why = error.strerror or str(error)
    return ClientUnusable(
        "client_unusable",
        f"{program} cannot be run: {why}.",
        f"Install the client again, and check that `{Path(program).name} --version` works.",
    )


def pause(seconds: float) -> bool:
    """Wait between two clients. True if Ctrl+C or a signal ended the wait."""
    ended = threading.Event()
    for number in (*IGNORED, *ENDINGS):
        signal.signal(number, lambda _number, _frame: ended.set())
    return ended.wait(seconds)


# --- resume -----------------------------------------------------------------------------------------------------------


def resume_target(agent: Json, host: str) -> tuple[str, str, dict[str, str]]:
    """The session to resume, its directory and its variables. Raises an error if the agent cannot be resumed."""
    require(agent["client"], Capability.RESUME)
    if agent["state"] != "ended":
        raise BadRequest("not_ended", f"{agent['name']} is still running.", _running_hint(agent))
    return _session_target(agent, host)


def fork_target(agent: Json, host: str) -> tuple[str, str, dict[str, str]]:
    """The session to continue as a new one, its directory and its variables. The agent may run."""
    require(agent["client"], Capability.FORK)
    target = _session_target(agent, host)
    transcript = agent["session"]["transcript_path"]
    if transcript and not Path(transcript).exists():
        raise BadRequest(
            "no_conversation", f"{agent['name']} has no conversation yet.", "Start a new agent with `headspace new`."
        )
    return target


def _session_target(agent: Json, host: str) -> tuple[str, str, dict[str, str]]:
    name = agent["name"]
    if agent["host"] != host:
        raise BadRequest("elsewhere", f"{name} ran on {agent['host']}.", f"Do it there: its files are not on {host}.")
    if not agent["session_id"]:
        raise BadRequest("no_session", f"{name} never started a session.", "Start a new one with `headspace run`.")
    root = (agent.get("worktree") or agent["project"])["root"]  # never the repository instead of a removed worktree
    directory = root if not _is_directory(agent["cwd"]) else agent["cwd"]
    if not _is_directory(directory):
        raise BadRequest(
            "no_directory", f"The directory of {name} no longer exists: {directory}.", "Nothing was started."
        )
    return agent["session_id"], directory, _config_variables(agent)


def _running_hint(agent: Json) -> str:
    """How to get to an agent that runs."""
    if agent["tmux"]["pane"]:
        return f"`headspace jump {agent['name']}` switches to it."
    return closed_terminal_hint(agent) or "Use the terminal that shows it: Headspace does not know which one that is."


def closed_terminal_hint(agent: Json) -> str:
    """How to open an agent again whose terminal may be closed, while a process shared between terminals runs it."""
    return shared_session_hint(agent["client"], agent["session_id"]) if shares_process(agent["pid"]) else ""


def _is_directory(path: str | None) -> bool:
    return bool(path) and Path(str(path)).is_dir()


def _config_variables(agent: Json) -> dict[str, str]:
    """The config dir of the transcript of the session, if it is not the default one."""
    client = find_client(agent["client"]).name
    found = config_dir_of(client, (agent["session"] or {}).get("transcript_path") or "")
    if found is None or Path(found) == default_config_dirs(client=client)[0] or not _is_directory(found):
        return {}
    return config_variables(client, Path(found))


# --- in a new tmux session or window ----------------------------------------------------------------------------------


class Job(msgspec.Struct, frozen=True):
    """A `headspace` command to run in another terminal, with the environment of this process."""

    arguments: list[str]
    env: dict[str, str]
    stores_exit_code: bool = False
    """Whether the exit code is written to a file next to the job file."""


def open_session(paths: Paths, name: str, job: Job, directory: str) -> Path:
    """Start a job in a new tmux session; the path of the file for its exit code."""
    return _start_job(
        paths, job, lambda command: tmux.run_tmux("", "new-session", "-d", "-s", name, "-c", directory, "--", *command)
    )


def open_window(paths: Paths, name: str, job: Job, directory: str) -> None:
    """Start a job in a new window of the tmux session in its environment."""
    _start_job(paths, job, lambda command: tmux.open_window(command, directory, name, job.env))


def _start_job(paths: Paths, job: Job, start: Callable[[Sequence[str]], object]) -> Path:
    """Write the job file and start it. A tmux server has its own environment, so the job file contains everything."""
    paths.create_directories()
    path = paths.runtime / f"job-{uuid.uuid4().hex}.json"
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(msgspec.json.encode(job))
    try:
        start([sys.executable, "-m", "claude_headspace", "run", "--job", str(path)])
    except HeadspaceError:
        path.unlink(missing_ok=True)
        raise
    return path.with_suffix(".exit")


def read_job(path: Path) -> Job:
    """Read a job file and delete it."""
    try:
        job = msgspec.json.decode(path.read_bytes(), type=Job)
        path.unlink()
    except (OSError, msgspec.DecodeError) as error:
        raise BadRequest("no_job", f"{path} is not a job file: {error}.", "Use `headspace run`.") from error
    return job


def tmux_name(name: str) -> str:
    """A valid name of a tmux session."""
    return name.replace(".", "-").replace(":", "-")
