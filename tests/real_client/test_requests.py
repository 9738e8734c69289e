"""The complete requests of the real client: edits as diffs, commands and plans in full, arguments by name."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.real_client.model import PLAN_FILE, Script, bash, question, reply, text, tool
from tests.real_client.workspace import Workspace, open_workspace
from tests.support import wait_until

LINES = [f"line {number}\n" for number in range(1, 41)]
COMMAND = "\n".join(f"echo {number} >> counted" for number in range(1, 61))
PLAN = "# Plan\n\n" + "".join(f"{number}. Step {number}\n" for number in range(1, 41))


def requests_of(project: Path) -> Script:
    """One call of each kind."""
    file, fresh = str(project / "app.py"), str(project / "new.py")
    return {
        "Do it": [
            reply(tool("Read", file_path=file)),
            reply(tool("Edit", file_path=file, old_string="line 20\n", new_string="line twenty\n")),
            reply(tool("Write", file_path=fresh, content="x = 1\n")),
            reply(bash(COMMAND)),
            reply(tool("mcp__forms__ask", title="Broken login", labels=["bug", "p1"])),
            reply(question("Which colour?", "Red", "Blue")),
            reply(text("Done.")),
        ]
    }


def next_request(workspace: Workspace, answer: dict[str, Any] | None = None) -> dict[str, Any]:
    """The request of the next dialog, which is then answered."""
    [wait] = workspace.held()
    found: dict[str, Any] = workspace.daemon.get(f"/api/waits/{wait['id']}").json()
    done = workspace.daemon.send(
        "POST", f"/api/waits/{wait['id']}/answer", answer or {"decision": "allow"}, scope="act"
    )
    assert done.status == 200, done.body
    assert (found["request"]["complete"], found["request"]["left_out"]) == (True, 0)
    request: dict[str, Any] = found["request"]
    return request


def test_every_kind_of_request_is_shown_in_full(tmp_path: Path) -> None:
    """An edit, a new file, a command of sixty lines, a tool of an MCP server, and a question."""
    with open_workspace(tmp_path, requests_of(tmp_path / "home" / "shop")) as workspace:
        (workspace.home.project / "app.py").write_text("".join(LINES))
        server = {"command": sys.executable, "args": [str(Path(__file__).with_name("asking_server.py"))]}
        servers = workspace.home.root / "servers.json"
        servers.write_text(json.dumps({"mcpServers": {"forms": server}}))
        client = workspace.client("--mcp-config", str(servers), "--permission-mode", "default")
        client.write("Do it")
        client.send()

        edit = next_request(workspace)
        assert edit["text"] == "Edit app.py"
        assert edit["diff"] == (
            "--- a/app.py\n+++ b/app.py\n@@ -17,7 +17,7 @@\n line 17\n line 18\n line 19\n"
            "-line 20\n+line twenty\n line 21\n line 22\n line 23\n"
        )
        write = next_request(workspace)
        assert (write["text"], write["diff"]) == (
            "Write new.py",
            "--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x = 1\n",
        )
        assert next_request(workspace)["text"] == COMMAND
        assert next_request(workspace)["arguments"] == {"title": "Broken login", "labels": ["bug", "p1"]}
        form = next_request(workspace, {"action": "decline"})
        assert form["text"] == "Which board?"
        assert next_request(workspace, {"answers": {"Which colour?": "Red"}})["text"] == "Which colour?"
        workspace.agent("idle")
        assert (workspace.home.project / "app.py").read_text() == "".join(LINES).replace("line 20", "line twenty")
        wait_until(lambda: len((workspace.home.project / "counted").read_text().split()) == 60, "the whole command")


def test_a_plan_is_shown_in_full(tmp_path: Path) -> None:
    """All forty steps."""
    script = {
        "Plan it": [
            reply(tool("Write", file_path=PLAN_FILE, content=PLAN)),
            reply(tool("ExitPlanMode", plan=PLAN)),
            reply(text("Done.")),
        ]
    }
    with open_workspace(tmp_path, script) as workspace:
        client = workspace.client("--permission-mode", "plan")
        client.write("Plan it")
        client.send()
        assert next_request(workspace)["text"] == PLAN
        workspace.agent("idle")
