"""The life of agents in real terminals: stop and archive, in a separate tmux server."""

import os
import signal
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support import environment, running_daemon, running_daemon_in, wait_until
from tests.terminals import Terminal, needs_tmux, run_in, terminal

pytestmark = needs_tmux


@pytest.fixture(scope="module")
def tmux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """A shared terminal and its daemon. Each test has its own panes."""
    folder = tmp_path_factory.mktemp("lifecycle")
    with running_daemon(folder / "home") as daemon, terminal(folder, daemon) as made:
        yield made


# --- stop -------------------------------------------------------------------------------------------------------------


def test_an_idle_client_is_stopped_with_its_exit_command(tmux: Terminal) -> None:
    """The client exits by itself, and the end is known as one that a person wanted."""
    agent = tmux.agent_in(tmux.start("claude"))
    done = run_in(tmux, "stop", "--yes", agent["name"])
    assert (done.stdout, done.stderr) == (f"{agent['name']} has ended.\n", "")
    assert tmux.prompts()[-1] == "/exit"
    after = tmux.daemon.agent(agent["id"])
    assert (after["state"], after["end_reason"], after["crashed"]) == ("ended", "stopped", False)
    events = tmux.daemon.get(f"/api/agents/{agent['id']}/events").json()
    (asked,) = [event for event in events if event["name"] == "StopRequested"]
    assert asked["payload"]["via"] == "cli"
    assert tmux.daemon.verified()


def test_a_client_at_a_dialog_is_ended_with_a_signal(tmux: Terminal) -> None:
    """Nothing is typed into a dialog: the client gets SIGTERM."""
    pane = tmux.start("claude")
    tmux.agent_in(pane)
    tmux.keys(pane, "ask", "Enter")
    agent = tmux.agent_in(pane, "waiting")
    before = len(tmux.prompts())
    done = run_in(tmux, "stop", "--yes", agent["name"])
    assert done.stdout == f"{agent['name']} has ended, after SIGTERM.\n", done.stderr
    assert len(tmux.prompts()) == before
    assert not psutil.pid_exists(agent["pid"])


def test_a_client_that_ignores_everything_is_killed(tmux: Terminal) -> None:
    """With `--force` nothing is typed. A stopped process ends only with SIGKILL."""
    agent = tmux.agent_in(tmux.start("claude"))
    os.kill(agent["pid"], signal.SIGSTOP)
    done = run_in(tmux, "stop", "--force", "--yes", agent["name"])
    assert done.stdout == f"{agent['name']} was killed: it did not end by itself.\n", done.stderr
    assert tmux.daemon.agent(agent["id"])["end_reason"] == "stopped"


def test_stopping_needs_a_confirmation_and_the_exact_name(tmux: Terminal) -> None:
    """Without a terminal `--yes` is required. An agent that has ended is not stopped again."""
    agent = tmux.agent_in(tmux.start("claude"))
    done = run_in(tmux, "stop", agent["name"])
    assert (done.returncode, "Use --yes." in done.stderr) == (1, True)
    assert tmux.daemon.agent(agent["id"])["state"] == "idle"
    assert run_in(tmux, "stop", "--yes", agent["id"]).returncode == 0
    again = run_in(tmux, "stop", "--yes", agent["name"])
    assert (again.returncode, "has ended already" in again.stderr) == (1, True)


# --- archive ----------------------------------------------------------------------------------------------------------


def test_an_archived_agent_leaves_the_board_until_it_runs_again(tmux: Terminal) -> None:
    """Only ended agents can be archived. `--undo` and a resumed client put the agent back."""
    agent = tmux.agent_in(tmux.start("claude", project="archived"))
    name = agent["name"]
    refused = run_in(tmux, "archive", "--yes", name)
    assert (refused.returncode, "still running" in refused.stderr) == (1, True)
    run_in(tmux, "stop", "--yes", name)
    assert run_in(tmux, "archive", "--yes", name).stdout == f"Archived {name}.\n"
    assert agent["id"] not in [each["id"] for each in tmux.daemon.agents()]
    assert name in run_in(tmux, "list", "--all").stdout
    assert run_in(tmux, "archive", "--undo", name).stdout == f"Back on the board: {name}.\n"
    for which in (name, "--ended"):
        assert run_in(tmux, "archive", "--undo", which).stdout == "None of these agents is archived.\n"
    ended = {each["name"] for each in tmux.daemon.agents() if each["state"] == "ended"}  # other tests leave some behind
    for options, words in ((("--yes",), "Archived "), (("--undo",), "Back on the board: ")):
        listed = run_in(tmux, "archive", *options, "--ended").stdout
        assert listed.startswith(words)
        assert set(listed.removeprefix(words).rstrip(".\n").split(", ")) == ended
    assert agent["id"] in [each["id"] for each in tmux.daemon.agents()]
    run_in(tmux, "archive", "--yes", name)
    pane = tmux.start(f"headspace resume {name}", project="archived")
    assert tmux.agent_in(pane)["id"] == agent["id"]
    assert tmux.daemon.verified()


