"""The complete requests of the real client: edits as diffs, commands and plans in full, arguments by name."""

import json
import sys
import time
from pathlib import Path
from typing import Any

from tests.real_client.client import DIALOG_PAUSE
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
        workspace.held()
        shown = workspace.headspace("show", workspace.agent("waiting")["name"]).stdout
        assert all(f"  {number}. Step {number}\n" in shown for number in range(1, 41))
        assert next_request(workspace)["text"] == PLAN
        workspace.agent("idle")


def seen_while_scrolling(workspace: Workspace, board: str, last: str) -> str:
    """Scroll the panel of `top` until its last line is shown; return everything that was on the screen."""
    shown = ""

    def at_end() -> bool:
        nonlocal shown
        screen = workspace.terminals("capture-pane", "-p", "-t", board)
        shown += screen
        if last not in screen:
            workspace.keys(board, "PageDown")
        return last in screen

    wait_until(at_end, "the end of the request")
    return shown


def test_requests_are_shown_in_full_in_the_terminal(tmp_path: Path) -> None:
    """`show` contains the diff of an edit, and `top` all lines of a command. In `top` the end must be shown before `y`
    counts, and only the marked suggestion is granted: the mode of the client stays.
    """
    file = str(tmp_path / "home" / "shop" / "app.py")
    script = {
        "Do it": [
            reply(tool("Read", file_path=file)),
            reply(tool("Edit", file_path=file, old_string="line 20\n", new_string="line twenty\n")),
            reply(bash(COMMAND)),
            reply(bash("touch granted")),
            reply(text("Done.")),
        ],
    }
    with open_workspace(tmp_path, script) as workspace:
        (workspace.home.project / "app.py").write_text("".join(LINES))
        client = workspace.client("--permission-mode", "default")
        board = workspace.in_terminal("top")
        client.write("Do it")
        client.send()

        workspace.held()
        name = workspace.agent("waiting")["name"]
        shown = workspace.headspace("show", name).stdout
        assert all(part in shown for part in ("Edit app.py", "@@ -17,7 +17,7 @@", "-line 20", "+line twenty"))
        approved = workspace.headspace("approve", name)
        assert "+line twenty" in approved.stdout, approved.stderr

        wait_until(lambda: workspace.held()[0]["tool"] == "Bash", "the request to run the command")
        assert all(f"  {each}\n" in workspace.headspace("show", name).stdout for each in COMMAND.splitlines())
        workspace.shows(board, "wants to run")
        workspace.keys(board, "a")
        workspace.shows(board, "Allow once")
        time.sleep(DIALOG_PAUSE)
        workspace.keys(board, "y")
        workspace.shows(board, "Read the request to its end first")
        seen = seen_while_scrolling(workspace, board, COMMAND.splitlines()[-1])
        assert all(each in seen for each in COMMAND.splitlines())
        time.sleep(DIALOG_PAUSE)
        workspace.keys(board, "y")
        wait_until((workspace.home.project / "counted").exists, "the allowed command")

        wait_until(lambda: workspace.held()[0]["summary"] == "touch granted", "the next request")
        workspace.shows(board, "Allowed: ")
        workspace.keys(board, "Escape")
        workspace.keys(board, "a")
        workspace.shows(board, "choose what else to grant")
        time.sleep(DIALOG_PAUSE)
        workspace.keys(board, "a")
        workspace.shows(board, "grant what you mark")
        suggested = workspace.daemon.get(f"/api/waits/{workspace.held()[0]['id']}").json()["suggestions"]
        chosen = next(at for at, each in enumerate(suggested, 1) if each["kind"] != "mode")
        assert len(suggested) > 1
        workspace.keys(board, str(chosen))
        time.sleep(DIALOG_PAUSE)
        workspace.keys(board, "Enter")
        wait_until((workspace.home.project / "granted").exists, "the allowed command")
        agent = workspace.agent("idle")
        assert [grant["words"] for grant in agent["grants"]] == [suggested[chosen - 1]["words"]]
        assert agent["permission_mode"] == "default"
        assert suggested[chosen - 1]["words"] in workspace.headspace("why", name).stdout


def test_keys_for_an_answered_panel_never_reach_the_dialog_of_the_client(tmp_path: Path) -> None:
    """After an answer, enter neither closes the panel nor jumps, and Esc with y in quick succession cancels: the next
    call of the client, which nobody has read, does not run.
    """
    script = {
        "Do it": [
            reply(question("Which colour?", "Red", "Blue")),
            reply(bash("touch unread")),
            reply(text("Done.")),
        ],
    }
    with open_workspace(tmp_path, script) as workspace:
        client = workspace.client("--permission-mode", "default")
        board = workspace.in_terminal("top")
        client.write("Do it")
        client.send()
        workspace.held()
        workspace.shows(board, "asks: Which colour?")
        with workspace.user_in_front_of(board):
            workspace.keys(board, "a")
            workspace.shows(board, "1  Red")
            time.sleep(DIALOG_PAUSE)
            workspace.keys(board, "1")
            workspace.shows(board, "“Red”")
            wait_until(lambda: workspace.held()[0]["tool"] == "Bash", "the request to run the command")
            for _ in range(3):
                time.sleep(DIALOG_PAUSE)
                workspace.keys(board, "Enter")
            assert workspace.pane_in_front() == board
            time.sleep(DIALOG_PAUSE)
            workspace.keys(board, "a")
            workspace.shows(board, "Allow once")
            time.sleep(DIALOG_PAUSE)
            workspace.keys(board, "-H", "1b", "79")
            wait_until(
                lambda: "Allow once" not in workspace.terminals("capture-pane", "-p", "-t", board), "a closed panel"
            )
            time.sleep(DIALOG_PAUSE)
        assert workspace.held()[0]["answered"] is None
        assert not (workspace.home.project / "unread").exists()
