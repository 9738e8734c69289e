"""Requests of the real opencode: several at once, open while Headspace restarts, and imported afterwards."""

import subprocess
import sys
from pathlib import Path

from claude_headspace.outputs.held_hooks import RESTARTED
from tests.real_client.model import reply, text
from tests.real_client.workspace import Workspace
from tests.real_clients.opencode.home import PreparedHome
from tests.real_clients.opencode.scenarios import ONCE, QUESTION, bash
from tests.real_clients.terminal import TerminalClient
from tests.real_clients.test_control import START_SECONDS, opened
from tests.support import RunningDaemon, environment, running_daemon, running_daemon_in, wait_until


def prompt(workspace: Workspace, words: str) -> TerminalClient:
    """A client that works on a prompt."""
    client = workspace.home.open_client(workspace.terminals, workspace.model.url)
    assert isinstance(client, TerminalClient)
    client.wait_until_ready()
    client.write(words)
    client.send()
    return client


def test_one_of_several_permissions_is_answered_by_its_id(tmp_path: Path) -> None:
    """Nothing is answered without the id. `show` prints the ids, and all surfaces name the same request first."""
    script = {"Make both": [reply(bash("touch p1"), bash("mkdir p2")), reply(text("I made them."))]}
    with opened(tmp_path, PreparedHome, script) as workspace:
        prompt(workspace, "Make both")
        first, second = workspace.held(2)
        agent = workspace.agent("waiting")
        name, project = agent["name"], workspace.home.project
        shown = workspace.headspace("show", name).stdout
        for wait in (first, second):
            assert f"headspace approve {name} -w {wait['id']}" in shown
        assert shown.index(first["id"]) < shown.index(second["id"])
        refused = workspace.headspace("approve", name, "--yes")
        assert (refused.returncode != 0, "Nothing was answered." in refused.stderr) == (True, True)
        assert f"-w {second['id']}" in refused.stderr
        listed = workspace.headspace("list").stdout
        assert f"{first['summary']} (and 1 more)" in listed

        done = workspace.headspace("approve", name, "--yes", "-w", second["id"])
        assert done.returncode == 0, done.stderr
        named = {"touch p1": "p1", "mkdir p2": "p2"}
        wait_until((project / named[second["summary"]]).exists, "the second command")
        assert not (project / named[first["summary"]]).exists()
        assert workspace.headspace("approve", name, "--yes").returncode == 0
        wait_until((project / named[first["summary"]]).exists, "the first command")
        workspace.agent("idle", name=name)


def test_a_background_mission_has_its_goal_without_quotes(tmp_path: Path) -> None:
    """The prompt that the model gets is the goal."""
    with opened(tmp_path, PreparedHome) as workspace:
        subprocess.run(["git", "init", "-q", str(workspace.home.project)], check=True)
        workspace.in_terminal("mission", "start", "Count the tests", "--client", "opencode", "--background")
        worker = wait_until(
            lambda: [each for each in workspace.daemon.agents() if each["mission"]], "the worker", limit=START_SECONDS
        )[0]
        workspace.agent("ended", id=worker["id"])
        assert workspace.user_turns(worker)[0].startswith("Count the tests")


def test_a_question_is_imported_with_its_answer(tmp_path: Path) -> None:
    """A Headspace that never saw the session has the same turns as the one that saw it."""
    script = {"Paint it": [reply(QUESTION), reply(text("I painted it."))]}
    with opened(tmp_path / "first", PreparedHome, script) as workspace:
        client = prompt(workspace, "Paint it")
        workspace.held()
        name = workspace.agent("waiting")["name"]
        assert workspace.headspace("answer", name, "Blue").returncode == 0
        wait_until(lambda: "I painted it." in client.screen, "the reply")
        workspace.agent("idle", name=name)
        seen = turn_texts(workspace.daemon, name)
        client.press("C-c")
        workspace.agent("ended", name=name)
        fresh = tmp_path / "fresh"
        env = {**environment(fresh), "XDG_DATA_HOME": str(workspace.home.root / ".local/share")}
        with running_daemon_in(fresh, env) as daemon:
            command = [sys.executable, "-m", "claude_headspace", "import"]
            subprocess.run(command, env=env, stdin=subprocess.DEVNULL, check=True)
            [imported] = daemon.get("/api/agents?ended=true").json()
            assert turn_texts(daemon, imported["id"]) == seen
            assert ("QUESTION", "Which colour?") in seen
            assert ("ANSWER", "Blue") in seen


def test_a_dialog_that_was_open_during_a_restart_says_why(tmp_path: Path) -> None:
    """`show` offers no grant and `approve` gives the reason. The terminal still answers it."""
    script = {"Make it": [reply(bash("touch made")), reply(text("I made it."))]}
    with opened(tmp_path, PreparedHome, script) as workspace:
        client = prompt(workspace, "Make it")
        workspace.held()
        name = workspace.agent("waiting")["name"]
        workspace.daemon.process.terminate()
        workspace.daemon.process.wait()
        with running_daemon(workspace.root) as daemon:
            wait_until(lambda: [each for each in daemon.agents() if each["state"] == "waiting"], "the agent")
            shown = workspace.headspace("show", name).stdout
            assert RESTARTED in shown
            assert "--grant" not in shown
            refused = workspace.headspace("approve", name, "--yes")
            assert (refused.returncode != 0, RESTARTED in refused.stderr) == (True, True), refused
            client.press(ONCE)
            wait_until((workspace.home.project / "made").exists, "the command")
            wait_until(lambda: [each for each in daemon.agents() if each["state"] == "idle"], "the end of the turn")


def turn_texts(daemon: RunningDaemon, agent: str) -> list[tuple[str, str]]:
    """The turns of an agent."""
    return [(turn["intent"], turn["text"]) for turn in daemon.get(f"/api/agents/{agent}/turns").json()]
