"""The shared daemon of Codex runs the threads of several terminals, in the environment of the first of them."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from claude_headspace.clients.codex.processes import is_shared
from claude_headspace.clients.processes import is_shared_process
from claude_headspace.inputs.receive.receiver import HookReceiver
from claude_headspace.kernel.correlate import identities
from claude_headspace.kernel.envelope import Observations
from claude_headspace.testing import ManualClock

ENVIRONMENT = {
    "tmux-pane": "%1",
    "tmux-session": "work",
    "session-id": "wrapped",
    "wrapper-id": "other",
    "agent-id": "fleet",
    "role": "tester",
    "mode": "mission",
    "mission-id": "m1",
    "ancestor-pids": "1 2",
}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["/opt/codex/bin/codex", "app-server", "--listen", "unix:///x.sock"], True),
        (["codex", "-c", "features.x=true", "app-server"], True),
        (["codex"], False),
        (["codex", "resume", "--last"], False),
        (["app-server"], False),
        ([], False),
    ],
)
def test_the_command_line_shows_a_shared_process(command: list[str], expected: bool) -> None:
    """The terminal client runs no threads of others, unless it serves them."""
    assert is_shared(command) is expected


@pytest.fixture
def process(request: pytest.FixtureRequest) -> Iterator[int]:
    """A process with the command line of Codex."""
    script = "import sys; print(flush=True); sys.stdin.read()"
    command = ["codex", "-c", script, *request.param]
    with subprocess.Popen(command, executable=sys.executable, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.readline()
        yield running.pid
        running.terminate()


def observed(pid: int, client: str = "codex") -> tuple[Observations, dict[str, object]]:
    """What counts of a hook of this process, and by what its agent is found."""

    async def locate(path: str | None) -> Observations:
        return Observations(project_root=path, branch="main", commit="abc")

    async def ancestry(pid: int) -> Observations:
        return Observations(client_pid=pid, client_started_at=5, ancestor_pids=(7,))

    receiver = HookReceiver("laptop", ManualClock(), locate, ancestry)
    notes = ENVIRONMENT | {"client": client, "client-pid": str(pid)}
    headers = [(f"x-headspace-{name}".encode(), value.encode()) for name, value in notes.items()]
    body = json.dumps({"session_id": "thread-1", "cwd": "/code"}).encode()
    received = asyncio.run(receiver.receive("SessionStart", body, headers, trusted=True))
    return received.envelope.observations, dict(identities(received.envelope, received.event))


@pytest.mark.parametrize("process", [["app-server"]], indirect=True)
def test_the_environment_of_a_shared_process_does_not_count(process: int) -> None:
    """Neither terminal nor wrapper nor role. Its end ends its agents, but it identifies none: only the session does."""
    observations, known = observed(process)
    assert observations == Observations(
        client_pid=process,
        client_started_at=5,
        shared_process=True,
        project_root="/code",
        branch="main",
        commit="abc",
    )
    assert list(known) == ["session"]


@pytest.mark.parametrize("process", [[]], indirect=True)
def test_the_environment_of_a_terminal_client_counts(process: int) -> None:
    """Without its daemon, Codex runs its hooks itself."""
    observations, known = observed(process)
    assert (observations.tmux_pane, observations.headspace_id, observations.shared_process) == ("%1", "wrapped", False)
    assert list(known) == ["session", "headspace", "process", "pane", "mission"]


@pytest.mark.parametrize("process", [["app-server"]], indirect=True)
def test_only_codex_has_such_a_process(process: int) -> None:
    """An argument of another client with the same name means nothing."""
    assert is_shared_process("codex", process)
    assert not is_shared_process("claude-code", process)
    assert not is_shared_process("codex", 2**22 + 1)
