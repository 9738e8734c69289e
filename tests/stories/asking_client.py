"""A simulated client that asks questions. It runs the installed hook script as Claude Code does."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support import LIMIT_SECONDS, Reply, RunningDaemon, environment, wait_until

COMMAND = {"tool_name": "Bash", "tool_input": {"command": "make test"}}
COLOUR = {"question": "Which colour?", "header": "Colour", "options": [{"label": "Red"}, {"label": "Blue"}]}
SIZES = {
    "question": "Which sizes?",
    "header": "Sizes",
    "options": [{"label": "S"}, {"label": "L"}],
    "multiSelect": True,
}
QUESTIONS = {"tool_name": "AskUserQuestion", "tool_input": {"questions": [COLOUR, SIZES]}}

Hook = subprocess.Popen[bytes]


class AskingClient:
    """A client that asks, and the daemon that receives its hooks."""

    def __init__(self, home: Path, daemon: RunningDaemon, pid: int, session: str = "s1") -> None:
        self.home = home
        self.daemon = daemon
        self._pid = pid
        self._session = session
        self.headspace("install", "--yes", "--config-dir", str(home / ".claude"))
        self.hook("SessionStart", source="startup")
        self.hook("UserPromptSubmit", prompt="Fix it")

    def headspace(self, *arguments: str, check: bool = True, **more: str) -> "subprocess.CompletedProcess[str]":
        """Run a `headspace` command."""
        return subprocess.run(
            [sys.executable, "-m", "claude_headspace", *arguments],
            env=environment(self.home) | more,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=check,
            timeout=LIMIT_SECONDS,
        )

    def fire(self, event: str, **payload: Any) -> Hook:
        """Start a hook of the client."""
        script = self.home / ".claude" / "hooks" / "notify-headspace.sh"
        env = environment(self.home) | {"CLAUDE_PID": str(self._pid)}
        pipe = subprocess.PIPE
        hook = subprocess.Popen([str(script), event], stdin=pipe, stdout=pipe, stderr=pipe, env=env)
        assert hook.stdin is not None
        body = {"session_id": self._session, "cwd": str(self.home), "hook_event_name": event, **payload}
        hook.stdin.write(json.dumps(body).encode())
        hook.stdin.close()
        hook.stdin = None
        return hook

    def hook(self, event: str, **payload: Any) -> Any:
        """Run a hook of the client to its end; return what it prints."""
        return printed(self.fire(event, **payload))

    def ask(self, call_id: str = "t1", about: dict[str, Any] = COMMAND) -> Hook:
        """The client shows a dialog; return its hook as soon as the wait is held."""
        self.hook("PreToolUse", tool_use_id=call_id, **about)
        before = len(self.held())
        hook = self.fire("PermissionRequest", **about)
        wait_until(lambda: len(self.held()) > before, "a held wait")
        return hook

    def held(self) -> list[dict[str, Any]]:
        """The waits that can be answered through Headspace."""
        return [wait for wait in self.daemon.get("/api/waits").json() if wait["held_until"]]

    def answer(self, body: dict[str, Any], wait_id: str | None = None) -> Reply:
        """Answer a wait through the API."""
        path = f"/api/waits/{wait_id or self.held()[0]['id']}/answer"
        return self.daemon.send("POST", path, body, scope="act")

    @property
    def agent(self) -> dict[str, Any]:
        """Wait for the agent on the board."""
        return wait_until(self.daemon.agents, "an agent")[0]


def printed(hook: Hook) -> Any:
    """The output of a hook at its end. Nothing may be on stderr."""
    out, err = hook.communicate(timeout=LIMIT_SECONDS)
    assert (hook.returncode, err) == (0, b"")
    return json.loads(out)["hookSpecificOutput"] if out else None
