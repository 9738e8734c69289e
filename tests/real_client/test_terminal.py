"""The real client reached in its terminal: what is sent arrives once, jump lands with it, resume brings it back.

Once by commands, once from the board (`headspace top`), with somebody in front of a terminal.
"""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.surfaces.supervising import GO_ON
from tests.real_client.client import KEY_PAUSE, Client, Home, Terminals
from tests.real_client.model import ScriptedModel, bash, reply, text
from tests.real_client.program import NEW, Unavailable
from tests.support import LIMIT_SECONDS, RunningDaemon, environment, running_daemon, wait_until
from tests.support_rpc import call

SEVERAL = "Three lines:\n  the second; with $(id) and 'quotes'\nand a last one;"


@dataclass
class Place:
    """A client's home with a daemon beside it, and a model that says little."""

    root: Path
    terminals: Terminals
    home: Home
    daemon: RunningDaemon
    model: ScriptedModel

    @property
    def env(self) -> dict[str, str]:
        """The environment of commands of Headspace."""
        return {**environment(self.root), "CLAUDE_CONFIG_DIR": str(self.home.config_dir)}

    def headspace(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a command beside the client."""
        return subprocess.run(
            [sys.executable, "-m", "claude_headspace", *arguments],
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=LIMIT_SECONDS,
            check=False,
        )

    def in_terminal(self, *arguments: str, **variables: str) -> str:
        """Run a command of Headspace in a terminal of its own, where it finds the client; the pane."""
        env = {**self.home.environment(self.model.url), "HEADSPACE_HOME": str(self.root), **variables}
        given = [f"{name}={value}" for name, value in env.items()]
        command = [*given, sys.executable, "-m", "claude_headspace", *arguments]
        return self.terminals.open(command, self.home.project)[0]

    def keys(self, pane: str, *keys: str) -> None:
        """Press keys, as slowly as a person."""
        time.sleep(KEY_PAUSE)
        self.terminals("send-keys", "-t", pane, *keys)

    def shows(self, pane: str, text: str) -> None:
        """Wait until a pane shows a text."""
        wait_until(lambda: text in self.terminals("capture-pane", "-p", "-t", pane), f"{text!r} on the screen")

    def in_front(self) -> str:
        """The pane that somebody has before him."""
        return self.terminals("list-clients", "-F", "#{pane_id}").strip()

    @contextlib.contextmanager
    def somebody_before(self, pane: str) -> Iterator[None]:
        """Somebody sits in front of a pane: `script` gives him a terminal."""
        socket = self.terminals("display-message", "-p", "#{socket_path}").strip()
        attach = ["script", "-qec", f"tmux -S {socket} attach -t {pane}", "/dev/null"]
        env = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        with subprocess.Popen(attach, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as person:
            try:
                wait_until(lambda: self.in_front() == pane, "somebody in front")
                yield
            finally:
                person.kill()

    def agent(self, state: str, **known: str) -> dict[str, Any]:
        """The one agent, once it is in a state."""

        def found() -> list[dict[str, Any]]:
            agents = self.daemon.agents()
            return [a for a in agents if a["state"] == state and all(a[name] == known[name] for name in known)]

        return wait_until(found, f"an agent that is {state}, among {self.daemon.agents()}")[0]

    def said(self, agent: dict[str, Any]) -> list[str]:
        """What a person said to an agent."""
        turns = self.daemon.get(f"/api/agents/{agent['id']}/turns").json()
        return [turn["text"] for turn in turns if turn["actor"] == "USER"]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Everything at hand, the hooks and the status line installed."""
    try:
        home = Home(tmp_path / "home", NEW)
        terminals = Terminals()
    except Unavailable as reason:
        pytest.skip(f"the real client cannot be run here: {reason}")
    script = {
        "Say hello": [reply(text("Hello."))],
        "Three lines": [reply(text("Read."))],
        "Fill it": [reply(bash("true")), reply(text("This would be said too late."))],
        "detailed summary": [reply(text("So would this."), held="never")],
        GO_ON: [reply(text("Going on."))],
    }
    root = tmp_path / "headspace"
    with (
        running_daemon(root, config_dirs=str(home.config_dir)) as daemon,
        ScriptedModel(script) as model,
        terminals as opened,
    ):
        made = Place(root, opened, home, daemon, model)
        options = ("--statusline", f"--client-version={NEW}", f"--config-dir={home.config_dir}")
        done = made.headspace("install", "--yes", *options)
        assert done.returncode == 0, done.stderr
        yield made


def test_a_client_is_sent_to_and_brought_back(place: Place) -> None:
    """One line and several arrive once and whole; its own status line tells its numbers; it ends, and is resumed."""
    client = Client(place.terminals, place.home, place.model.url)
    client.wait_until_ready()
    agent = place.agent("idle")
    for words in ("Say hello; and no more.", SEVERAL):
        done = place.headspace("send", agent["name"], "--", words)
        assert (done.stdout, done.stderr) == (f"{agent['name']} has it.\n", ""), client.screen
        place.agent("idle")
    assert [each.split() for each in place.said(agent)] == ["Say hello; and no more.".split(), SEVERAL.split()]
    wait_until(lambda: place.daemon.agent(agent["id"])["cost_usd"] is not None, "what it cost")
    assert place.daemon.agent(agent["id"])["context_percent"] is not None
    client.write("/exit")
    client.send()
    place.agent("ended")
    pane = place.in_terminal("resume", agent["name"])
    back = place.agent("idle", id=agent["id"])
    assert (back["session_id"], back["tmux"]["pane"]) == (agent["session_id"], pane)
    assert place.daemon.verified()


def test_a_client_is_reached_from_the_board(place: Place) -> None:
    """`run` makes one agent of placeholder and client; from `top` a prompt arrives once, enter lands in its pane from
    another session, and r brings it back after its end.
    """
    pane = place.in_terminal("run", "--name", "runner")
    agent = place.agent("idle", name="runner")
    assert len(place.daemon.agents()) == 1
    assert agent["tmux"]["pane"] == pane
    board = place.in_terminal("top")
    place.shows(board, "runner")
    place.keys(board, "s")
    place.shows(board, "to runner")
    place.keys(board, "-l", "Say hello, runner.")
    place.keys(board, "Enter")
    place.shows(board, "runner has it.")
    assert place.said(agent) == ["Say hello, runner."]
    with place.somebody_before(board):
        place.keys(board, "Enter")
        wait_until(lambda: place.in_front() == pane, "the client's pane in front")
    place.agent("idle", name="runner")
    place.keys(pane, "-l", "--", "/exit")
    place.keys(pane, "Enter")
    place.agent("ended", name="runner")
    place.shows(board, "ended")
    place.keys(board, "r")
    back = place.agent("idle", name="runner")
    assert (back["id"], back["session_id"], back["cwd"]) == (agent["id"], agent["session_id"], agent["cwd"])
    assert back["tmux"]["pane"] not in (pane, board)
    place.keys(board, "q")


def test_a_supervised_client_is_started_anew_with_what_was_handed_over(place: Place) -> None:
    """Its context is full: it is ended instead of compacted, and goes on as the same agent; `/exit` ends both."""
    here = {"cwd": str(place.home.project)}
    call(place.daemon, "effort.start", {"skill": "fix", **here})
    call(place.daemon, "effort.dehydrate", {"text": "NEXT-IS-7315", **here})
    options = ("--permission-mode", "default", "--allowedTools", "Bash")
    given = ("run", "--supervise", "--name", "phoenix", "--prompt", "Fill it", *options)
    pane = place.in_terminal(*given, CLAUDE_AUTOCOMPACT_PCT_OVERRIDE="1")
    wait_until(lambda: "Going on." in place.terminals("capture-pane", "-p", "-t", pane), "the new client to go on")
    agent = place.agent("idle", name="phoenix")
    assert agent["supervision"]["restarts"] == 1
    assert agent["supervision"]["reason"] == "its context is being compacted"
    assert "NEXT-IS-7315" in next(each for each in map(json.dumps, place.model.requests) if GO_ON in each)
    first, second = call(place.daemon, "effort.show", here)["sessions"]
    assert (second["prev_session_id"], first["end_reason"]) == (first["id"], "other")
    place.terminals("send-keys", "-t", pane, "-l", "--", "/exit")
    place.terminals("send-keys", "-t", pane, "Enter")
    place.agent("ended", name="phoenix")
    assert place.daemon.verified()