# --- names that other tools use ---------------------------------------------------------------------------------------


def test_names_of_other_tools_work_or_name_the_command(tmux: Terminal) -> None:
    """`ls` and `ps` list agents, `attach` jumps, `kill` names the right command."""
    agent = tmux.agent_in(tmux.start("claude"))
    for name in ("ls", "ps"):
        assert agent["name"] in run_in(tmux, name).stdout
    assert "AGENT" in run_in(tmux, "attach", "--help").stdout
    refused = run_in(tmux, "kill", agent["name"])
    assert (refused.returncode, "Use `headspace stop --force AGENT`." in refused.stderr) == (2, True)
    wait_until(lambda: tmux.daemon.agent(agent["id"])["state"] == "idle", "the untouched agent")


# --- new, fork, restart -----------------------------------------------------------------------------------------------


def sessions(tmux: Terminal) -> list[str]:
    """The tmux sessions."""
    return tmux.tmux("list-sessions", "-F", "#{session_name}").splitlines()


def started(tmux: Terminal) -> list[list[str]]:
    """The arguments of all clients that were started."""
    return [note["start"] for note in tmux.notes() if "start" in note]


def test_a_new_agent_runs_in_a_tmux_session_of_its_own(tmux: Terminal, tmp_path: Path) -> None:
    """Project, prompt, model and permission mode arrive at the client, and the session ends with the agent."""
    given = ("--project", str(tmp_path), "--model", "opus", "--permission-mode", "plan", "--prompt", "Say; 'hi'.")
    done = run_in(tmux, "new", "--name", "fresh", *given, "--", "--add-dir", "..")
    assert (done.stdout, done.stderr) == ("fresh was started, in the tmux session fresh.\n", "")
    assert "fresh" in sessions(tmux)
    agent = wait_until(
        lambda: [each for each in tmux.daemon.agents() if each["name"] == "fresh" and each["state"] == "idle"], "fresh"
    )[0]
    assert agent["cwd"] == str(tmp_path)
    assert started(tmux)[-1] == [
        *("--model", "opus", "--permission-mode", "plan"),
        *("--add-dir", "..", "--", "Say; 'hi'."),
    ]
    assert run_in(tmux, "stop", "--yes", "fresh").returncode == 0
    wait_until(lambda: "fresh" not in sessions(tmux), "the end of the tmux session")


