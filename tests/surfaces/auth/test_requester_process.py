"""The process of a requester: a person, an agent, or a process that cannot be inspected."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from claude_headspace.clients.claude_code.environment import SESSION_VARIABLE
from claude_headspace.surfaces.auth.requester_process import RequesterKind, inspect_requester

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


def test_an_exited_process_is_hidden() -> None:
    """It cannot be inspected any more, so it is not trusted."""
    with subprocess.Popen(["true"]) as process:
        pass
    assert inspect_requester(process.pid, NO_CLIENTS, unknown) is RequesterKind.HIDDEN
