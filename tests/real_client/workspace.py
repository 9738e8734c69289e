"""A workspace for one test: a client's home, a daemon, installed hooks and a scripted model."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.real_client.client import KEY_PAUSE, Client, Home, Terminals
from tests.real_client.model import Script, ScriptedModel
from tests.real_client.program import NEW, Unavailable
from tests.support import LIMIT_SECONDS, RunningDaemon, environment, running_daemon, wait_until


@dataclass
class Workspace:
    """A client's home, its terminals, a daemon and a scripted model."""

    root: Path
    terminals: Terminals
    home: Home
    daemon: RunningDaemon
    model: ScriptedModel

    @property
    def env(self) -> dict[str, str]:
        """The environment for `headspace` commands."""
        return {**environment(self.root), "CLAUDE_CONFIG_DIR": str(self.home.config_dir)}

    def client(self, *options: str) -> Client:
        """Start a client in a terminal and wait for its prompt."""
        made = Client(self.terminals, self.home, self.model.url, *options)
        made.wait_until_ready()
        return made

    def headspace(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a `headspace` command in the project, outside the client."""
        return subprocess.run(
            [sys.executable, "-m", "claude_headspace", *arguments],
            cwd=self.home.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=LIMIT_SECONDS,
            check=False,
        )

    def in_terminal(self, *arguments: str, **variables: str) -> str:
        """Run a `headspace` command in a new terminal, with the client on its PATH; return the pane."""
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

    def pane_in_front(self) -> str:
        """The pane in front of the attached user."""
        return self.terminals("list-clients", "-F", "#{pane_id}").strip()

    @contextmanager
    def user_in_front_of(self, pane: str) -> Iterator[None]:
        """Attach a user to a pane: `script` provides the terminal."""
        socket = self.terminals("display-message", "-p", "#{socket_path}").strip()
        attach = ["script", "-qec", f"tmux -S {socket} attach -t {pane}", "/dev/null"]
        env = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}
        with subprocess.Popen(attach, env=env, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as person:
            try:
                wait_until(lambda: self.pane_in_front() == pane, "the attached user")
                yield
            finally:
                person.kill()

    def agent(self, state: str, **known: str) -> dict[str, Any]:
        """Wait for an agent in this state."""

        def found() -> list[dict[str, Any]]:
            agents = self.daemon.agents()
            return [a for a in agents if a["state"] == state and all(a[name] == known[name] for name in known)]

        return wait_until(found, f"an agent that is {state}, among {self.daemon.agents()}")[0]

    def user_turns(self, agent: dict[str, Any]) -> list[str]:
        """The texts of the user's turns."""
        turns = self.daemon.get(f"/api/agents/{agent['id']}/turns").json()
        return [turn["text"] for turn in turns if turn["actor"] == "USER"]

    def held(self, number: int = 1) -> list[dict[str, Any]]:
        """Wait until this many waits can be answered through Headspace."""

        def found() -> list[dict[str, Any]]:
            waits = self.daemon.get("/api/waits").json()
            open_ones = [wait for wait in waits if wait["held_until"] and not wait["answered"]]
            return open_ones if len(open_ones) == number else []

        return wait_until(found, f"{number} waits that can be answered")


@contextmanager
def open_workspace(folder: Path, script: Script, version: str = NEW, **settings: object) -> Iterator[Workspace]:
    """A workspace with the hooks and the status line installed."""
    try:
        home = Home(folder / "home", version)
        terminals = Terminals()
    except Unavailable as reason:
        pytest.skip(f"the real client cannot be run here: {reason}")
    root = folder / "headspace"
    with (
        running_daemon(root, config_dirs=str(home.config_dir), **settings) as daemon,
        ScriptedModel(script) as model,
        terminals as opened,
    ):
        made = Workspace(root, opened, home, daemon, model)
        options = ("--statusline", f"--client-version={version}", f"--config-dir={home.config_dir}")
        done = made.headspace("install", "--yes", *options)
        assert done.returncode == 0, done.stderr
        yield made
