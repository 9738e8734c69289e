"""Headspace starts the real Codex without its shared daemon, also while that daemon runs."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.real_client.workspace import Workspace
from tests.real_clients.homes import CodexDaemonHome
from tests.real_clients.test_control import START_SECONDS, opened, screen, shows_input_box
from tests.support import wait_until


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A workspace where a terminal already uses the daemon of Codex."""
    with opened(tmp_path, CodexDaemonHome) as made:
        first = made.home.open_client(made.terminals, made.model.url)
        first.wait_until_ready()
        wait_until(made.daemon.agents, "the agent in the daemon of Codex")
        yield made


def is_in_pane(pid: int, pane: str) -> bool:
    """Whether a process is a Codex of its own that was started in a pane."""
    process = psutil.Process(pid)
    return "--no-daemon" in process.cmdline() and process.environ()["TMUX_PANE"] == pane


def test_run_and_resume(workspace: Workspace) -> None:
    """The agent has its own process and pane, and a resumed session is the same agent."""
    pane = workspace.in_terminal("run", "codex", "--name", "runner")
    wait_until(lambda: shows_input_box(workspace, pane), "the input box", limit=START_SECONDS)
    done = workspace.headspace("send", "runner", "Say hello")
    assert done.stdout == "runner received the prompt.\n", (done.stderr, screen(workspace, pane))
    agent = workspace.agent("idle", name="runner")
    assert agent["tmux"]["pane"] == pane
    assert is_in_pane(agent["pid"], pane)

    workspace.headspace("send", "runner", "/quit")
    workspace.agent("ended", name="runner")
    pane = workspace.in_terminal("resume", "runner", "--prompt", "Go on")
    wait_until(lambda: "I went on." in screen(workspace, pane), "the reply", limit=START_SECONDS)
    back = workspace.agent("idle", name="runner")
    assert (back["id"], back["session_id"], back["tmux"]["pane"]) == (agent["id"], agent["session_id"], pane)
    assert is_in_pane(back["pid"], pane)


@pytest.mark.parametrize("options", [(), ("--background",)])
def test_a_mission(workspace: Workspace, options: tuple[str, ...]) -> None:
    """Its worker works on the goal."""
    subprocess.run(["git", "init", "-q", str(workspace.home.project)], check=True)
    workspace.in_terminal("mission", "start", "Count the tests", "--client", "codex", *options)
    worker = wait_until(
        lambda: [each for each in workspace.daemon.agents() if each["mission"]], "the worker", limit=START_SECONDS
    )[0]
    workspace.agent("ended" if options else "idle", id=worker["id"])
    turns = workspace.daemon.get(f"/api/agents/{worker['id']}/turns").json()
    assert "There are 7 tests." in [turn["text"] for turn in turns]
