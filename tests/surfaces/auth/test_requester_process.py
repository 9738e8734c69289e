"""The process of a requester: a person, an agent, or a process that cannot be inspected."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import psutil
import pytest

from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.claude_code.environment import SESSION_VARIABLE
from claude_headspace.surfaces.auth.requester_process import (
    RequesterKind,
    inspect_holders,
    inspect_requester,
    session_in,
)
from tests.support import wait_until

NO_CLIENTS: frozenset[int] = frozenset()


def unknown(_session: str) -> bool:
    """No session is known."""
    return False


@pytest.fixture
def family() -> Iterator[tuple[int, int]]:
    """A process with a session in its environment, and its child without one: `env -u` in a tool call."""
    child = "import sys; sys.stdin.read()"
    parent = (
        "import os, subprocess, sys; env = dict(os.environ); del env[sys.argv[2]];"
        "p = subprocess.Popen([sys.executable, '-c', sys.argv[1]], env=env); print(p.pid, flush=True); p.wait()"
    )
    command = [sys.executable, "-c", parent, child, SESSION_VARIABLE]
    env = {**os.environ, SESSION_VARIABLE: "known"}
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env) as process:
        assert process.stdout is not None
        yield process.pid, int(process.stdout.readline())
        assert process.stdin is not None
        process.stdin.close()


def test_a_process_outside_of_clients_is_a_person() -> None:
    """Nothing shows that an agent started it."""
    assert inspect_requester(os.getpid(), NO_CLIENTS, unknown) is RequesterKind.PERSON


def test_a_descendant_of_a_client_is_an_agent(family: tuple[int, int]) -> None:
    """At any depth."""
    assert inspect_requester(family[1], {os.getpid()}, unknown) is RequesterKind.AGENT


def test_a_session_in_the_environment_marks_an_agent(family: tuple[int, int]) -> None:
    """In its own environment any session counts, in that of an ancestor one that is known."""
    parent, child = family
    assert inspect_requester(parent, NO_CLIENTS, unknown) is RequesterKind.AGENT
    assert inspect_requester(child, NO_CLIENTS, unknown) is RequesterKind.PERSON
    assert inspect_requester(child, NO_CLIENTS, "known".__eq__) is RequesterKind.AGENT


def test_an_exited_process_is_not_trusted() -> None:
    """It cannot be inspected any more. What else has its socket decides, and nothing is trusted if there is nothing."""
    with subprocess.Popen(["true"]) as process:
        pass
    assert inspect_requester(process.pid, NO_CLIENTS, unknown) is RequesterKind.EXITED
    assert inspect_holders([process.pid], NO_CLIENTS, unknown) is RequesterKind.HIDDEN
    assert inspect_holders([process.pid, os.getpid()], NO_CLIENTS, unknown) is RequesterKind.PERSON


def test_one_agent_among_the_processes_with_a_socket_is_enough(family: tuple[int, int]) -> None:
    """Then the request is that of an agent."""
    assert inspect_holders([os.getpid(), family[0]], NO_CLIENTS, unknown) is RequesterKind.AGENT


INSIDE = {
    "claude-code": {"CLAUDE_CODE_SESSION_ID": "s", "CLAUDECODE": "1"},
    "codex": {"CODEX_THREAD_ID": "t", "CODEX_SESSION_ID": "t", "CODEX_CI": "1"},
    "copilot": {"COPILOT_CLI": "1", "COPILOT_AGENT_SESSION_ID": "s", "COPILOT_LOADER_PID": "1"},
    "gemini": {"GEMINI_CLI": "1"},
    "opencode": {"OPENCODE": "1", "OPENCODE_PID": "1", "AGENT": "1"},
}
"""The variables in the shells of each client, as measured."""


@pytest.mark.parametrize("client", CLIENTS)
def test_the_shell_of_every_client_is_an_agents(client: str) -> None:
    """Also if the client does not put its session into a variable."""
    with sleeping(INSIDE[client]) as pid:
        assert inspect_requester(pid, NO_CLIENTS, unknown) is RequesterKind.AGENT


@pytest.mark.parametrize(("outer", "inner"), [("claude-code", "codex"), ("codex", "claude-code"), ("copilot", "codex")])
def test_a_client_in_a_client_has_its_own_session(outer: str, inner: str) -> None:
    """The variables of both are set. The nearest client process decides whose they are."""
    env = INSIDE[outer] | INSIDE[inner] | {CLIENTS[inner].session_variable or "": "inner"}
    with sleeping(env, CLIENTS[outer].program, CLIENTS[inner].program) as pid:
        assert session_in(psutil.Process(pid)) == "inner"


def test_a_client_without_a_session_variable_does_not_use_that_of_an_outer_client() -> None:
    """Otherwise its tools would act as the outer agent."""
    with sleeping(INSIDE["claude-code"] | INSIDE["gemini"], "claude", "gemini") as pid:
        assert session_in(psutil.Process(pid)) is None


@contextmanager
def sleeping(env: dict[str, str], outer: str = "bash", inner: str = "bash") -> Iterator[int]:
    """A process with these variables, which the inner program started, which the outer one started."""
    script = f"(exec -a {inner} bash -c 'sleep 600 & echo $!; wait'); true"
    start = partial(subprocess.Popen, executable="/bin/bash", stdout=subprocess.PIPE, env={**os.environ, **env})
    with start([outer, "-c", script]) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        wait_until(lambda: _has_started(pid), "the start of the process")
        yield pid
        os.kill(pid, signal.SIGKILL)


def _has_started(pid: int) -> bool:
    """Whether the process runs its program. While the system replaces the program, it has no variables."""
    process = psutil.Process(pid)
    return process.name() == "sleep" and bool(process.environ())
