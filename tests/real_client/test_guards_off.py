"""The real client: settings that turn the guards off are reported while a session runs, until they are corrected."""

import json
from pathlib import Path
from typing import Any

from tests.real_client.model import bash, reply, text
from tests.real_client.test_answers import ASKING
from tests.real_client.workspace import Workspace, open_workspace
from tests.support import wait_until

RULE = """
[[rule]]
id = "nothing-forbidden"
outcome = "deny"
commands = ["touch"]
arguments = ["forbidden*"]
"""


def problems(workspace: Workspace) -> list[dict[str, Any]]:
    """The reported problems; the daemon is healthy without them."""
    health = workspace.daemon.get("/health", scope=None).json()
    assert (health["status"] == "ok") == (not health["guard_problems"]), health
    found: list[dict[str, Any]] = health["guard_problems"]
    return found


def test_disabled_and_removed_hooks_are_reported(tmp_path: Path) -> None:
    """The client really runs a forbidden command then. Afterwards the same session is guarded again."""
    script = {
        "First": [reply(bash("touch forbidden-1; touch seen-1")), reply(text("Done."))],
        "Second": [reply(bash("touch forbidden-2")), reply(text("Done.")), reply(bash("touch forbidden-2"))],
    }
    with open_workspace(tmp_path, script) as workspace:
        (workspace.root / "policy.toml").write_text(RULE)
        client = workspace.client(*ASKING, "--allowedTools", "Bash")
        agent = workspace.agent("idle")
        wait_until(lambda: not problems(workspace), "a healthy daemon")

        local = workspace.home.project / ".claude" / "settings.local.json"
        local.parent.mkdir(exist_ok=True)
        local.write_text(json.dumps({"disableAllHooks": True}))
        assert "disableAllHooks" in wait_until(lambda: problems(workspace), "the report")[0]["text"]
        assert "guards off in Claude Code since" in " ".join(workspace.headspace("status").stdout.split()).replace(
            "guards  ", "guards "
        )
        client.write("First")
        client.send()
        wait_until((workspace.home.project / "forbidden-1").exists, "a call without a guard")
        local.unlink()
        wait_until(lambda: not problems(workspace), "the end of the report")

        settings = workspace.home.config_dir / "settings.json"
        found = json.loads(settings.read_text())
        del found["hooks"]["PreToolUse"]
        settings.write_text(json.dumps(found))
        assert "PreToolUse" in wait_until(lambda: problems(workspace), "the report")[0]["text"]
        options = ("--statusline", f"--config-dir={workspace.home.config_dir}")
        assert workspace.headspace("install", "--yes", *options).returncode == 0
        wait_until(lambda: not problems(workspace), "the end of the report")

        workspace.agent("idle", id=agent["id"])
        client.write("Second")
        client.send()
        wait_until(lambda: _denials(workspace, agent), "a denied call")
        assert not (workspace.home.project / "forbidden-2").exists()


def _denials(workspace: Workspace, agent: dict[str, Any]) -> list[dict[str, Any]]:
    events = workspace.daemon.get(f"/api/agents/{agent['id']}/events").json()
    return [event for event in events if (event["verdict"] or {}).get("ruling") == "deny"]
