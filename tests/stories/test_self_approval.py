"""An agent does not answer itself, and no other program locks the user out. The user's own paths keep working.

Each test first shows the attack, then that the user can still answer.
"""

import json
import os
import secrets
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.stories.asking_client import AskingClient, Hook, printed
from tests.support import LIMIT_SECONDS, environment, running_daemon, wait_until
from tests.terminals import needs_tmux

NO_SUCH_PID = "4194303"
ENDING_HOOKS: dict[str, dict[str, Any]] = {
    "session-start": {"source": "startup"},
    "user-prompt-submit": {"prompt": "Next."},
    "post-tool-use": {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "make test"}},
    "stop": {"last_assistant_message": "Done."},
    "session-end": {"reason": "other"},
}

FROM_INSIDE = """
import subprocess, sys, time
while True:
    line = sys.stdin.readline()
    if not line:
        break
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True)
    print(repr(done.stdout + done.stderr), flush=True)
"""


class Inside:
    """A client process that runs commands, as a tool call does."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen([sys.executable, "-c", FROM_INSIDE], stdin=pipe, stdout=pipe, text=True)

    @property
    def pid(self) -> int:
        """The process id of the client."""
        return self._process.pid

    def run(self, command: str) -> str:
        """Run a shell command inside the client; return its output."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def inside() -> Iterator[Inside]:
    """A client process that runs commands."""
    made = Inside()
    yield made
    made.end()


@pytest.fixture
def asking(tmp_path: Path, inside: Inside) -> Iterator[AskingClient]:
    """A client that asks."""
    with running_daemon(tmp_path) as daemon:
        yield AskingClient(tmp_path, daemon, inside.pid)


def headspace(home: Path, *arguments: str) -> str:
    """The shell command that runs `headspace` with a clean environment, as `env -u` does."""
    variables = [f"{name}={value}" for name, value in environment(home).items()]
    return shlex.join(["env", "-i", *variables, sys.executable, "-m", "claude_headspace", *arguments])


def anonymous(asking: AskingClient, event: str, headers: dict[str, str] | None = None, **fields: Any) -> None:
    """A hook for the agent's session that any program can send."""
    payload = {"session_id": "s1", "cwd": str(asking.home), **fields}
    assert asking.daemon.curl(event, payload, headers).status == 200


def user_answers(asking: AskingClient, hook: "subprocess.Popen[bytes]") -> None:
    """The user answers in their own shell, and the client gets the answer."""
    done = asking.headspace("approve", asking.agent["name"], check=False)
    assert done.returncode == 0, done.stderr
    assert printed(hook)["decision"]["behavior"] == "allow"


@pytest.mark.parametrize("with_token", [False, True])
def test_a_hook_with_another_pid_does_not_hide_the_client(
    asking: AskingClient, inside: Inside, with_token: bool
) -> None:
    """A running client stays known, also after a restart and for hooks of any sender. Its tools cannot approve."""
    hook = asking.ask()
    other = subprocess.Popen(["sleep", "600"])
    for pid in (NO_SUCH_PID, str(other.pid)):
        headers = asking.daemon.credentials("ingest") if with_token else {}
        anonymous(asking, "notification", {**headers, "X-Headspace-Client-Pid": pid}, message="x")
    assert asking.agent["pid"] == inside.pid
    assert "inside an agent" in inside.run(headspace(asking.home, "approve", asking.agent["name"]))
    assert [wait["answered"] for wait in asking.held()] == [None]
    other.kill()
    other.wait()
    user_answers(asking, hook)
    assert asking.daemon.verified()


def test_an_ended_agent_whose_client_runs_is_still_an_agent(asking: AskingClient, inside: Inside) -> None:
    """A report of the end with the ingest token does not make the client's tools a person."""
    asking.hook("SessionEnd", reason="other")
    wait_until(lambda: asking.agent["state"] == "ended", "the end")
    done = inside.run(headspace(asking.home, "rename", asking.agent["id"], "free-bird"))
    assert "inside an agent" in done


@pytest.mark.parametrize("event", ENDING_HOOKS)
def test_a_hook_without_the_token_ends_no_wait(asking: AskingClient, event: str) -> None:
    """The held question of an agent with installed hooks stays open. The hook is recorded with the reason."""
    hook = asking.ask()
    anonymous(asking, event, **ENDING_HOOKS[event])
    assert (asking.agent["state"], len(asking.held())) == ("waiting", 1)
    [recorded] = [each for each in asking.daemon.events() if "without the ingest token" in (each["anomaly"] or "")]
    assert recorded["agent_id"] == asking.agent["id"]
    user_answers(asking, hook)


