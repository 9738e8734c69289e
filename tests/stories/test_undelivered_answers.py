"""Answers to clients that get them as keystrokes: what people are told if the client did not get one."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import LIMIT_SECONDS, RunningDaemon, environment, running_daemon, wait_until

NOT_IN_TMUX = "Headspace answers this client with keys in tmux, and does not know a tmux pane of the agent."


class Gemini:
    """A client whose hooks name a pane that does not exist, or none."""

    def __init__(self, home: Path, daemon: RunningDaemon) -> None:
        self.home, self.daemon = home, daemon

    def ask(self, **headers: str) -> dict[str, Any]:
        """Show a permission dialog; the agent that waits."""
        common = {"session_id": "one", "cwd": str(self.home)}
        trusted = {**self.daemon.credentials("ingest"), "X-Headspace-Client": "gemini", **headers}
        command = {"command": "touch x"}
        self.daemon.post("before-agent", {**common, "prompt": "Go"}, trusted)
        self.daemon.post("before-tool", {**common, "tool_name": "run_shell_command", "tool_input": command}, trusted)
        asks = {"notification_type": "ToolPermission", "details": {"type": "exec", **command}}
        self.daemon.post("notification", {**common, **asks}, trusted)
        return self.agent

    @property
    def agent(self) -> dict[str, Any]:
        """The agent."""
        found: dict[str, Any] = self.daemon.agents()[0]
        return found

    @property
    def wait(self) -> dict[str, Any]:
        """The open wait."""
        found: dict[str, Any] = self.agent["waits"][0]
        return found

    def headspace(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a `headspace` command."""
        return subprocess.run(
            [sys.executable, "-m", "claude_headspace", *arguments],
            env=environment(self.home),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_SECONDS,
        )


@pytest.fixture
def gemini(tmp_path: Path) -> Iterator[Gemini]:
    """A client and the daemon that receives its hooks."""
    with running_daemon(tmp_path) as daemon:
        yield Gemini(tmp_path, daemon)


def in_a_pane(gemini: Gemini) -> str:
    """A dialog that can be answered until the pane is looked for; the name of the agent."""
    name: str = gemini.ask(**{"X-Headspace-Client-Pid": "999999", "X-Headspace-Tmux-Pane": "%999"})["name"]
    wait_until(lambda: gemini.wait["held_until"], "a wait that can be answered")
    return name


@pytest.mark.parametrize("command", ["approve", "deny"])
def test_an_answer_that_the_client_did_not_get_is_an_error(gemini: Gemini, command: str) -> None:
    """The command fails with the reason and what to do; the wait stays open and can be answered again."""
    name = in_a_pane(gemini)
    done = gemini.headspace(command, name)
    assert done.returncode != 0
    assert "The client did not receive the answer." in done.stderr
    assert "Try again, or answer it in its terminal." in done.stderr
    assert not done.stdout
    assert (gemini.wait["answered"], gemini.wait["closed_at"]) == (None, None)
    assert gemini.wait["held_until"]
    shown = " ".join(gemini.headspace("show", name).stdout.split())
    assert "was not delivered." in shown
    assert f"Try again: headspace approve {name}" in shown


def test_the_api_says_why_the_client_did_not_get_an_answer(gemini: Gemini) -> None:
    """An error with the reason, also in the wait."""
    in_a_pane(gemini)
    path = f"/api/waits/{gemini.wait['id']}/answer"
    reply = gemini.daemon.send("POST", path, {"decision": "allow"}, scope="act")
    assert (reply.status, reply.error["code"]) == (502, "answer_undelivered")
    assert gemini.wait["undelivered"]["problem"] in reply.error["message"]


def test_a_message_that_the_client_cannot_take_is_refused(gemini: Gemini) -> None:
    """Nothing is denied, and the person learns what to do instead."""
    name = in_a_pane(gemini)
    done = gemini.headspace("deny", name, "-m", "use the test database")
    assert done.returncode != 0
    assert "Gemini CLI takes no message with a denial" in done.stderr
    assert (gemini.wait["answered"], gemini.wait["undelivered"]) == (None, None)


def test_people_learn_why_a_dialog_can_be_answered_only_in_the_terminal(gemini: Gemini) -> None:
    """In the API, in `show` and in `approve`."""
    name = gemini.ask()["name"]
    wait_until(lambda: gemini.wait["obstacle"], "a reason")
    assert gemini.wait["obstacle"] == NOT_IN_TMUX
    assert NOT_IN_TMUX in " ".join(gemini.headspace("show", name).stdout.split())
    done = gemini.headspace("approve", name)
    assert done.returncode != 0
    assert NOT_IN_TMUX in " ".join(done.stderr.split())
