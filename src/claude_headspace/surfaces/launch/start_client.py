"""Starting Claude Code as a program of ours: with the ids that its hooks will name, and as if we were not there.

Signals reach it, its exit code is ours, and the terminal is its own. Inside tmux it runs in the pane we are in; else a
new session or window is made for it, with a job file (0600) that hands everything over: no secret stands on a command
line, and what a tmux server remembers of its own start does not matter.
"""

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

from claude_headspace.config import Paths
from claude_headspace.errors import BadRequest, ClientMissing, HeadspaceError
from claude_headspace.outputs import tmux
from claude_headspace.surfaces.text.labels import Json

IGNORED = (signal.SIGINT, signal.SIGQUIT)
"""The terminal sends these to everybody in the foreground: the client decides."""
ENDINGS = (signal.SIGTERM, signal.SIGHUP)
"""Who sends one of these wants us to end, and the client with us."""
FORWARDED = (*ENDINGS, signal.SIGUSR1, signal.SIGUSR2)


def find_client() -> str:
    """Claude Code, as the user would start it."""
    found = shutil.which("claude")
    if found is None:
        raise ClientMissing(
            "client_missing", "There is no `claude` on the PATH.", "Install Claude Code, or put it on the PATH."
        )
    return found


CLIENT_VARIABLES = (
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_SESSION_ATTENDED",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_EFFORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_SESSION_MODE",
    "CLAUDE_SESSION_ROLE",
    "COLUMNS",
    "LINES",
    "MISSION_EXECUTION_ID",
)
"""What a client tells its own tools of itself: a worker that one of them starts is another client."""


def worker_environment() -> dict[str, str]:
    """Our environment without what an agent, whose tool we may be, put into it."""
    return {name: value for name, value in os.environ.items() if name not in CLIENT_VARIABLES}


def client_environment(
    url: str,
    headspace_id: str,
    session: str | None,
    role: str | None = None,
    mode: str | None = None,
    mission: str | None = None,
) -> dict[str, str]:
    """What the client's hooks tell us by, beside all that is there; what another client was is not inherited."""
    ids = {
        "MISSION_EXECUTION_ID": mission or "",
        "CLAUDE_HEADSPACE_URL": url,
        "CLAUDE_HEADSPACE_SESSION_ID": headspace_id,
        "CLAUDE_SESSION_ID": headspace_id,
        "CLAUDE_HEADSPACE_TMUX_SESSION": session or "",
        "CLAUDE_SESSION_ROLE": role or "",
        "CLAUDE_SESSION_MODE": mode or "",
    }
    inherited = {name: value for name, value in os.environ.items() if name not in ids}
    return inherited | {name: value for name, value in ids.items() if value}


def new_headspace_id() -> str:
    """An id for an agent that is about to be started."""
    return str(uuid.uuid4())


class ClientProcess:
    """A client that we started."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], directory: str) -> None:
        for number in IGNORED:
            signal.signal(number, lambda _number, _frame: None)
        self.was_asked_to_end = False
        self._process = subprocess.Popen(command, env=dict(env), cwd=directory)
        for number in FORWARDED:
            signal.signal(number, self._hand_on)

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def _hand_on(self, number: int, _frame: FrameType | None) -> None:
        self.was_asked_to_end = self.was_asked_to_end or number in ENDINGS
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def wait(self) -> int:
        """Until it ends; its exit code as a shell tells it. While it is stopped, so are we."""
        while True:
            _, status = os.waitpid(self.pid, os.WUNTRACED)
            if os.WIFSTOPPED(status):
                os.kill(os.getpid(), signal.SIGSTOP)
                self._hand_on(signal.SIGCONT, None)
            else:
                code = os.waitstatus_to_exitcode(status)
                self._process.returncode = code
                return code if code >= 0 else 128 - code


def pause(seconds: float) -> bool:
    """Wait between two clients; whether somebody ended it meanwhile, by Ctrl+C or a signal."""
    ended = threading.Event()
    for number in (*IGNORED, *ENDINGS):
        signal.signal(number, lambda _number, _frame: ended.set())
    return ended.wait(seconds)


# --- bringing an agent back -------------------------------------------------------------------------------------------


def resume_target(agent: Json, host: str) -> tuple[str, str, dict[str, str]]:
    """The session to resume, its directory, and the variables that it needs; refused with the reason."""
    name = agent["name"]
    if agent["host"] != host:
        raise BadRequest("elsewhere", f"{name} ran on {agent['host']}.", f"Resume it there: {host} has not its files.")
    if agent["state"] != "ended":
        raise BadRequest("not_ended", f"{name} is still there.", f"`headspace jump {name}` takes you to it.")
    if not agent["session_id"]:
        raise BadRequest("no_session", f"{name} never began a session.", "Start a new one with `headspace run`.")
    directory = agent["project"]["root"] if not _is_directory(agent["cwd"]) else agent["cwd"]
    if not _is_directory(directory):
        raise BadRequest("no_directory", f"The directory of {name} is gone: {directory}.", "Nothing was started.")
    return agent["session_id"], directory, _config_variables(agent)


def _is_directory(path: str | None) -> bool:
    return bool(path) and Path(str(path)).is_dir()


def _config_variables(agent: Json) -> dict[str, str]:
    """The configuration directory that the session's transcript lies in, where that is not the one in use."""
    transcript = (agent["session"] or {}).get("transcript_path")
    above = (
        [] if not transcript else [folder.parent for folder in Path(transcript).parents if folder.name == "projects"]
    )
    usual = Path(os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude").expanduser()
    return {"CLAUDE_CONFIG_DIR": str(above[0])} if above and above[0] != usual and above[0].is_dir() else {}


# --- in a new tmux session or window ----------------------------------------------------------------------------------


class Job(msgspec.Struct, frozen=True):
    """A command of ours that is to be started elsewhere, with the environment of whoever wants it."""

    arguments: list[str]
    env: dict[str, str]
    stores_exit_code: bool = False
    """Whether somebody waits for its exit code, which then stands in a file beside the job."""


def open_session(home: Paths, name: str, job: Job, directory: str) -> Path:
    """Start a job in a new tmux session; the file in which its exit code will stand."""
    return _hand_over(
        home, job, lambda command: tmux.run_tmux("", "new-session", "-d", "-s", name, "-c", directory, "--", *command)
    )


def open_window(home: Paths, name: str, job: Job, directory: str) -> None:
    """Start a job in a new window of the tmux session that its environment names."""
    _hand_over(home, job, lambda command: tmux.open_window(command, directory, name, job.env))


def _hand_over(home: Paths, job: Job, start: Callable[[Sequence[str]], object]) -> Path:
    """A tmux server has an environment of its own, often an old one, so everything goes through a file."""
    home.create_directories()
    path = home.runtime / f"job-{uuid.uuid4().hex}.json"
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
    """What was handed over; it is there once."""
    try:
        job = msgspec.json.decode(path.read_bytes(), type=Job)
        path.unlink()
    except (OSError, msgspec.DecodeError) as error:
        raise BadRequest("no_job", f"{path} holds no job: {error}.", "Use `headspace run`.") from error
    return job


def tmux_name(name: str) -> str:
    """A session's name as tmux takes it."""
    return name.replace(".", "-").replace(":", "-")
