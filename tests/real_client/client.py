"""The real client in a real terminal: started with an empty environment in a home of its own, typed at, ended.

All clients of a test session share one tmux server, as a person's do, so that panes have different numbers. What a
client has on its screen and in its registry entry is its own truth; what Headspace makes of it is read elsewhere.
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
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psutil

from tests.real_client.program import find_client, find_tmux
from tests.support import wait_until

_OPTION = re.compile(r"^[ │❯]*(\d)\. (.*?) *$", re.MULTILINE)
API_KEY = "sk-ant-fake-0000"
KEY_PAUSE = 0.4
"""The client drops keys that come sooner than a person could press them: after a text, and when a dialog appears."""
DIALOG_PAUSE = 1.0
TRIES = 3
RETRY_SECONDS = 5.0
"""A client that is busy with itself drops keys."""


class Terminals:
    """A tmux server of its own."""

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
        """Run a tmux command; what it prints."""
        command = [self._program, "-L", self._name, "-f", "/dev/null", *arguments]
        env = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ} | {"LC_ALL": "C.UTF-8"}
        return subprocess.run(command, env=env, capture_output=True, encoding="utf-8", check=False).stdout

    def open(self, command: list[str], cwd: Path) -> tuple[str, int]:
        """Run a program in a terminal of its own: the pane and the process."""
        size = ("-x", "180", "-y", "50")
        told = ("-P", "-F", "#{pane_id} #{pane_pid}")
        # The shell of the pane fills in its own number and server, which an empty environment would lack.
        line = f'exec env -i TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" {shlex.join(command)}'
        pane, pid = self("new-session", "-d", *size, "-c", str(cwd), *told, line).split()
        return pane, int(pid)


class Home:
    """A home directory in which a client of one version feels at home: no questions at its start."""

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
        """What the client would ask at its first start."""
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
        """All that a client gets to know of the world."""
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
        """How the client is started: the environment, the program, its options."""
        env = [f"{name}={value}" for name, value in self.environment(model_url).items()]
        return [*env, str(self.program), *options]


class Client:
    """One client in its terminal."""

    def __init__(self, terminals: Terminals, home: Home, model_url: str, *options: str) -> None:
        self._terminals = terminals
        self._home = home
        self.pane, self.pid = terminals.open(home.command(model_url, *options), home.project)

    # --- what it shows ---

    @property
    def screen(self) -> str:
        """What a person sees."""
        lines = self._terminals("capture-pane", "-p", "-t", self.pane).splitlines()
        return "\n".join(line.rstrip() for line in lines if line.strip())

    @property
    def input(self) -> str:
        """What stands in the input line."""
        return next((line for line in reversed(self.screen.splitlines()) if line.startswith("❯")), "")

    def options(self) -> dict[str, str]:
        """What the open dialog offers, by the keys that choose it; nothing if there is no dialog."""
        return dict(_OPTION.findall(self.screen)) if "❯ 1." in self.screen else {}

    @property
    def entry(self) -> dict[str, Any]:
        """Its own entry in the registry."""
        try:
            found: dict[str, Any] = json.loads((self._home.config_dir / f"sessions/{self.pid}.json").read_bytes())
        except (OSError, ValueError):
            return {}
        return found

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        try:
            return psutil.Process(self.pid).status() != psutil.STATUS_ZOMBIE
        except psutil.Error:
            return False

    def wait_until_ready(self) -> None:
        """Wait for its prompt."""
        wait_until(lambda: self.entry.get("status") == "idle" and "❯" in self.screen, "the client's prompt")
        time.sleep(KEY_PAUSE)

    # --- what a person does ---

    def write(self, words: str) -> None:
        """Write a prompt, and wait until it stands there."""
        self._terminals("send-keys", "-t", self.pane, "-l", "--", words)
        wait_until(lambda: words in self.input, f"{words!r} to be written")
        time.sleep(KEY_PAUSE)

    def send(self) -> None:
        """Send what is written off; again, if the client did not take it."""
        written = self.input
        for _ in range(TRIES):
            self.press("Enter")
            with contextlib.suppress(AssertionError):
                wait_until(lambda: self.input != written, "the prompt to be taken", limit=RETRY_SECONDS)
                return

    def press(self, *keys: str) -> None:
        """Press keys, by tmux's names for them."""
        for number, key in enumerate(keys):
            time.sleep(KEY_PAUSE if number else 0)
            self._terminals("send-keys", "-t", self.pane, key)

    def kill(self) -> None:
        """End it without warning."""
        os.kill(self.pid, signal.SIGKILL)

    def close(self) -> None:
        """Take its terminal away."""
        self._terminals("kill-pane", "-t", self.pane)
