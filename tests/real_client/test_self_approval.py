"""The real client: an agent cannot hide from Headspace and approve, and no program locks the user out."""

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.real_client.model import bash, reply, text
from tests.real_client.test_answers import ASKING, dialog, finished, link_to
from tests.real_client.workspace import Workspace, open_workspace
from tests.support import wait_until

ATTACK = """
import http.client, json, os, subprocess, sys
sys.path[:0] = {path!r}
from pathlib import Path
from claude_headspace.surfaces.auth.tokens import Scope, make_token, read_secret

root, port, agent = {root!r}, {port}, {agent!r}
secret = read_secret(Path(root) / "secret")
session = os.environ["CLAUDE_CODE_SESSION_ID"]
tried = {{}}

def forget(event, pid, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    headers |= {{"Content-Type": "application/json", "X-Headspace-Client-Pid": str(pid)}}
    body = {{"session_id": session, "cwd": os.getcwd(), "source": "startup", "reason": "other"}}
    connection.request("POST", "/hook/" + event, json.dumps(body), headers)
    connection.getresponse().read()

def approve(name, *before):
    env = ["env", "-u", "CLAUDE_CODE_SESSION_ID", "HOME=" + root, "HEADSPACE_HOME=" + root]
    command = [*before, *env, sys.executable, "-m", "claude_headspace", "approve", agent]
    done = subprocess.run(command, capture_output=True, text=True)
    tried[name] = done.stdout + done.stderr

token = {{"Authorization": "Bearer " + make_token(secret, Scope.INGEST)}}
sleeping = subprocess.Popen(["sleep", "600"])
forget("session-start", 4194303)
approve("another pid")
forget("session-start", sleeping.pid, **token)
approve("another pid, with the ingest token")
forget("session-end", 4194303, **token)
approve("ended, with the ingest token")
sleeping.kill()
Path("tried.json").write_text(json.dumps(tried))
"""


def attempts(workspace: Workspace, agent: dict[str, Any]) -> str:
    """The script that an agent runs with its Bash tool."""
    path, root = [each for each in sys.path if each], str(workspace.root)
    return ATTACK.format(path=path, root=root, port=workspace.daemon.port, agent=agent["id"])


def test_an_agent_that_hides_its_process_cannot_approve(tmp_path: Path) -> None:
    """Hooks with another process, `env -u` and a read secret do not help. The user's answer still arrives."""
    script = {
        "Help yourself": [reply(bash(f"{sys.executable} attempts.py")), reply(text("I could not."))],
        "Make it": [reply(bash("touch made")), reply(text("Made."))],
    }
    with open_workspace(tmp_path, script) as workspace:
        asking = workspace.client(*ASKING)
        asking.write("Make it")
        asking.send()
        wait, agent = dialog(workspace, asking), workspace.agent("waiting")
        (workspace.home.project / "attempts.py").write_text(attempts(workspace, agent))
        helped = workspace.client(*ASKING, "--allowedTools", "Bash")
        helped.write("Help yourself")
        helped.send()
        wait_until((workspace.home.project / "tried.json").exists, "its attempts")
        tried = json.loads((workspace.home.project / "tried.json").read_text())
        assert all("inside an agent" in output for output in tried.values()), tried
        [still] = workspace.held()
        assert (still["id"], still["answered"]) == (wait["id"], None)
        done = workspace.headspace("approve", agent["name"])
        assert done.returncode == 0, done.stderr
        finished(workspace, "made")


def test_no_program_locks_the_user_out(tmp_path: Path) -> None:
    """Hooks without the token name the first process and end the session: terminal and link still answer."""
    calls = [reply(bash(f"touch by_{way}")) for way in ("terminal", "link")]
    with open_workspace(tmp_path, {"Make them": [*calls, reply(text("Made."))]}) as workspace:
        client = workspace.client(*ASKING)
        client.write("Make them")
        client.send()
        wait = dialog(workspace, client)
        session = workspace.agent("waiting")["session_id"]
        for event in ("session-start", "user-prompt-submit", "post-tool-use", "stop", "session-end"):
            for name in (session, "another"):
                body = {"session_id": name, "cwd": str(workspace.home.project), "tool_name": "Bash", "prompt": "x"}
                workspace.daemon.curl(event, body, {"X-Headspace-Client-Pid": "1"})
        assert [each["id"] for each in workspace.held()] == [wait["id"]]
        done = workspace.headspace("approve", workspace.agent("waiting")["name"])
        assert done.returncode == 0, done.stderr
        finished(workspace, "by_terminal")
        wait = dialog(workspace, client)
        link = link_to(workspace, wait).removeprefix(workspace.daemon.url)
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        assert workspace.daemon.send("POST", link, b"do=allow", form).status == 303
        finished(workspace, "by_link")


def test_an_entry_that_names_the_users_shell_does_not_lock_it_out(tmp_path: Path) -> None:
    """The registry of the client names the shell: an answer from this shell still counts."""
    with open_workspace(tmp_path, {"Make it": [reply(bash("touch made")), reply(text("Made."))]}) as workspace:
        client = workspace.client(*ASKING)
        client.write("Make it")
        client.send()
        dialog(workspace, client)
        agent = workspace.agent("waiting")["id"]
        [entry] = (workspace.home.config_dir / "sessions").glob("*.json")
        with subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, text=True) as shell:
            false = {**json.loads(entry.read_bytes()), "pid": shell.pid, "sessionId": "false", "status": "idle"}
            false |= {"startedAt": time.time() * 1000, "statusUpdatedAt": time.time() * 1000}
            entry.with_name(f"{shell.pid}.json").write_text(json.dumps(false))
            wait_until(lambda: len(workspace.daemon.agents()) == 2, "the false agent")
            root = str(workspace.root)
            env = [
                "env",
                f"HOME={root}",
                f"HEADSPACE_HOME={root}",
                f"PYTHONPATH={os.pathsep.join(filter(None, sys.path))}",
            ]
            shell.communicate(
                shlex.join([*env, sys.executable, "-m", "claude_headspace", "approve", agent]) + "\ntrue\n"
            )
        finished(workspace, "made")