def test_a_new_agent_works_in_a_worktree_of_its_own(tmux: Terminal, tmp_path: Path) -> None:
    """The worktree and its branch are created, and kept when the agent is stopped."""
    shop = tmp_path / "shop"
    shop.mkdir()
    for command in (
        ("init", "-q"),
        ("-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "1", "--allow-empty"),
    ):
        subprocess.run(["git", *command], cwd=shop, check=True)
    done = run_in(tmux, "new", "--project", str(shop), "--worktree", "login-fix")
    assert done.stdout == "login-fix was started, in the tmux session login-fix.\n", done.stderr
    wait_until(lambda: tmux.daemon.agent("login-fix")["state"] == "idle", "the agent")
    directory = Path(tmux.daemon.agent("login-fix")["cwd"])
    assert (directory != shop, (directory / ".git").is_file()) == (True, True)
    assert run_in(tmux, "stop", "--yes", "login-fix").returncode == 0
    wait_until(lambda: "login-fix" not in sessions(tmux), "the end of the tmux session")
    assert directory.is_dir()


def test_a_new_agent_that_cannot_start_is_refused_with_the_reason(tmux: Terminal, tmp_path: Path) -> None:
    """Everything is checked before a tmux session is created."""
    before = sessions(tmux)
    refusals = {
        ("new", "--permission-mode", "wild"): "Use one of: default, acceptEdits",
        ("new", "--project", str(tmp_path / "missing")): "There is no directory",
        ("new", "codex"): "The program `codex` was not found",
    }
    for command, reason in refusals.items():
        done = run_in(tmux, *command, PATH=f"{tmux.folder / 'bin'}:/usr/bin:/bin")
        assert (done.returncode != 0, reason in done.stderr) == (True, True), done.stderr
    assert sessions(tmux) == before


def test_a_conversation_is_continued_twice(tmux: Terminal) -> None:
    """The fork is another agent with the same directory. The first one goes on."""
    agent = tmux.agent_in(tmux.start("claude"))
    done = run_in(tmux, "fork", agent["name"], "--name", "second", "--prompt", "Go on.")
    assert done.stdout == f"second continues the conversation of {agent['name']}, in the tmux session second.\n"
    made = wait_until(
        lambda: [each for each in tmux.daemon.agents() if each["name"] == "second" and each["state"] == "idle"], "it"
    )[0]
    assert (made["id"] != agent["id"], made["cwd"]) == (True, agent["cwd"])
    assert started(tmux)[-1] == ["--resume", agent["session_id"], "--fork-session", "--", "Go on."]
    assert tmux.daemon.agent(agent["id"])["state"] == "idle"
    assert tmux.daemon.verified()


def test_crashed_agents_are_restarted(tmux: Terminal) -> None:
    """A killed client is a crash, a stopped one is not. `restart --crashed` resumes the same agent and session."""
    agent = tmux.agent_in(tmux.start("claude", session="lost"))
    os.kill(agent["pid"], signal.SIGKILL)
    wait_until(lambda: tmux.daemon.agent(agent["id"])["crashed"], "the crash")
    done = run_in(tmux, "restart", "--crashed")
    assert done.stdout == f"Restarted {agent['name']}.\n", done.stderr
    back = tmux.daemon.agent(agent["id"])
    assert (back["session_id"], back["crashed"], back["state"] != "ended") == (agent["session_id"], False, True)
    assert run_in(tmux, "restart", "--crashed").stdout == "No agent on the board has crashed.\n"
    wait_until(lambda: tmux.daemon.agent(agent["id"])["state"] == "idle", "the restarted client")
    again = run_in(tmux, "restart", "--yes", agent["name"])
    assert again.stdout == f"Restarted {agent['name']}.\n", again.stderr
    assert tmux.daemon.agent(agent["id"])["pid"] != back["pid"]


# --- the API ----------------------------------------------------------------------------------------------------------


def test_the_api_starts_forks_and_resumes_agents(tmp_path: Path) -> None:
    """The daemon does the same as the commands, with its own environment. No option is smuggled in as a model."""
    home, sockets = tmp_path / "home", Path("/tmp") / f"hs-tmux-{uuid.uuid4().hex[:8]}"
    sockets.mkdir(mode=0o700)
    env = {
        **environment(home),
        "PATH": f"{tmp_path / 'terminal/bin'}:{os.environ['PATH']}",
        "TMUX_TMPDIR": str(sockets),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "FAKE_CLIENT_LOG": str(tmp_path / "terminal/client.jsonl"),
    }
    with running_daemon_in(home, env) as daemon, terminal(tmp_path / "terminal", daemon) as tmux:
        tmux.end()
        tmux.sockets = sockets  # the server that the daemon starts
        wanted = {"directory": str(tmp_path), "name": "one", "permission_mode": "plan", "prompt": "Say hi."}
        smuggled = daemon.send("POST", "/api/agents/start", {**wanted, "model": "--bad"}, scope="act")
        assert (smuggled.status, smuggled.json()["error"]["code"]) == (400, "bad_model")
        one = daemon.send("POST", "/api/agents/start", wanted, scope="act").json()
        assert (one["name"], one["tmux"]["session"]) == ("one", "one")
        wait_until(lambda: daemon.agent("one")["state"] == "idle", "the new agent")
        two = daemon.send("POST", "/api/agents/one/fork", {"name": "two"}, scope="act").json()
        assert (two["name"], two["id"] != one["id"], two["cwd"]) == ("two", True, one["cwd"])
        assert sorted(sessions(tmux)) == ["one", "two"]
        running = daemon.send("POST", "/api/agents/one/start", {}, scope="act")
        assert running.json()["error"]["code"] == "not_ended"
        daemon.send("POST", "/api/agents/one/stop", {}, scope="act")
        back = daemon.send("POST", "/api/agents/one/start", {}, scope="act").json()
        assert (back["id"], back["state"] != "ended") == (one["id"], True)
