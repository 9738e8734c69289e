"""Every surface answers the real client while its dialog is open. An agent cannot answer itself."""

import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.surfaces.auth.answer_links import AnswerGrant, AnswerLinks
from tests.real_client.client import DIALOG_PAUSE
from tests.real_client.model import bash, helper, question, reply, text, tool
from tests.real_client.workspace import Workspace, open_workspace
from tests.support import LIMIT_SECONDS, Reply, wait_until
from tests.web.chromium import CHROMIUM, FLAGS

ASKING = ("--permission-mode", "default")
ALLOW = {"decision": "allow"}
SURFACES = ("cli", "tui", "web", "link")


def dialog(workspace: Workspace, client: Any) -> dict[str, Any]:
    """The only held wait, while the client shows its dialog."""
    [wait] = workspace.held()
    wait_until(client.options, "the dialog in the terminal")
    return wait


def finished(workspace: Workspace, file: str) -> None:
    """Wait until the allowed tool has run."""
    wait_until((workspace.home.project / file).exists, f"{file}, created by the tool")


def test_every_surface_answers_while_the_dialog_is_open(tmp_path: Path) -> None:
    """Command line, `top`, page and link answer in turn. Each time the tool runs and the dialog closes."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    calls = [reply(bash(f"touch by_{surface}")) for surface in SURFACES]
    with open_workspace(tmp_path, {"Make them": [*calls, reply(text("Made."))]}) as workspace:
        client = workspace.client(*ASKING)
        board = workspace.in_terminal("top")
        client.write("Make them")
        client.send()

        dialog(workspace, client)
        done = workspace.headspace("approve", workspace.agent("waiting")["name"])
        assert done.returncode == 0, done.stderr
        finished(workspace, "by_cli")

        dialog(workspace, client)
        wait_until(lambda: "wants to run" in workspace.terminals("capture-pane", "-p", "-t", board), "the board")
        workspace.terminals("send-keys", "-t", board, "a")
        wait_until(lambda: "Allow this?" in workspace.terminals("capture-pane", "-p", "-t", board), "the panel")
        time.sleep(DIALOG_PAUSE)  # keys do not count while the panel is new
        workspace.terminals("send-keys", "-t", board, "y")
        finished(workspace, "by_tui")
        workspace.terminals("send-keys", "-t", board, "Escape")

        dialog(workspace, client)
        with playwright.sync_playwright() as started:
            browser = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            page = browser.new_page()
            path = workspace.daemon.send("POST", "/api/admin/signin", {}, scope="admin").json()["path"]
            page.goto(workspace.daemon.url + path)
            page.goto(workspace.daemon.url + "/waits")
            page.get_by_role("button", name="Allow", exact=True).click()
            finished(workspace, "by_web")

            wait = dialog(workspace, client)
            page.goto(link_to(workspace, wait))
            page.get_by_role("button", name="Allow").first.click()
            page.get_by_text("By ann").wait_for()
            browser.close()
        finished(workspace, "by_link")

        workspace.agent("idle")
        waits = workspace.daemon.get("/api/waits?all=true").json()
        answered = sorted(waits, key=lambda each: str(each["opened_at"]))
        assert [wait["answered"]["via"] for wait in answered] == list(SURFACES)
        assert workspace.daemon.verified()


def link_to(workspace: Workspace, wait: dict[str, Any]) -> str:
    """The link that a message to ann contains."""
    links = AnswerLinks((workspace.root / "secret").read_bytes(), "")
    return f"{workspace.daemon.url}/answer/{links.sign(AnswerGrant(wait['id'], 'ann'))}"


def test_only_the_selected_permission_is_granted(tmp_path: Path) -> None:
    """The client suggests a directory and a mode. Only the directory is granted: the mode stays, and it asks again."""
    script = {"Make them": [reply(bash("touch one")), reply(bash("touch two")), reply(text("Made."))]}
    with open_workspace(tmp_path, script) as workspace:
        client = workspace.client(*ASKING)
        client.write("Make them")
        client.send()
        wait = workspace.daemon.get(f"/api/waits/{dialog(workspace, client)['id']}").json()
        assert wait["request"]["text"] == "touch one"
        by_kind = {each["kind"]: each for each in wait["suggestions"]}
        assert set(by_kind) == {"directory", "mode"}
        assert by_kind["mode"]["words"] == "Switch this session to acceptEdits"
        bare = answer(workspace, wait["id"], {**ALLOW, "always": True})
        assert (bare.status, bare.error["code"]) == (400, "always_needs_grant")
        assert answer(workspace, wait["id"], {**ALLOW, "grant": [by_kind["directory"]["id"]]}).status == 200
        finished(workspace, "one")
        again = dialog(workspace, client)
        agent = workspace.agent("waiting")
        assert (agent["permission_mode"], again["summary"]) == ("default", "touch two")
        [grant] = agent["grants"]
        assert (grant["kind"], grant["destination"]) == ("directory", "this session")
        assert answer(workspace, again["id"], ALLOW).status == 200
        finished(workspace, "two")
        assert workspace.agent("idle")["permission_mode"] == "default"


FORM = {"Ask me": [reply(tool("mcp__forms__ask")), reply(tool("mcp__forms__ask")), reply(text("Thank you."))]}


def test_a_form_of_an_mcp_server_is_filled_in_and_declined(tmp_path: Path) -> None:
    """The server receives the typed values with the types of its schema. Then it receives a refusal."""
    with open_workspace(tmp_path, FORM) as workspace:
        server = {"command": sys.executable, "args": [str(Path(__file__).with_name("asking_server.py"))]}
        servers = workspace.home.root / "servers.json"
        servers.write_text(json.dumps({"mcpServers": {"forms": server}}))
        client = workspace.client("--mcp-config", str(servers), "--allowedTools", "mcp__forms__ask", *ASKING)
        client.write("Ask me")
        client.send()
        [wait] = workspace.held()
        assert (wait["kind"], [field["name"] for field in wait["form"]]) == (
            "elicitation",
            ["board", "urgent", "size"],
        )
        name = workspace.agent("waiting")["name"]
        wrong = workspace.headspace("answer", name, "--field", "board=0")
        assert (wrong.returncode, "at least 1" in wrong.stderr) == (1, True)
        done = workspace.headspace("answer", name, "-f", "board=7", "-f", "urgent=yes", "-f", "size=L")
        assert done.returncode == 0, done.stderr
        wait_until(lambda: len(workspace.model.results) > 0, "the tool's result")
        workspace.held()
        assert workspace.headspace("answer", name, "--action", "decline").returncode == 0
        workspace.agent("idle")
        results = " ".join(workspace.model.results).replace("\\", "")
        assert '"content": {"board": 7, "urgent": true, "size": "L"}' in results, results
        assert '"action": "decline"' in results, results


TWO = {
    "Do both": [
        reply(helper("Look at shop", "look")),
        reply(question("Which color?", "Red", "Blue")),
        reply(text("Ok.")),
    ],
    "Look at shop": [reply(bash("touch looked")), reply(text("Looked."))],
    "<task-notification>": [reply(text("All done."))],
}


def test_two_waits_of_one_client_get_separate_answers(tmp_path: Path) -> None:
    """A sub-agent asks for a permission while the agent asks a question. The later wait is answered first."""
    with open_workspace(tmp_path, TWO) as workspace:
        client = workspace.client(*ASKING, "--allowedTools", "Agent,Task")
        client.write("Do both")
        client.send()
        by_kind = {wait["kind"]: wait["id"] for wait in workspace.held(2)}
        assert answer(workspace, by_kind["question"], {"answers": {"Which color?": "Blue"}}).status == 200
        assert answer(workspace, by_kind["permission"], {"decision": "allow"}).status == 200
        finished(workspace, "looked")
        workspace.agent("idle")
        assert any("Blue" in result for result in workspace.model.results), workspace.model.results


def answer(workspace: Workspace, wait_id: str, body: dict[str, Any]) -> Reply:
    """Answer a wait through the API."""
    return workspace.daemon.send("POST", f"/api/waits/{wait_id}/answer", body, scope="act")


def test_a_headless_client_waits_if_hold_headless_is_set(tmp_path: Path) -> None:
    """With `hold_headless` the tool call waits for the answer and then runs."""
    script = {"Make it": [reply(bash("touch made")), reply(text("Made."))]}
    with open_workspace(tmp_path, script, hold_headless=True) as workspace:
        ended: list[int] = []
        command = ["env", "-i", *workspace.home.command(workspace.model.url, "-p", "Make it", *ASKING)]

        def run() -> None:
            done = subprocess.run(
                command,
                cwd=workspace.home.project,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LIMIT_SECONDS * 2,
                check=False,
            )
            ended.append(done.returncode)

        client = threading.Thread(target=run)
        client.start()
        [wait] = workspace.held()
        assert answer(workspace, wait["id"], {"decision": "allow"}).status == 200
        client.join(LIMIT_SECONDS * 2)
        assert ended == [0]
        finished(workspace, "made")


# --- agents cannot answer ---------------------------------------------------------------------------------------------

ATTEMPTS = """
import http.client, json, os, subprocess, sys
sys.path[:0] = {path!r}
from pathlib import Path
from claude_headspace.surfaces.auth.tokens import Scope, make_token, read_secret

