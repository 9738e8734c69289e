"""Guards and Codex: a hook with its name gets a denial in its format, over HTTP."""

from pathlib import Path
from typing import Any

from tests.support import running_daemon, wait_until

CODEX = {"X-Headspace-Client": "codex", "X-Headspace-Reply": "hook"}


def call(tool: str, command: str, **fields: Any) -> dict[str, Any]:
    """The payload of a hook before a tool call of Codex."""
    given = {"tool_name": tool, "tool_input": {"command": command}, "tool_use_id": "c1", "turn_id": "t1"}
    return {"session_id": "thread-1", "cwd": "/tmp", "hook_event_name": "PreToolUse", **given, **fields}


def test_a_dangerous_call_of_codex_is_denied(tmp_path: Path) -> None:
    """A command, a patch of a secret file, and a call that a rule asks about: Codex cannot ask, so it is denied."""
    with running_daemon(tmp_path) as daemon:
        wait_until((daemon.home / "asked" / "codex.PreToolUse").exists, "the guard")
        denied = daemon.post("PreToolUse", call("Bash", "rm -rf /"), CODEX).json()["hookSpecificOutput"]
        assert (denied["hookEventName"], denied["permissionDecision"]) == ("PreToolUse", "deny")
        assert "rule system-delete" in denied["permissionDecisionReason"]
        patch = "*** Begin Patch\n*** Update File: .env\n@@\n-A=1\n+A=2\n*** End Patch\n"
        denied = daemon.post("PreToolUse", call("apply_patch", patch), CODEX).json()["hookSpecificOutput"]
        assert denied["permissionDecision"] == "deny"
        asked = daemon.post("PreToolUse", call("Bash", "sudo ls"), CODEX).json()["hookSpecificOutput"]
        assert asked["permissionDecision"] == "deny"
        assert "Codex cannot ask" in asked["permissionDecisionReason"]
        assert daemon.post("PreToolUse", call("Bash", "ls"), CODEX).body == b""
        [agent] = daemon.agents()
        assert agent["client"] == "codex"
        assert [event["verdict"]["ruling"] for event in daemon.events() if event["verdict"]] == ["deny"] * 3
