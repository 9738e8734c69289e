"""The real clients work on missions: one agent each, from the start of the client to its end."""

import subprocess
from pathlib import Path

import pytest

from tests.real_clients.homes import HOMES
from tests.real_clients.test_control import START_SECONDS, opened
from tests.support import wait_until


@pytest.mark.parametrize("name", HOMES)
def test_a_mission_is_one_agent(name: str, tmp_path: Path) -> None:
    """Also if another source than its hooks shows the client first, as the lock file of Copilot CLI does."""
    with opened(tmp_path, HOMES[name]) as workspace:
        subprocess.run(["git", "init", "-q", str(workspace.home.project)], check=True)
        workspace.in_terminal("mission", "start", "Count the tests", "--client", name)
        [worker] = wait_until(workspace.daemon.agents, "the worker", limit=START_SECONDS)
        turns = f"/api/agents/{worker['id']}/turns"
        wait_until(
            lambda: "There are 7 tests." in [turn["text"] for turn in workspace.daemon.get(turns).json()],
            "the reply of the worker",
            limit=START_SECONDS,
        )
        found = workspace.agent("idle", id=worker["id"])
        assert [each["id"] for each in workspace.daemon.agents()] == [worker["id"]]
        assert (found["client"], found["mission"] is not None, found["tmux"]["pane"] is not None) == (name, True, True)
        assert workspace.daemon.verified()