root, port, wait, agent = {root!r}, {port}, {wait!r}, {agent!r}
token = make_token(read_secret(Path(root) / "secret"), Scope.ACT)
clean = {{name: value for name, value in os.environ.items() if not name.startswith("CLAUDE")}}
own = {{"HOME": root, "HEADSPACE_HOME": root}}
tried = {{}}

def run(name, *command, env):
    done = subprocess.run(command, env={{**env, **own}}, capture_output=True, text=True)
    tried[name] = done.stdout + done.stderr

def headspace(name, *arguments, env):
    run(name, sys.executable, "-m", "claude_headspace", *arguments, env=env)

def request(name, path, body, **more):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    headers = {{"Content-Type": "application/json", "Authorization": "Bearer " + token, **more}}
    connection.request("POST", path, json.dumps(body), headers)
    tried[name] = connection.getresponse().read().decode()

headspace("command", "approve", agent, env=os.environ)
headspace("command, clean", "approve", agent, env=clean)
request("stolen token", "/api/waits/" + wait + "/answer", {{"decision": "allow"}})
request("another host", "/api/waits/" + wait + "/answer", {{"decision": "allow"}}, Host="localhost")
request("send", "/api/agents/" + agent + "/send", {{"text": "yes"}})
request("interrupt", "/api/agents/" + agent + "/interrupt", {{}})
url = "http://127.0.0.1:%d/api/waits/%s/answer" % (port, wait)
curl = ["curl", "-s", "-X", "POST", "-H", "Content-Type: application/json", "-H", "Authorization: Bearer " + token]
run("curl", *curl, "-d", json.dumps({{"decision": "allow"}}), url, env=clean)
link = ["curl", "-s", "-X", "POST", "-d", "do=allow", {link!r}]
run("link", *link, env=clean)
headspace("socket", "rpc", "waits.answer", json.dumps({{"wait": wait, "decision": "allow"}}), env=clean)
Path("tried.json").write_text(json.dumps(tried))
"""
REFUSED = "comes from inside an agent"


def test_an_agent_cannot_answer_from_its_own_tools(tmp_path: Path) -> None:
    """Its Bash tool cannot answer by command, request, stolen token, link or socket. A rule also denies the command."""
    script = {
        "Help yourself": [
            reply(bash("headspace approve anybody")),
            reply(bash(f"{sys.executable} attempts.py")),
            reply(text("I could not.")),
        ],
        "Make it": [reply(bash("touch made")), reply(text("Made."))],
    }
    with open_workspace(tmp_path, script) as workspace:
        asking = workspace.client(*ASKING)
        asking.write("Make it")
        asking.send()
        wait, agent = dialog(workspace, asking), workspace.agent("waiting")
        (workspace.home.project / "attempts.py").write_text(
            ATTEMPTS.format(
                path=[each for each in sys.path if each],
                root=str(workspace.root),
                port=workspace.daemon.port,
                wait=wait["id"],
                agent=agent["id"],
                link=link_to(workspace, wait),
            )
        )
        helped = workspace.client(*ASKING, "--allowedTools", "Bash")
        helped.write("Help yourself")
        helped.send()
        wait_until((workspace.home.project / "tried.json").exists, "its attempts")
        wait_until(lambda: len(workspace.model.results) > 1, "the tool results")
        assert any("rule own-answers" in result for result in workspace.model.results), workspace.model.results
        tried = json.loads((workspace.home.project / "tried.json").read_text())
        socket = tried.pop("socket")
        assert {name: REFUSED in output for name, output in tried.items()} == dict.fromkeys(tried, True), tried
        assert re.search("unknown|no command", socket.lower()), socket
        [still] = workspace.held()
        assert (still["id"], still["answered"]) == (wait["id"], None)
        assert not (workspace.home.project / "made").exists()
