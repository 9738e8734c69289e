"""Which agents can be resumed, and how to get to those that run."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from claude_headspace.errors import BadRequest
from claude_headspace.surfaces.launch.start_client import resume_target


def running_agent(**known: Any) -> dict[str, Any]:
    """An agent of Codex that runs on this machine."""
    agent = {"name": "calm-otter", "client": "codex", "host": "here", "state": "idle", "session_id": "thread-1"}
    return {**agent, "pid": None, "tmux": {"session": None, "pane": None}, **known}


@pytest.fixture
def shared_pid() -> Iterator[int]:
    """A process with the command line of Codex's shared daemon."""
    command = [sys.executable, "-c", "input()", "app-server"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        yield process.pid
        process.kill()


def hint_for(agent: dict[str, Any]) -> str:
    """The hint of the refusal to resume an agent."""
    with pytest.raises(BadRequest, match="calm-otter is still running") as refused:
        resume_target(agent, "here")
    return refused.value.hint


def test_an_agent_with_a_pane_can_be_switched_to() -> None:
    """The refusal names the command."""
    agent = running_agent(tmux={"session": "s", "pane": "%1"})
    assert hint_for(agent) == "`headspace jump calm-otter` switches to it."


def test_a_session_in_a_shared_process_can_be_opened_again(shared_pid: int) -> None:
    """Its terminal is not known, and may be closed: the client itself can open it."""
    hint = hint_for(running_agent(pid=shared_pid))
    assert hint.startswith("`codex resume thread-1` opens it in this terminal.")
    assert "about a minute" in hint


def test_an_agent_without_a_pane_is_not_switched_to() -> None:
    """The refusal does not name a command that would fail."""
    assert hint_for(running_agent()).startswith("Use the terminal that shows it")
