"""Inspects the process that sends a request: does it belong to an agent?

Rules
- A process belongs to an agent if it is a client, descends from one, or has variables that clients set for their tools.
  An ancestor with the session of a known agent counts too: `env -u` removes the variable from a child only.
- A process that the tmux server runs without a terminal (`run-shell`, `if-shell`, `#()`) can be started by anyone who
  can use tmux, which includes agents. It does not show who started it.
- A process that exits or hides while it is inspected is not trusted. If it has exited, the others that have its socket
  are inspected instead: it can be one that the sender had just forked, and that did not send anything.
"""

from collections.abc import Callable, Collection, Iterable
from enum import Enum
from itertools import pairwise
from pathlib import Path

import psutil

from claude_headspace.clients import environment
from claude_headspace.clients.processes import own_environment

TMUX = "tmux"
"""How the name of a tmux server starts: `tmux: server`."""


class RequesterKind(Enum):
    """What kind of process sends a request."""

    PERSON = "person"
    """Nothing shows that an agent started it."""
    AGENT = "agent"
    TMUX_JOB = "tmux job"
    """The tmux server started it, without a terminal."""
    HIDDEN = "hidden"
    """It cannot be inspected."""
    EXITED = "exited"


def inspect_requester(pid: int, clients: Collection[int], knows_session: Callable[[str], bool]) -> RequesterKind:
    """What kind of process sends a request."""
    try:
        process = psutil.Process(pid)
        above = process.parents()
        is_inside = environment.is_inside_client(process.environ())
        if not process.is_running():
            return RequesterKind.EXITED
    except (psutil.NoSuchProcess, ProcessLookupError):
        return RequesterKind.EXITED
    except (psutil.Error, OSError):
        return RequesterKind.HIDDEN
    if is_inside or any(each.pid in clients for each in (process, *above)):
        return RequesterKind.AGENT
    if any((found := session_in(each)) and knows_session(found) for each in above):
        return RequesterKind.AGENT
    return RequesterKind.TMUX_JOB if _is_tmux_job([process, *above]) else RequesterKind.PERSON


def inspect_holders(
    pids: Iterable[int], clients: Collection[int], knows_session: Callable[[str], bool]
) -> RequesterKind:
    """What kind of process sends a request, by all processes that have its socket: a person only if all of them are."""
    kinds = {inspect_requester(pid, clients, knows_session) for pid in pids} - {RequesterKind.EXITED}
    others = kinds - {RequesterKind.PERSON}
    return min(others or kinds or {RequesterKind.HIDDEN}, key=list(RequesterKind).index)


def session_in(process: psutil.Process) -> str | None:
    """The client's session in the environment of a process; None if it has none or belongs to another user."""
    try:
        return environment.session_in(own_environment(process.environ(), process.pid))
    except (psutil.Error, OSError):
        return None


def _is_tmux_job(line: list[psutil.Process]) -> bool:
    """Whether a tmux server started a process without a terminal. The first shell of a pane has one."""
    return any(_is_tmux(parent) and not _has_terminal(child.pid) for child, parent in pairwise(line))


def _is_tmux(process: psutil.Process) -> bool:
    try:
        return process.name().startswith(TMUX)
    except psutil.Error:
        return False


def _has_terminal(pid: int) -> bool:
    """Whether a process has a controlling terminal. True if /proc is not readable."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].split()
    except OSError:
        return True
    return fields[4] != b"0"