def test_nobody_locks_the_user_out(tmp_path: Path, inside: Inside) -> None:
    """The first process is no client, with and without the token, and after a restart."""
    with running_daemon(tmp_path) as daemon:
        asking = AskingClient(tmp_path, daemon, inside.pid)
        for headers in ({}, daemon.credentials("ingest")):
            payload = {"session_id": f"lock-{len(headers)}", "cwd": "/tmp", "source": "startup"}
            daemon.curl("session-start", payload, {**headers, "X-Headspace-Client-Pid": "1"})
        user_answers(asking, asking.ask())
    with running_daemon(tmp_path) as daemon:
        asking.daemon = daemon
        user_answers(asking, asking.ask("t2"))


class UserShell:
    """The shell in which the user types commands."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self._shell = subprocess.Popen(["bash", "--norc"], stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True)

    @property
    def pid(self) -> int:
        """The process id of the shell."""
        return self._shell.pid

    def run(self, command: str) -> str:
        """Type a command; return its output, on one line."""
        assert self._shell.stdin is not None
        assert self._shell.stdout is not None
        self._shell.stdin.write(f"echo $({command} 2>&1)\n")
        self._shell.stdin.flush()
        return self._shell.stdout.readline()

    def end(self) -> None:
        """End the shell."""
        self._shell.kill()
        self._shell.communicate()


@pytest.fixture
def user_shell() -> Iterator[UserShell]:
    """The user's shell."""
    made = UserShell()
    yield made
    made.end()


def name_in_registry(asking: AskingClient, pid: int) -> None:
    """Any process of the user can write an entry that names another process."""
    now = time.time() * 1000
    entry = {"pid": pid, "sessionId": "false", "cwd": "/tmp", "startedAt": now, "status": "idle"}
    directory = asking.home / ".claude" / "sessions"
    directory.mkdir(exist_ok=True)
    (directory / f"{pid}.json").write_text(json.dumps(entry))


def name_in_hook(asking: AskingClient, pid: int) -> None:
    """Any process of the user can run the hook script."""
    AskingClient(asking.home, asking.daemon, pid, session="false")


@pytest.mark.parametrize("name", [name_in_registry, name_in_hook])
def test_a_report_that_names_the_users_shell_does_not_lock_it_out(
    tmp_path: Path, inside: Inside, user_shell: UserShell, name: Callable[[AskingClient, int], None]
) -> None:
    """Its answers count, also after a restart. The tools of the client are still refused."""
    with running_daemon(tmp_path) as daemon:
        asking = AskingClient(tmp_path, daemon, inside.pid)
        agent = asking.agent["id"]
        name(asking, user_shell.pid)
        wait_until(lambda: len(daemon.agents()) == 2, "the false agent")
        answer_in(asking, user_shell, inside, agent, asking.ask())
    with running_daemon(tmp_path) as daemon:
        asking.daemon = daemon
        answer_in(asking, user_shell, inside, agent, asking.ask("t2"))


def answer_in(asking: AskingClient, shell: UserShell, inside: Inside, agent: str, hook: Hook) -> None:
    """The client's tools cannot approve, and the user can, in this shell."""
    assert "inside an agent" in inside.run(headspace(asking.home, "approve", agent))
    said = shell.run(headspace(asking.home, "approve", agent))
    assert "inside an agent" not in said
    assert printed(hook)["decision"]["behavior"] == "allow", said


def test_agents_known_by_curl_alone_keep_working(tmp_path: Path) -> None:
    """State, waits and stop follow plain requests, until a trusted source reports the same session."""
    with running_daemon(tmp_path) as daemon:
        session = {"session_id": "plain", "cwd": "/tmp"}
        call = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
        steps: list[tuple[str, dict[str, Any]]] = [
            ("session-start", {"source": "startup"}),
            ("user-prompt-submit", {"prompt": "Go"}),
            ("permission-request", call),
            ("post-tool-use", call),
            ("stop", {}),
        ]
        states = [daemon.curl(event, {**session, **fields}).json()["state"] for event, fields in steps]
        assert states == ["idle", "working", "waiting", "working", "idle"]
        daemon.post("user-prompt-submit", {**session, "prompt": "Again"})
        assert daemon.curl("stop", session).json()["state"] == "working"
        assert daemon.verified()


