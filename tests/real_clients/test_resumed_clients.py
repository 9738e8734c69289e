"""The real clients that report a session late are resumed: their agents are back at once, in their new terminal."""

from pathlib import Path

import pytest

from tests.real_client.workspace import Workspace
from tests.real_clients.homes import CodexDaemonHome, CodexHome, OtherHome
from tests.real_clients.opencode.home import PreparedHome
from tests.real_clients.test_control import START_SECONDS, opened, screen, shows_input_box, turns
from tests.support import wait_until


def session_of(workspace: Workspace, pane: str) -> str:
    """The tmux session of a pane."""
    return workspace.terminals("display-message", "-p", "-t", pane, "#{session_name}").strip()


def wait_for_box(workspace: Workspace, pane: str) -> None:
    """Wait for the input box of a client."""
    wait_until(lambda: shows_input_box(workspace, pane), "the input box", limit=START_SECONDS)


@pytest.mark.parametrize("make_home", [CodexHome, PreparedHome])
def test_an_agent_is_back_before_its_next_prompt(make_home: type[OtherHome], tmp_path: Path) -> None:
    """It is idle with its new pane and tmux session, receives a prompt, and ends with its client."""
    with opened(tmp_path, make_home) as workspace:
        first = workspace.in_terminal("run", make_home.client_name, "--name", "runner")
        wait_for_box(workspace, first)
        assert workspace.headspace("send", "runner", "Say hello").returncode == 0, screen(workspace, first)
        agent = workspace.agent("idle", name="runner")
        assert agent["tmux"]["session"] == session_of(workspace, first)
        workspace.headspace("send", "runner", "/exit")
        workspace.agent("ended", name="runner")

        pane = workspace.in_terminal("resume", "runner")
        wait_for_box(workspace, pane)
        back = workspace.agent("idle", name="runner")
        assert (back["id"], back["session_id"]) == (agent["id"], agent["session_id"])
        assert (back["tmux"]["pane"], back["tmux"]["session"]) == (pane, session_of(workspace, pane))
        refused = workspace.headspace("resume", "runner")
        assert "`headspace jump runner` switches to it." in refused.stderr
        done = workspace.headspace("send", "runner", "Go on")
        assert done.returncode == 0, (done.stderr, screen(workspace, pane))
        wait_until(lambda: turns(workspace, agent)[-1] == ["Go", "on"], "the prompt of the resumed session")
        workspace.agent("idle", name="runner")
        workspace.headspace("send", "runner", "/exit")
        workspace.agent("ended", name="runner")
        assert len(workspace.daemon.agents()) == 1
        assert workspace.daemon.verified()


def test_a_session_in_the_daemon_of_codex_is_opened_by_codex(tmp_path: Path) -> None:
    """Its terminal was quit, but it runs on: `resume` and `jump` name the command that opens it."""
    with opened(tmp_path, CodexDaemonHome) as workspace:
        client = workspace.home.open_client(workspace.terminals, workspace.model.url)
        client.wait_until_ready()
        client.write("Say hello")
        client.send()
        wait_until(lambda: "Hello, I am here." in client.screen, "the reply")
        agent = workspace.agent("idle")
        client.write("/quit")
        client.send()
        wait_until(lambda: not client.alive, "the end of the terminal")
        for command in ("resume", "jump"):
            refused = workspace.headspace(command, agent["name"])
            assert refused.returncode != 0
            assert f"`codex resume {agent['session_id']}` opens it in this terminal." in refused.stderr
