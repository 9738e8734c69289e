"""The real client in a real terminal, with an empty environment and its own home directory.

All clients of a test session share one tmux server, as those of one user do, so that panes have different numbers.
This module reads only the client's screen and its registry entry. `board.py` reads what Headspace shows.
"""

import contextlib
import json
import os
import re
import secrets
import shlex
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil

from tests.real_client.model import Script, ScriptedModel
from tests.real_client.program import find_client, find_tmux
from tests.support import wait_until

_OPTION = re.compile(r"^[ │❯]*(\d)\. (.*?) *$", re.MULTILINE)
API_KEY = "sk-ant-fake-0000"
KEY_PAUSE = 0.4
"""The client drops keys that come faster than a person types: after a text, and when a dialog appears."""
DIALOG_PAUSE = 1.0
TRIES = 3
QUIET_SECONDS = 1.0
REGISTRY_STATUS = {"idle": ("idle", "shell"), "waiting": ("waiting", "idle"), "error": ("idle",)}
"""The client's registry status for each state. Without a daemon, scenarios wait for it."""
RETRY_SECONDS = 5.0
"""A busy client drops keys, so they are sent again."""


class Terminals:
    """A separate tmux server."""

    def __init__(self) -> None:
        self._program = find_tmux()
        self._name = f"headspace-{os.getpid()}-{secrets.token_hex(3)}"

    def __enter__(self) -> Self:
        self("new-session", "-d", "-s", "keeper", "-x", "180", "-y", "50", "cat")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        socket = self("display-message", "-p", "#{socket_path}").strip()
        self("kill-server")
        if socket:
            Path(socket).unlink(missing_ok=True)

    def __call__(self, *arguments: str) -> str:
        """Run a tmux command and return its output."""
        command = [self._program, "-L", self._name, "-f", "/dev/null", *arguments]
        env = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ} | {"LC_ALL": "C.UTF-8"}
        return subprocess.run(command, env=env, capture_output=True, encoding="utf-8", check=False).stdout

    def open(self, command: list[str], cwd: Path) -> tuple[str, int]:
        """Run a program in a new terminal; return the pane and the process id."""
        size = ("-x", "180", "-y", "50")
        output = ("-P", "-F", "#{pane_id} #{pane_pid}")
        # The shell of the pane sets TMUX and TMUX_PANE, which an empty environment lacks.
        line = f'exec env -i TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" {shlex.join(command)}'
        pane, pid = self("new-session", "-d", *size, "-c", str(cwd), *output, line).split()
        return pane, int(pid)


class Home:
    """A home directory for a client of one version. All questions of a first start are already answered."""

    client_name = "claude-code"
    model: Callable[[Script], ScriptedModel] = ScriptedModel
    """Makes the model that the client talks to."""

    def __init__(self, root: Path, version: str) -> None:
        self.root = root
        self.version = version
        self.config_dir = root / ".claude"
        self.project = root / "shop"
        self.program = find_client(version)
        self.project.mkdir(parents=True)
        self.config_dir.mkdir()
        (root / ".claude.json").write_text(json.dumps(self._answered()))
        (root / "bin").mkdir()
        (root / "bin" / "claude").symlink_to(self.program)

    def _answered(self) -> dict[str, Any]:
        """The stored answers to the questions of a first start."""
        trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        return {
            "numStartups": 3,
            "hasCompletedOnboarding": True,
            "lastReleaseNotesSeen": self.version,
            "lastOnboardingVersion": self.version,
            "theme": "dark",
            "hasSeenAutoModeEntryWarning": True,
            "hasSeenAutoDefaultNotice": True,
            "customApiKeyResponses": {"approved": [API_KEY], "rejected": []},
            "projects": {str(self.project): trusted},
        }

    def environment(self, model_url: str) -> dict[str, str]:
        """The complete environment of a client."""
        return {
            "HOME": str(self.root),
            "PATH": f"{self.root / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "SHELL": "/bin/bash",
            "IS_SANDBOX": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ANTHROPIC_BASE_URL": model_url,
            "ANTHROPIC_API_KEY": API_KEY,
        }

    def command(self, model_url: str, *options: str) -> list[str]:
        """The command line of a client: environment, program, options."""
        env = [f"{name}={value}" for name, value in self.environment(model_url).items()]
        return [*env, str(self.program), *options]

    def open_client(self, terminals: Terminals, model_url: str, *options: str) -> "Client":
        """Start a client in a terminal."""
        return Client(terminals, self, model_url, *options)

    @property
    def install_options(self) -> tuple[str, ...]:
        """The options of `headspace install` for this home, without its config dir."""
        return (f"--client-version={self.version}",)

    def end_processes(self) -> None:
        """End what clients left running, such as a daemon of their own: processes with this home directory."""
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if process.environ().get("HOME") == str(self.root):
                    process.kill()


