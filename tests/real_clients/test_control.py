"""The real clients are started, prompted, interrupted and resumed by Headspace."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.clients.command_lines import PROGRAMS
from tests.real_client.client import Terminals
from tests.real_client.model import Script, reply, text
from tests.real_client.program import Unavailable
from tests.real_client.workspace import Workspace
from tests.real_clients.homes import HOMES, CopilotHome, OtherHome
from tests.support import running_daemon, wait_until

SEVERAL = "? Three lines:\n  the second; with $(id) and 'quotes'\nand a last one;"
START_SECONDS = 180.0
"""opencode installs a package at its first start."""
SCRIPT: Script = {
    "Say hello": [reply(text("Hello, I am here."))],
    "Three lines": [reply(text("I have read them."))],
    "Write a poem": [reply(text("Roses are red and more follows later."), streams="never")],
    "Go on": [reply(text("I went on."))],
    "Count the tests": [reply(text("There are 7 tests."))],
}


@contextmanager
def opened(folder: Path, make_home: type[OtherHome], script: Script | None = None) -> Iterator[Workspace]:
    """A workspace of a client with installed hooks and a scripted model."""
    try:
        home, terminals = make_home(folder / "home"), Terminals()
    except Unavailable as reason:
        pytest.skip(f"{make_home.client_name} cannot be run here: {reason}")
    root = folder / "headspace"
    with running_daemon(root) as daemon, home.model(script or SCRIPT) as model, terminals as open_terminals:
        made = Workspace(root, open_terminals, home, daemon, model)
        done = made.headspace("install", "--yes", *home.install_options, f"--config-dir={home.config_dir}")
        assert done.returncode == 0, done.stderr
        home.prepare(model.url)
        try:
            yield made
        finally:
            home.end_processes()


def screen(workspace: Workspace, pane: str) -> str:
    """What a pane shows."""
    return workspace.terminals("capture-pane", "-p", "-t", pane)


def shows_input_box(workspace: Workspace, pane: str) -> bool:
    """Whether a client is ready for its first prompt."""
    assert isinstance(workspace.home, OtherHome)
    return re.search(workspace.home.patterns.ready, screen(workspace, pane), re.MULTILINE) is not None


def turns(workspace: Workspace, agent: dict[str, Any]) -> list[list[str]]:
    """The words of the user's turns, without the way in which lines were broken."""
    return [each.split() for each in workspace.user_turns(agent)]


@pytest.mark.parametrize("name", HOMES)
def test_a_client_is_run_prompted_interrupted_and_resumed(name: str, tmp_path: Path) -> None:
    """`run` registers the agent, each prompt arrives once, Esc stops the turn, and `resume` continues the session."""
    with opened(tmp_path, HOMES[name]) as workspace:
        pane = workspace.in_terminal("run", name, "--name", "runner")
        wait_until(lambda: shows_input_box(workspace, pane), "the input box", limit=START_SECONDS)
        done = workspace.headspace("send", "runner", "--", "Say hello, and no more.")
        assert (done.stdout, done.stderr) == ("runner received the prompt.\n", ""), screen(workspace, pane)
        agent = workspace.agent("idle", name="runner")
        assert len(workspace.daemon.agents()) == 1, workspace.daemon.agents()
        assert (agent["client"], agent["tmux"]["pane"]) == (name, pane)

        done = workspace.headspace("send", "runner", "--", SEVERAL)
        assert (done.stdout, done.stderr) == ("runner received the prompt.\n", ""), screen(workspace, pane)
        workspace.agent("idle", name="runner")
        assert turns(workspace, agent) == ["Say hello, and no more.".split(), SEVERAL.split()]

        workspace.keys(pane, "-l", "half a thought")
        workspace.shows(pane, "half a thought")
        refused = workspace.headspace("send", "runner", "Say hello")
        assert "has a draft in its input box: “half a thought”" in refused.stderr
        workspace.keys(pane, *["BSpace"] * 14)
        wait_until(lambda: "half a" not in screen(workspace, pane), "the empty input box")

        assert workspace.headspace("send", "runner", "Write a poem").returncode == 0
        workspace.agent("working", name="runner")
        workspace.shows(pane, "Roses")
        done = workspace.headspace("interrupt", "runner")
        assert "runner" in done.stdout, done.stderr
        workspace.agent("idle", name="runner")
        refused = workspace.headspace("interrupt", "runner")
        assert "doing nothing that could be interrupted" in refused.stderr

        workspace.headspace("send", "runner", "/quit" if name in ("codex", "gemini") else "/exit")
        ended = workspace.agent("ended", name="runner")
        prompt = ("--prompt", "Go on") if PROGRAMS[name].prompts_resumed else ()
        pane = workspace.in_terminal("resume", "runner", *prompt)
        if not prompt:
            wait_until(lambda: shows_input_box(workspace, pane), "the input box", limit=START_SECONDS)
            workspace.agent("idle", id=agent["id"])
            done = workspace.headspace("send", "runner", "Go on")
            assert (done.stdout, done.stderr) == ("runner received the prompt.\n", ""), screen(workspace, pane)
        wait_until(lambda: turns(workspace, agent)[-1] == ["Go", "on"], "the prompt of the resumed session")
        back = workspace.agent("idle", id=agent["id"])
        assert (back["session_id"], back["tmux"]["pane"]) == (ended["session_id"], pane)
        assert workspace.daemon.verified()


def test_copilot_receives_prompts_before_it_reports(tmp_path: Path) -> None:
    """A client that was just started or resumed has a state and a pane, although no hook has fired yet."""
    with opened(tmp_path, CopilotHome) as workspace:
        client = workspace.home.open_client(workspace.terminals, workspace.model.url)
        client.wait_until_ready()
        agent = workspace.agent("idle")
        done = workspace.headspace("send", agent["name"], "--", "Say hello")
        assert (done.returncode, done.stderr) == (0, ""), client.screen
        wait_until(lambda: turns(workspace, agent) == [["Say", "hello"]], "the prompt")
        workspace.agent("idle", id=agent["id"])
        workspace.headspace("send", agent["name"], "/exit")
        workspace.agent("ended", id=agent["id"])

        pane = workspace.in_terminal("resume", agent["name"])
        back = workspace.agent("idle", id=agent["id"])
        assert back["tmux"]["pane"] == pane
        wait_until(lambda: shows_input_box(workspace, pane), "the input box", limit=START_SECONDS)
        done = workspace.headspace("send", agent["name"], "--", "Go on")
        assert (done.returncode, done.stderr) == (0, ""), screen(workspace, pane)
        wait_until(lambda: turns(workspace, agent) == [["Say", "hello"], ["Go", "on"]], "the second prompt")
        assert len(workspace.daemon.agents()) == 1
