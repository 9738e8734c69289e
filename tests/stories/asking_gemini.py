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

    def ask_to_write(self, path: Path, content: str, *, trusted: bool = True) -> dict[str, Any]:
        """Show the dialog of a call that writes a whole file; the wait with its request."""
        common = {"session_id": "one", "cwd": str(self.home)}
        send, headers = self.daemon.post if trusted else self.daemon.curl, {"X-Headspace-Client": "gemini"}
        given = {"file_path": str(path), "content": content}
        details = {"type": "edit", "title": f"Confirm Write: {path.name}", "filePath": str(path), "newContent": content}
        send("before-agent", {**common, "prompt": "Go"}, headers)
        send("before-tool", {**common, "tool_name": "write_file", "tool_input": given}, headers)
        send("notification", {**common, "notification_type": "ToolPermission", "details": details}, headers)
        found: dict[str, Any] = self.daemon.get(f"/api/waits/{self.wait['id']}").json()
        return found

    def end_write(self, path: Path, content: str) -> None:
        """The call was allowed in the terminal, and has ended."""
        given = {"file_path": str(path), "content": content}
        ended = {"tool_name": "write_file", "tool_input": given, "tool_response": {"llmContent": "done"}}
        headers = {"X-Headspace-Client": "gemini"}
        self.daemon.post("after-tool", {"session_id": "one", "cwd": str(self.home), **ended}, headers)

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