class Client:
    """One client in its terminal."""

    def __init__(self, terminals: Terminals, home: Home, model_url: str, *options: str) -> None:
        self._terminals = terminals
        self._home = home
        self.pane, self.pid = terminals.open(home.command(model_url, *options), home.project)

    # --- what the client shows ---

    @property
    def screen(self) -> str:
        """The visible text, without empty lines."""
        lines = self._terminals("capture-pane", "-p", "-t", self.pane).splitlines()
        return "\n".join(line.rstrip() for line in lines if line.strip())

    @property
    def input(self) -> str:
        """The input line."""
        return next((line for line in reversed(self.screen.splitlines()) if line.startswith("❯")), "")

    def options(self) -> dict[str, str]:
        """The options of the open dialog by their keys; empty without a dialog."""
        return dict(_OPTION.findall(self.screen)) if "❯ 1." in self.screen else {}

    @property
    def entry(self) -> dict[str, Any]:
        """The client's registry entry."""
        try:
            found: dict[str, Any] = json.loads((self._home.config_dir / f"sessions/{self.pid}.json").read_bytes())
        except (OSError, ValueError):
            return {}
        return found

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        try:
            return psutil.Process(self.pid).status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    def shows(self, state: str, since: float) -> bool:
        """Whether the registry entry changed to a state since a time. Any change proves work, which may be short."""
        if state == "ended":
            return not self.alive
        entry = self.entry
        is_new = entry.get("statusUpdatedAt", 0) > since * 1000
        return is_new and (state == "working" or entry.get("status") in REGISTRY_STATUS[state])

    def is_quiet(self) -> bool:
        """Whether the registry entry has been stable for a while."""
        return bool(time.time() - self.entry.get("statusUpdatedAt", 0) / 1000 > QUIET_SECONDS)

    def wait_until_ready(self) -> None:
        """Wait for the prompt."""
        wait_until(lambda: self.entry.get("status") == "idle" and "❯" in self.screen, "the client's prompt")
        time.sleep(KEY_PAUSE)

    # --- what the user does ---

    def write(self, words: str) -> None:
        """Type a prompt and wait until the input line shows it."""
        self._terminals("send-keys", "-t", self.pane, "-l", "--", words)
        wait_until(lambda: words in self.input, f"{words!r} to be written")
        time.sleep(KEY_PAUSE)

    def send(self) -> None:
        """Press Enter; try again if the client dropped the key."""
        written = self.input
        for _ in range(TRIES):
            self.press("Enter")
            with contextlib.suppress(AssertionError):
                wait_until(lambda: self.input != written, "the prompt to be accepted", limit=RETRY_SECONDS)
                return

    def press(self, *keys: str) -> None:
        """Press keys, given by their tmux names."""
        for number, key in enumerate(keys):
            time.sleep(KEY_PAUSE if number else 0)
            self._terminals("send-keys", "-t", self.pane, key)

    def kill(self) -> None:
        """Kill the process."""
        os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Close the terminal."""
        self._terminals("kill-pane", "-t", self.pane)
