"""Finds out which client a process is, by its program and its arguments.

A hook that names no client can come from another one than Claude Code: Copilot runs the hooks that a project has for
Claude Code, and scripts send hooks without a name.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath

import psutil

from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.codex import processes as codex
from claude_headspace.clients.environment import clients_in, tool_variables_of_others

SCRIPT_PROGRAMS = ("node", "bun", "deno")
"""Programs that run a client which is a script. Its path is the first argument that is not an option."""

EXEC_SECONDS = 0.2
"""How long a process may take to replace its program."""

SHARED: dict[str, Callable[[Sequence[str]], bool]] = {"codex": codex.is_shared}
"""Clients with processes that run the sessions of several terminals, recognised by their command line."""


def client_of_process(pid: int) -> str | None:
    """The client that a process is; None if it is none, or cannot be seen."""
    return client_of_command(_command_of(pid))


def innermost_client(pid: int) -> str | None:
    """The client that a process runs in: the nearest of its ancestors that is one."""
    try:
        above = psutil.Process(pid).parents()
    except (psutil.Error, OSError):
        return None
    return next(filter(None, (client_of_process(each.pid) for each in above)), None)


def environment_of(pid: int) -> Mapping[str, str]:
    """The variables of a process. Raises an error of psutil if they cannot be read.

    A process that is just starting a program shows none for a moment, so they are read again.
    """
    process, deadline = psutil.Process(pid), time.monotonic() + EXEC_SECONDS
    while not (env := process.environ()) and time.monotonic() < deadline:
        time.sleep(EXEC_SECONDS / 20)
    return env


def own_environment(env: Mapping[str, str], pid: int | None = None) -> Mapping[str, str]:
    """The variables of a process, without those that an outer client set for its tools. Default: of this process.

    In a client that another client started, the variables of both are set. Only those of the inner one say which agent
    the process belongs to.
    """
    if len(clients_in(env)) < 2:
        return env
    inner = innermost_client(os.getpid() if pid is None else pid)
    outer = tool_variables_of_others(inner, env) if inner is not None else frozenset()
    return {name: value for name, value in env.items() if name not in outer}


def is_shared_process(client: str, pid: int) -> bool:
    """Whether a process of a client runs the sessions of several terminals: then it identifies none of them."""
    find = SHARED.get(client)
    return find is not None and find(_command_of(pid))


def shares_process(pid: int | None) -> bool:
    """Whether a process of any client runs the sessions of several terminals."""
    return pid is not None and any(is_shared_process(client, pid) for client in SHARED)


def _command_of(pid: int) -> Sequence[str]:
    """The command line of a process; empty if it cannot be seen."""
    try:
        command: list[str] = psutil.Process(pid).cmdline()
    except (psutil.Error, OSError):
        return ()
    return command


def client_of_command(command: Sequence[str]) -> str | None:
    """The client that a command line runs."""
    programs = [PurePath(command[0]).name] if command else []
    if programs and programs[0] in SCRIPT_PROGRAMS:
        programs = [PurePath(each).name for each in command[1:] if not each.startswith("-")][:1]
    names = [program.removesuffix(".js").removesuffix(".exe") for program in programs]
    return next((client.name for client in CLIENTS.values() if client.program in names), None)
