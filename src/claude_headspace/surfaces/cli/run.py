"""Commands that start Claude Code: `run`, `resume`. They exit as it does."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from claude_headspace.surfaces.cli.options import Agent, places

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from claude_headspace.surfaces.client.api_client import ApiClient, Json
    from claude_headspace.surfaces.launch.start_client import ClientProcess


def run(
    context: typer.Context,
    name: Annotated[str, typer.Option("--name", help="What the agent is called; else it gets a name.")] = "",
    role: Annotated[str | None, typer.Option("--role", help="Its role.")] = None,
    mode: Annotated[str | None, typer.Option("--mode", help="interactive, mission or background.")] = None,
    mission: Annotated[str | None, typer.Option("--mission", metavar="ID", help="The mission it works on.")] = None,
    supervise: Annotated[
        bool, typer.Option("--supervise", help="Start it anew, with what was handed over, when its context is spent.")
    ] = False,
    prompt: Annotated[str, typer.Option("--prompt", help="What to begin with; with --supervise only once.")] = "",
    here: Annotated[bool, typer.Option("--here", help="In this terminal, even outside of tmux.")] = False,
    detached: Annotated[
        bool, typer.Option("--detached", "-d", help="In a new tmux session, without showing it.")
    ] = False,
    job: Annotated[Path | None, typer.Option("--job", hidden=True)] = None,
) -> None:
    """Start Claude Code as an agent that Headspace knows from its first moment.

    Inside tmux it runs in this pane, outside of it in a new session. All further arguments are Claude Code's own. It
    exits as Claude Code does; 3: no daemon, 4: the agent is not taken, 127: there is no Claude Code.
    """
    from claude_headspace.outputs import tmux
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.launch.start_client import find_client
    from claude_headspace.surfaces.launch.supervise import reject_session_options

    if job is not None:
        _run_job(job)
    if supervise:
        reject_session_options(context.args)
    client, program = ApiClient.local(), find_client()
    inside = bool(os.environ.get("TMUX"))
    if detached or (not inside and not here and tmux.is_installed() and sys.stdin.isatty()):
        traits = {"name": name, "role": role, "mode": mode, "mission": mission, "prompt": prompt}
        given = [f"--{key}={value}" for key, value in traits.items() if value] + ["--supervise"] * supervise
        _in_new_session(["run", *given, "--here", *context.args], name, detached=detached)
    known = {"name": name, "role": role, "mode": mode, "mission": mission}
    _launch(client, [program, *context.args], prompt, supervise=supervise, **known)


def _launch(
    client: "ApiClient", command: "Sequence[str]", prompt: str, *, supervise: bool, **traits: str | None
) -> None:
    """Register the agent, run its client here, and tell when it ended."""
    from contextlib import suppress

    from claude_headspace.errors import DaemonMissing, HeadspaceError, RegistrationRefused
    from claude_headspace.outputs import tmux
    from claude_headspace.surfaces.launch.start_client import ClientProcess, client_environment, new_headspace_id
    from claude_headspace.surfaces.launch.supervise import RESTART_PROMPT

    role, mode, mission = (traits.get(name) for name in ("role", "mode", "mission"))
    headspace_id, session, directory = mission or new_headspace_id(), tmux.current_session(), str(Path.cwd())
    env = client_environment(client.url, headspace_id, session, role, mode, mission)
    where = {"tmux_session": session, "tmux_pane": os.environ.get("TMUX_PANE"), "wrapper_pid": os.getpid()}
    try:
        agent = client.register(headspace_id, directory, **where, supervised=supervise, **traits)
    except DaemonMissing:
        raise
    except HeadspaceError as error:
        raise RegistrationRefused(error.code, error.message, error.hint) from error

    def start(again: bool) -> ClientProcess:
        words = RESTART_PROMPT if again else prompt
        given = [*command, "--", words] if words else command
        return ClientProcess(given, env, directory)

    code, pid = _supervised(agent["id"], start) if supervise else _alone(start)
    with suppress(HeadspaceError):
        client.close(agent["id"], f"exited with {code}", pid)
    raise typer.Exit(code)


def _alone(start: "Callable[[bool], ClientProcess]") -> tuple[int, int]:
    """One client, once."""
    running = start(False)
    return running.wait(), running.pid


def _supervised(agent_id: str, start: "Callable[[bool], ClientProcess]") -> tuple[int, int]:
    """One client after the other, as long as their windows are spent."""
    import threading

    from claude_headspace.surfaces.client.api_client import ApiClient, follow
    from claude_headspace.surfaces.launch.start_client import pause
    from claude_headspace.surfaces.launch.supervise import Supervisor

    supervisor = Supervisor(ApiClient.local, agent_id)
    news = follow(ApiClient.local, None, ["effort_changed"], agent_id=agent_id, on_reconnect=supervisor.check_all)
    ids = (message.data["effort"]["id"] for message in news if message.type == "effort_changed")
    threading.Thread(target=supervisor.check_each, args=(ids,), daemon=True).start()
    return supervisor.run(start, pause)


def _in_new_session(arguments: "Sequence[str]", name: str, *, detached: bool) -> None:
    """Start it in a new tmux session, show that unless it is not wanted, and exit as it does if it ends meanwhile."""
    import subprocess

    from claude_headspace.surfaces.cli import output as terminal
    from claude_headspace.surfaces.launch.start_client import Job, new_headspace_id, open_session, tmux_name

    session = tmux_name(name) or f"headspace-{new_headspace_id()[:6]}"
    job = Job(list(arguments), dict(os.environ), stores_exit_code=not detached)
    exit_file = open_session(places(), session, job, str(Path.cwd()))
    if not detached:
        subprocess.run(["tmux", "attach-session", "-t", session], check=False)
        if exit_file.exists():
            code = int(exit_file.read_text())
            exit_file.unlink()
            raise typer.Exit(code)
    terminal.screen().show([terminal.line(f"It runs in the tmux session {session}: tmux attach -t {session}")])
    raise typer.Exit


def _run_job(path: Path) -> None:
    """Inside the new session or window: take the job over, and leave the exit code behind where it is waited for."""
    import subprocess

    from claude_headspace.surfaces.launch.start_client import read_job

    job = read_job(path)
    kept = {name: os.environ[name] for name in ("TMUX", "TMUX_PANE", "TERM") if name in os.environ}
    command = [sys.executable, "-m", "claude_headspace", *job.arguments]
    code = subprocess.run(command, env={**job.env, **kept}, check=False).returncode
    if job.stores_exit_code:
        path.with_suffix(".exit").write_text(str(code))
    raise typer.Exit(code)


def resume(context: typer.Context, agent: Agent) -> None:
    """Bring an ended agent back: `claude --resume` in its directory, in this terminal.

    All further arguments are Claude Code's own. It exits as Claude Code does.
    """
    from claude_headspace.config import load_settings
    from claude_headspace.kernel.agent import INTERACTIVE
    from claude_headspace.outputs import tmux
    from claude_headspace.surfaces.client.api_client import ApiClient
    from claude_headspace.surfaces.launch.start_client import (
        ClientProcess,
        client_environment,
        find_client,
        new_headspace_id,
        resume_target,
    )

    client, program = ApiClient.local(), find_client()
    found: Json = client.agent(agent)
    session_id, directory, variables = resume_target(found, load_settings(places()).host_name)
    part = found["role"], found["mode"] if found["mode"] != INTERACTIVE else None
    env = {**client_environment(client.url, new_headspace_id(), tmux.current_session(), *part), **variables}
    raise typer.Exit(ClientProcess([program, "--resume", session_id, *context.args], env, directory).wait())