def test_a_plain_request_does_not_join_an_agent_of_the_same_directory(tmp_path: Path) -> None:
    """An idle agent with installed hooks is not continued by another program, nor the other way round."""
    with running_daemon(tmp_path) as daemon:
        ids = [
            send("session-start", {"session_id": name, "cwd": "/tmp/shared"}).json()["agent_id"]
            for name, send in {"hooked": daemon.post, "plain": daemon.curl, "hooked-2": daemon.post}.items()
        ]
        assert ids[0] == ids[2] != ids[1]


# --- the requester ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "body", "scope"),
    [
        ("/api/admin/signin", {}, "admin"),
        ("/api/admin/tokens", {"name": "mine", "scopes": ["act"]}, "admin"),
        ("/api/agents/{agent}/rename", {"name": "free-bird"}, "act"),
        ("/api/agents/{agent}/shares", {}, "act"),
        ("/api/settings", {"settings": {"policy_preset": "off"}}, "act"),
        ("/api/agents/{agent}/close", {"reason": "x"}, "act"),
        ("/api/agents/{agent}/restart", {"reason": "x"}, "act"),
        ("/api/agents/{agent}/resume", {}, "act"),
    ],
)
def test_sign_in_rename_and_close_refuse_agents(
    asking: AskingClient, inside: Inside, path: str, body: dict[str, Any], scope: str
) -> None:
    """The same request is refused from inside an agent, and accepted from the user."""
    path = path.format(agent=asking.agent["id"])
    code = (
        "import http.client, json, sys; c = http.client.HTTPConnection('127.0.0.1', int(sys.argv[1]));"
        "c.request('POST', sys.argv[2], sys.argv[3], {'Content-Type': 'application/json',"
        " 'Authorization': 'Bearer ' + sys.argv[4]}); print(c.getresponse().read().decode())"
    )
    text = str(body).replace("'", '"')
    command = [sys.executable, "-c", code, str(asking.daemon.port), path, text, asking.daemon.token(scope)]
    assert "agents_may_not_act" in inside.run(shlex.join(["env", "-i", *command]))
    assert asking.daemon.send("POST", path, body, scope=scope).status == 200


def test_a_sign_in_link_does_not_work_inside_an_agent(asking: AskingClient, inside: Inside) -> None:
    """A code that an agent saw on the screen gives it no credentials."""
    link = asking.daemon.send("POST", "/api/admin/signin", {}, scope="admin").json()["path"]
    code = "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).status)"
    command = [sys.executable, "-c", code, asking.daemon.url + link]
    assert "403" in inside.run(shlex.join(["env", "-i", *command]))
    assert asking.daemon.send("GET", link).status == 303


@pytest.fixture
def tmux() -> Iterator[Callable[..., object]]:
    """A separate tmux server, with a clean environment."""
    name = f"headspace-{os.getpid()}-{secrets.token_hex(3)}"
    env = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}

    def run(*arguments: str) -> None:
        subprocess.run(["tmux", "-L", name, "-f", "/dev/null", *arguments], env=env, check=True, timeout=LIMIT_SECONDS)

    run("new-session", "-d", "cat")
    yield run
    run("kill-server")


@needs_tmux
def test_tmux_run_shell_does_not_answer(asking: AskingClient, tmux: Callable[..., object], tmp_path: Path) -> None:
    """A command that tmux runs without a terminal is refused with a reason; the same command in a pane answers."""
    hook = asking.ask()
    output = tmp_path / "output.txt"
    command = f"{headspace(asking.home, 'approve', asking.agent['name'])} > {output} 2>&1; true"
    tmux("run-shell", command)
    assert "without a terminal" in output.read_text()
    assert [wait["answered"] for wait in asking.held()] == [None]
    tmux("new-window", "-d", f"sh -c {shlex.quote(command)}")
    assert printed(hook)["decision"]["behavior"] == "allow"


# --- crashes ----------------------------------------------------------------------------------------------------------


def test_an_answer_is_delivered_or_shown_as_not_delivered(tmp_path: Path, inside: Inside) -> None:
    """The daemon is killed right after it acknowledged the answer."""
    with running_daemon(tmp_path) as daemon:
        asking = AskingClient(tmp_path, daemon, inside.pid)
        hook = asking.ask()
        reply = asking.answer({"decision": "allow"})
        daemon.kill()
        assert reply.status == 200
        received = printed(hook)
    with running_daemon(tmp_path) as daemon:
        [wait] = daemon.get("/api/waits").json()
        assert received or wait["undelivered"]["words"] == "allowed"
        assert daemon.verified()
