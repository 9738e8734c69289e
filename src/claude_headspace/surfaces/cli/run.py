"""CLI commands that start a client: `run`, `resume`. They exit with its exit code."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, NamedTuple

from claude_headspace.clients.capabilities import find_client, require
from claude_headspace.clients.client import Capability, Client
from claude_headspace.clients.command_lines import (
    fork_arguments,
    headless_arguments,
    program_of,
    resume_arguments,
    split_client,
    start_arguments,
)
from claude_headspace.config import find_paths, load_settings
from claude_headspace.errors import ClientUnusable, DaemonMissing, HeadspaceError, RegistrationRefused
from claude_headspace.kernel.agent import INTERACTIVE
from claude_headspace.outputs import tmux
from claude_headspace.surfaces.cli import output
from claude_headspace.surfaces.cli.arguments.echo import echo
from claude_headspace.surfaces.cli.arguments.parameters import ForwardedArguments, Option
from claude_headspace.surfaces.cli.choose import choose_agent
from claude_headspace.surfaces.cli.options import AgentArgument, examples
from claude_headspace.surfaces.cli.worktree_run import (
    BaseOption,
    KeepWorktreeOption,
    WorktreeOption,
    enter_worktree,
    offer,
    undo_if_refused,
)
from claude_headspace.surfaces.client.api_client import ApiClient, follow
from claude_headspace.surfaces.client.role_preview import has_roles, role_problem
from claude_headspace.surfaces.client.socket_client import send_command
from claude_headspace.surfaces.launch.start_client import (
    ClientProcess,
    Job,
    client_environment,
    find_program,
    new_headspace_id,
    open_session,
    pause,
    read_job,
    resume_target,
    tmux_name,
)
from claude_headspace.surfaces.launch.supervise import Supervisor, reject_session_options

SIGNALLED = 128
"""Exit codes above it mean that a signal ended the client."""
MAX_REASON = 200
"""Characters of the reason for the end of an agent."""


@examples(
    "headspace run",
    "headspace run codex",
    "headspace run --name login-fix --model opus",
    'headspace run -d "Fix the flaky test"',
    'headspace run --supervise --prompt "Fix the flaky test"',
    'headspace run --worktree login-fix --prompt "Fix the login"',
)
def run(
    arguments: ForwardedArguments,
    name: Annotated[str, Option("--name", help="Name of the agent; default: generated.")] = "",
    role: Annotated[str | None, Option("--role", help="Role of the agent.")] = None,
    mode: Annotated[str | None, Option("--mode", help="interactive, mission or background.")] = None,
    mission: Annotated[str | None, Option("--mission", metavar="ID", help="Mission that the agent works on.")] = None,
    supervise: Annotated[
        bool, Option("--supervise", help="Restart the client with the handover when its context is used up.")
    ] = False,
    prompt: Annotated[str, Option("--prompt", help="First prompt; with --supervise only for the first client.")] = "",
    here: Annotated[bool, Option("--here", help="Use this terminal, also outside of tmux.")] = False,
    detached: Annotated[
        bool, Option("--detached", "-d", help="Start in a new tmux session without attaching to it.")
    ] = False,
    worktree: WorktreeOption = None,
    base: BaseOption = None,
    keep_worktree: KeepWorktreeOption = False,
    headless: Annotated[bool, Option("--headless", hidden=True)] = False,
    fork: Annotated[str, Option("--fork", metavar="SESSION", hidden=True)] = "",
    job: Annotated[Path | None, Option("--job", hidden=True)] = None,
) -> None:
    """Start a client as a registered agent.

    The first argument can name the client: claude, codex, opencode, copilot or gemini. Without a name, Claude Code is
    started. Inside tmux the agent runs in this pane, otherwise in a new tmux session. With --worktree it works in its
    own git worktree, on its own branch; when it ends, its work can be merged, rebased or removed. All further arguments
    are passed to the client. Exits with the code of the client, or with 3 without a daemon, 4 if the daemon rejects the
    agent, 126 if the program of the client cannot be run, 127 if it is not installed.
    """
    if job is not None:
        _run_job(job)
    client, forwarded = split_client(arguments)
    require(client.name, Capability.RUN)
    if supervise:
        require(client.name, Capability.SUPERVISE)
        reject_session_options(client.name, forwarded)
    api, program = ApiClient.local(), find_program(client)
    inside = bool(os.environ.get("TMUX"))
    place = enter_worktree(api, worktree, base) if worktree is not None else None
    name = name or (place.agent_name if place else "")
    attributes = {"name": name, "role": role, "mode": mode, "mission": mission}
    if detached or (not inside and not here and tmux.is_installed() and sys.stdin.isatty()):
        options = {**attributes, "prompt": prompt, "worktree": place.branch if place else ""}
        given = [f"--{key}={value}" for key, value in options.items() if value] + ["--supervise"] * supervise
        given += ["--keep-worktree"] * (place is not None and (detached or keep_worktree))
        _run_in_new_session(["run", client.name, *given, "--here", *forwarded], name, detached=detached)

    def command(text: str) -> list[str]:
        if fork:
            return [program, *fork_arguments(client.name, fork, forwarded, text)]
        return [program, *(headless_arguments if headless else start_arguments)(client.name, forwarded, text)]

    if fork:
        attributes["forked_session"] = fork
    with undo_if_refused(place):
        ended = _launch(api, client, command, prompt, supervise=supervise, headless=headless, **attributes)
    if place is not None and not keep_worktree and not ended.was_asked:
        offer(place)
    sys.exit(ended.code)


class Ended(NamedTuple):
    """How a client ended."""

    code: int
    pid: int
    why: str = ""
    """The last line of its error output, if that is kept."""
    was_asked: bool = False
    """Whether a signal asked it to end."""


def _launch(
    api: ApiClient,
    client: Client,
    command: Callable[[str], Sequence[str]],
    prompt: str,
    *,
    supervise: bool,
    headless: bool,
    **attributes: str | None,
) -> Ended:
    """Register the agent, run its client here, and report its end. `command` makes the command for a first prompt."""
    role, mode, mission = (attributes.get(name) for name in ("role", "mode", "mission"))
    _warn_about_role(role)
    if supervise:
        _warn_without_effort()
    headspace_id, session, directory = mission or new_headspace_id(), tmux.current_session(), str(Path.cwd())
    env = client_environment(client, api.url, headspace_id, session, role, mode, mission)
    where = {"tmux_session": session, "tmux_pane": os.environ.get("TMUX_PANE"), "wrapper_pid": os.getpid()}
    try:
        agent = api.register(headspace_id, directory, client=client.name, **where, supervised=supervise, **attributes)
    except DaemonMissing:
        raise
    except HeadspaceError as error:
        raise RegistrationRefused(error.code, error.message, error.hint) from error

    def start(restart_prompt: str | None) -> ClientProcess:
        text = prompt if restart_prompt is None else restart_prompt
        return ClientProcess(command(text), env, directory, keeps_errors=headless)

    try:
        ended = _run_supervised(agent["id"], start) if supervise else _run_once(start)
    except ClientUnusable as error:
        with suppress(HeadspaceError):
            _report_not_started(api, agent["id"], mission, error)
        raise
    reason = f"exited with {ended.code}"
    with suppress(HeadspaceError):
        api.close(agent["id"], _cut(f"{reason}: {ended.why}" if ended.why and ended.code else reason), ended.pid)
    return ended


def _report_not_started(api: ApiClient, agent_id: str, mission: str | None, error: HeadspaceError) -> None:
    """End the agent of a client that could not be started; its mission has failed."""
    if mission:
        api.finish_mission(mission, "failed", f"It could not be started: {error.message} {error.hint}")
    api.close(agent_id, _cut(f"not started: {error.message}"), None)


def _cut(reason: str) -> str:
    return reason if len(reason) <= MAX_REASON else f"{reason[: MAX_REASON - 1]}…"


NO_EFFORT = (
    "--supervise restarts the client only while it works on an effort, and there is none here yet. "
    "`headspace effort start SKILL` starts one."
)


def _warn_without_effort() -> None:
    """Print a message if no effort is active here: until there is one, the client is not restarted."""
    with suppress(HeadspaceError):
        found = send_command("effort.list", {"cwd": str(Path.cwd()), "all": False, "here": True})
        if not found["efforts"]:
            echo(NO_EFFORT, is_error=True)


def _warn_about_role(role: str | None) -> None:
    """Print a message if the role does not exist where there are roles. The session starts without its files."""
    settings, directory = load_settings(find_paths()), str(Path.cwd())
    if role and has_roles(settings, directory) and (problem := role_problem(settings, directory, role)):
        echo(problem, is_error=True)


def _run_once(start: Callable[[str | None], ClientProcess]) -> Ended:
    """Run one client."""
    process = start(None)
    code = process.wait()
    return Ended(code, process.pid, process.last_error, process.was_asked_to_end)


def _run_supervised(agent_id: str, start: Callable[[str | None], ClientProcess]) -> Ended:
    """Run clients until one ends with context left."""
    supervisor = Supervisor(ApiClient.local, agent_id)
    messages = follow(ApiClient.local, None, ["effort_changed"], agent_id=agent_id, on_reconnect=supervisor.check_all)
    effort_ids = (message.data["effort"]["id"] for message in messages if message.type == "effort_changed")
    threading.Thread(target=supervisor.check_each, args=(effort_ids,), daemon=True).start()
    code, pid = supervisor.run(start, pause)
    return Ended(code, pid, was_asked=code > SIGNALLED)


def _run_in_new_session(arguments: Sequence[str], name: str, *, detached: bool) -> None:
    """Run the command in a new tmux session and attach to it. Exits with its exit code if it ends while attached."""
    session = tmux_name(name) or f"headspace-{new_headspace_id()[:6]}"
    job = Job(list(arguments), dict(os.environ), stores_exit_code=not detached)
    exit_file = open_session(find_paths(), session, job, str(Path.cwd()))
    if not detached:
        subprocess.run(["tmux", "attach-session", "-t", session], check=False)
        if exit_file.exists():
            code = int(exit_file.read_text())
            exit_file.unlink()
            sys.exit(code)
    text = f"The agent runs in the tmux session {session}. Attach with: tmux attach -t {session}"
    output.screen().show([output.line(text)])
    sys.exit()


def _run_job(path: Path) -> None:
    """Run a job inside the new tmux session or window, and store its exit code if it is needed."""
    job = read_job(path)
    kept = {name: os.environ[name] for name in ("TMUX", "TMUX_PANE", "TERM") if name in os.environ}
    command = [sys.executable, "-m", "claude_headspace", *job.arguments]
    code = subprocess.run(command, env={**job.env, **kept}, check=False).returncode
    if job.stores_exit_code:
        path.with_suffix(".exit").write_text(str(code))
    sys.exit(code)


@examples(
    "headspace resume calm-otter",
    'headspace resume calm-otter --prompt "Go on."',
    "headspace resume calm-otter --verbose",
)
def resume(
    arguments: ForwardedArguments,
    agent: AgentArgument = None,
    prompt: Annotated[str, Option("--prompt", help="First prompt of the resumed session.")] = "",
) -> None:
    """Resume an ended agent in this terminal.

    Runs the client of the agent in the directory of the agent, for instance `claude --resume` or `codex resume`. All
    further arguments are passed to the client. Exits with the code of the client.
    """
    api = ApiClient.local()
    found = choose_agent(api, agent, first=("ended",), acts=True)
    client = find_client(found["client"])
    session_id, directory, variables = resume_target(found, load_settings(find_paths()).host_name)
    mode = found["mode"] if found["mode"] != INTERACTIVE else None
    headspace_id, session = new_headspace_id(), tmux.current_session()
    env = client_environment(client, api.url, headspace_id, session, found["role"], mode)
    command = [find_program(client), *resume_arguments(client.name, session_id, arguments, prompt)]

    def start(_restart_prompt: str | None = None) -> ClientProcess:
        return ClientProcess(command, {**env, **variables}, directory)

    if program_of(client.name).reports_resume:
        sys.exit(start().wait())
    where = {"headspace_id": headspace_id, "tmux_session": session, "tmux_pane": os.environ.get("TMUX_PANE")}
    sys.exit(_run_reported(api, found["id"], where, start))


def _run_reported(
    api: ApiClient, agent_id: str, where: dict[str, str | None], start: Callable[[str | None], ClientProcess]
) -> int:
    """Run a resumed client that does not report itself before its next prompt; its exit code.

    Without these reports the agent would be shown as ended until then, so that they are no condition for the start.
    """
    with suppress(HeadspaceError):
        api.resume(agent_id, **where, wrapper_pid=os.getpid())
    try:
        ended = _run_once(start)
    except ClientUnusable as error:
        with suppress(HeadspaceError):
            api.close(agent_id, _cut(f"not started: {error.message}"), None)
        raise
    with suppress(HeadspaceError):
        api.close(agent_id, f"exited with {ended.code}", ended.pid)
    return ended.code
