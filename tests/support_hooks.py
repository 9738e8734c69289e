"""Hooks installed by the real command in a scratch configuration directory, and run as Claude Code does.

hooks = Hooks(daemon.home)
hooks.fire("SessionStart", {"session_id": "one"})
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support import LIMIT_SECONDS, environment


class Hooks:
    """The hooks of one configuration directory, for one Headspace."""

    def __init__(self, home: Path, *options: str, config_dir: Path | None = None) -> None:
        self.home = home
        self.config_dir = config_dir or home / ".claude"
        home.mkdir(parents=True, exist_ok=True)
        self.headspace("install", "--yes", *options)

    def headspace(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a command with this configuration directory."""
        return subprocess.run(
            [sys.executable, "-m", "claude_headspace", *arguments],
            env={**environment(self.home), "CLAUDE_CONFIG_DIR": str(self.config_dir)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=LIMIT_SECONDS,
            check=True,
        )

    @property
    def settings(self) -> dict[str, Any]:
        """The content of `settings.json`."""
        found: dict[str, Any] = json.loads((self.config_dir / "settings.json").read_bytes())
        return found

    def fire(self, event: str, payload: dict[str, Any] | bytes, **env: str) -> bytes:
        """Run the hooks of an event as the client does; return their output."""
        text = payload if isinstance(payload, bytes) else json.dumps({"hook_event_name": event, **payload}).encode()
        printed = b""
        for group in self.settings["hooks"][event]:
            for hook in group["hooks"]:
                done = subprocess.run(
                    [hook["command"], *hook["args"]],
                    input=text,
                    env={"CLAUDE_PID": str(os.getpid()), **env},
                    capture_output=True,
                    timeout=LIMIT_SECONDS,
                    check=True,
                )
                assert done.stderr == b""
                printed += done.stdout
        return printed
