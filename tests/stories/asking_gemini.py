"""A simulated Gemini CLI that asks for permission. Its pane does not exist, so no answer reaches it."""

import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.support import LIMIT_SECONDS, RunningDaemon, environment, wait_until


class AskingGemini:
    """A client whose hooks name a pane that does not exist, or none."""

    def __init__(self, home: Path, daemon: RunningDaemon) -> None:
        self.home, self.daemon = home, daemon
        self._process = subprocess.Popen(["sleep", "600"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._process.kill()
        self._process.wait()

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

    def ask_in_pane(self) -> str:
        """Show a dialog that seems answerable until the pane is looked for; the name of the agent."""
        place = {"X-Headspace-Client-Pid": str(self._process.pid), "X-Headspace-Tmux-Pane": "%999"}
        name: str = self.ask(**place)["name"]
        wait_until(lambda: self.wait["held_until"], "a wait that can be answered")
        return name

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
