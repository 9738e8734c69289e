"""The real clients are started in tmux sessions of their own, forked where they can be, and stopped."""

from pathlib import Path

import pytest

from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.clients.client import Capability
from tests.real_clients.homes import HOMES
from tests.real_clients.test_control import START_SECONDS, opened
from tests.support import wait_until


@pytest.mark.parametrize("name", HOMES)
def test_a_client_is_started_forked_and_stopped(name: str, tmp_path: Path) -> None:
    """`new` delivers the prompt, `fork` makes another agent or says why not, `stop` ends the client and its session."""
    with opened(tmp_path, HOMES[name]) as workspace:
        workspace.in_terminal("new", name, "--name", "first", "--prompt", "Say hello, and no more.")

        def idle(agent: str) -> bool:
            found = [each for each in workspace.daemon.agents() if each["name"] == agent]
            return bool(found) and found[0]["state"] == "idle" and found[0]["session_id"] is not None

        def sent(agent: str, text: str) -> bool:
            return workspace.headspace("send", agent, text).returncode == 0

        wait_until(lambda: idle("first"), f"the new agent: {workspace.daemon.agents()}", limit=START_SECONDS)
        first = workspace.agent("idle", name="first")
        assert first["client"] == name
        names = ["first"]
        if CLIENTS[name].can(Capability.FORK):
            workspace.in_terminal("fork", "first", "--name", "second")
            wait_until(lambda: len(workspace.daemon.agents()) == 2, "the forked agent", limit=START_SECONDS)
            names.append("second")
            shown = ("capture-pane", "-p", "-t", "=second:")
            wait_until(lambda: "I am here." in workspace.terminals(*shown), "the conversation", limit=START_SECONDS)
            wait_until(lambda: sent("second", "Go on"), "the prompt to the forked agent", limit=START_SECONDS)
            second = next(each for each in workspace.daemon.agents() if each["name"] == "second")
            wait_until(lambda: workspace.user_turns(second)[-1:] == ["Go on"], "the turn of the forked agent")
            wait_until(lambda: idle("second"), "the forked agent to be idle")
            assert workspace.user_turns(first) == ["Say hello, and no more."]
            assert len(workspace.daemon.agents()) == 2, workspace.daemon.agents()
        else:
            refused = workspace.headspace("fork", "first")
            assert (refused.returncode, CLIENTS[name].limits[Capability.FORK] in refused.stderr) == (1, True)
        for each in names:
            stopped = workspace.headspace("stop", "--yes", each)
            assert stopped.stdout.startswith(f"{each} has ended"), (stopped.stdout, stopped.stderr)
        listed = ("list-sessions", "-F", "#{session_name}")
        wait_until(lambda: not set(workspace.terminals(*listed).split()) & set(names), "the end of the tmux sessions")
        assert workspace.daemon.verified()
