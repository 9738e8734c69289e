"""Clients other than Claude Code: run and missions, with programs that stand in for them."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import running_daemon, wait_until
from tests.terminals import Terminal, needs_tmux, run_in, terminal

pytestmark = needs_tmux

PROGRAM = """
import json, os, sys
from pathlib import Path
seen = {"arguments": sys.argv[1:], "env": dict(os.environ)}
Path(__file__ + ".seen").write_text(json.dumps(seen))
"""
LOCKS_ITS_SESSION = """
import os, time
from pathlib import Path
folder = Path({sessions!r}, "locked")
folder.mkdir(parents=True)
lock = folder / f"inuse.{{os.getpid()}}.lock"
lock.write_text(str(os.getpid()))
while not (folder / "end").exists():
    time.sleep(0.05)
lock.unlink()
"""
"""A client whose lock file is seen long before its first hook."""
CLIENTS = ("codex", "opencode", "copilot", "gemini")


@pytest.fixture(scope="module")
def tmux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """A shared terminal and its daemon, with a program for each client that records how it was started."""
    folder = tmp_path_factory.mktemp("clients")
    with running_daemon(folder / "home") as daemon, terminal(folder, daemon) as made:
        for program in CLIENTS:
            path = folder / "bin" / program
            path.write_text(f"#!{sys.executable}\n{PROGRAM}")
            path.chmod(0o755)
        yield made
        assert daemon.verified()


def seen(tmux: Terminal, program: str) -> dict[str, Any]:
    """How a program was started last."""
    path = Path(tmux.folder / "bin" / f"{program}.seen")
    wait_until(path.exists, f"a start of {program}")
    found: dict[str, Any] = json.loads(path.read_text())
    path.unlink()
    return found


@pytest.mark.parametrize("client", CLIENTS)
def test_run_registers_an_agent_of_the_client(tmux: Terminal, client: str) -> None:
    """The board shows the client. Its hooks find the agent by the variables that it inherits."""
    done = run_in(tmux, "run", client, "--here", "--name", f"runs-{client}", "--model", "m")
    assert done.returncode == 0, done.stderr
    agent = tmux.daemon.agent(f"runs-{client}")
    assert (agent["client"], agent["state"]) == (client, "ended")
    started = seen(tmux, client)
    assert started["arguments"][-2:] == ["--model", "m"]
    assert started["env"]["CLAUDE_HEADSPACE_SESSION_ID"]


def test_a_client_does_not_inherit_the_session_of_another_one(tmux: Terminal) -> None:
    """A client that a tool of another client starts would otherwise act as that agent."""
    run_in(tmux, "run", "codex", "--here", CLAUDE_CODE_SESSION_ID="outer", CLAUDECODE="1", CODEX_HOME="/kept")
    env = seen(tmux, "codex")["env"]
    assert "CLAUDE_CODE_SESSION_ID" not in env
    assert env["CODEX_HOME"] == "/kept"


OPEN_PROGRAM = "#!/bin/sh\nread -r line\nexit 3\n"
"""A client that reports nothing, and ends at the first line."""


def ended_agent(tmux: Terminal, tmp_path: Path, session_id: str, client: str = "codex") -> dict[str, Any]:
    """An agent of a client whose session has ended."""
    headers = {"X-Headspace-Client": client, "X-Headspace-Tmux-Pane": "%77", "X-Headspace-Tmux-Session": "before"}
    session = {"session_id": session_id, "cwd": str(tmp_path)}
    tmux.daemon.post("SessionStart", {**session, "source": "startup"}, headers)
    reply = tmux.daemon.post("SessionEnd", {**session, "reason": "other"}, headers).json()
    agent = tmux.daemon.agent(reply["agent_id"])
    assert (agent["state"], agent["tmux"]) == ("ended", {"session": "before", "pane": "%77"})
    return agent


def test_a_resumed_client_that_does_not_report_is_idle(tmux: Terminal, tmp_path: Path) -> None:
    """Codex reports a resumed session only with the next prompt. Until then `resume` reports its start and its end."""
    agent = ended_agent(tmux, tmp_path, "resumed-thread")
    program = tmp_path / "codex"
    program.write_text(OPEN_PROGRAM)
    program.chmod(0o755)
    path = f"{tmp_path}:{tmux.env['PATH']}"
    pane = tmux.start(f"PATH={path} headspace resume {agent['id']}; exec cat", session="after")
    back = tmux.agent_in(pane)
    assert (back["id"], back["session_id"], back["tmux"]["session"]) == (agent["id"], "resumed-thread", "after")
    refused = run_in(tmux, "resume", agent["id"])
    assert f"`headspace jump {agent['name']}` switches to it." in refused.stderr
    jumped = run_in(tmux, "jump", agent["id"])
    assert "can be shown only in a terminal" in jumped.stderr
    assert "attach-session -t after" in jumped.stderr
    tmux.keys(pane, "Enter")
    wait_until(lambda: tmux.daemon.agent(agent["id"])["state"] == "ended", "the end of the client")
    assert tmux.daemon.agent(agent["id"])["end_reason"] == "exited with 3"


def test_a_client_that_still_starts_gets_no_prompt(tmux: Terminal, tmp_path: Path) -> None:
    """The refusal does not claim that a dialog is open."""
    program = tmp_path / "opencode"
    program.write_text(OPEN_PROGRAM)
    program.chmod(0o755)
    pane = tmux.start(f"PATH={tmp_path}:{tmux.env['PATH']} headspace run opencode --name slow-start")
    tmux.agent_in(pane, "starting")
    refused = run_in(tmux, "send", "slow-start", "Hello")
    assert "does not show its input box yet: its client is starting" in refused.stderr
    assert "Try again in a few seconds." in refused.stderr
    tmux.keys(pane, "Enter")


def test_an_agent_that_runs_without_a_known_terminal_is_not_resumed(tmux: Terminal, tmp_path: Path) -> None:
    """The refusal does not name `jump`, which could not switch to it."""
    session = {"session_id": "elsewhere-thread", "cwd": str(tmp_path)}
    reply = tmux.daemon.post("SessionStart", session, {"X-Headspace-Client": "codex"}).json()
    refused = run_in(tmux, "resume", reply["agent_id"])
    assert "is still running" in refused.stderr
    assert "Use the terminal that shows it" in refused.stderr
    assert "jump" not in refused.stderr


def test_a_missing_client_is_named(tmux: Terminal) -> None:
    """The message says which program is missing."""
    missing = run_in(tmux, "run", "opencode", "--here", PATH="/usr/bin:/bin")
    assert missing.returncode == 127
    assert "The program `opencode` was not found" in missing.stderr


@pytest.mark.parametrize(
    ("options", "first"),
    [
        ((), ["--no-daemon", "--"]),
        (("--background",), ["--no-daemon", "exec", "--"]),
    ],
)
def test_a_mission_runs_in_the_chosen_client(tmux: Terminal, options: tuple[str, ...], first: list[str]) -> None:
    """The worker gets its goal as the first prompt, and belongs to the mission."""
    done = run_in(tmux, "mission", "start", "Count the tests", "--client", "codex", "--json", *options)
    assert done.returncode == 0, done.stderr
    mission = json.loads(done.stdout)
    started = seen(tmux, "codex")
    assert started["arguments"][:-1] == first
    assert "Count the tests" in started["arguments"][-1]
    assert started["env"]["MISSION_EXECUTION_ID"] == mission["id"]
    assert tmux.daemon.agent(mission["workers"][0]["id"])["client"] == "codex"


def test_a_mission_is_one_agent_although_its_client_is_seen_before_its_first_hook(tmux: Terminal) -> None:
    """The lock file of the client is that of the agent that was registered for the mission."""
    sessions, program = tmux.daemon.home / ".copilot/session-state", tmux.folder / "bin/copilot"
    before, others = program.read_text(), {agent["id"] for agent in tmux.daemon.agents()}
    program.write_text(f"#!{sys.executable}\n{LOCKS_ITS_SESSION.format(sessions=str(sessions))}")
    try:
        done = run_in(tmux, "mission", "start", "Count the tests", "--json", "--client", "copilot")
        assert done.returncode == 0, done.stderr
        worker = json.loads(done.stdout)["workers"][0]["id"]
        wait_until(lambda: tmux.daemon.agent(worker)["session_id"] == "locked", "the session of the worker")
        assert {agent["id"] for agent in tmux.daemon.agents()} - others == {worker}
        assert tmux.daemon.agent(worker)["state"] == "idle"
    finally:
        program.write_text(before)
        (sessions / "locked").mkdir(parents=True, exist_ok=True)
        (sessions / "locked/end").touch()
    wait_until(lambda: tmux.daemon.agent(worker)["state"] == "ended", "the end of the worker")


@pytest.fixture
def broken(tmp_path: Path) -> str:
    """A path with a program of opencode that is no program, and one of Codex that fails."""
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    (folder / "opencode").write_text("the program was not installed\n")
    errors = "echo reading >&2\necho 'Not inside a trusted directory.' >&2"
    (folder / "codex").write_text(f"#!/bin/sh\n{errors}\nexit 1\n")
    for name in ("opencode", "codex"):
        (folder / name).chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def test_a_program_that_cannot_be_run_is_described(tmux: Terminal, broken: str) -> None:
    """The error says what is wrong with it and what to do; no agent stays behind."""
    done = run_in(tmux, "run", "opencode", "--here", "--name", "unusable", PATH=broken)
    assert done.returncode == 126
    assert "/opencode cannot be run: it is not a program for this machine" in done.stderr
    assert "Install the client again" in done.stderr
    agent = tmux.daemon.agent("unusable")
    assert (agent["state"], agent["end_reason"].startswith("not started: ")) == ("ended", True)


def mission_after(tmux: Terminal, path: str, *options: str) -> dict[str, Any]:
    """A mission that ended right after its start."""
    done = run_in(tmux, "mission", "start", "Count the tests", "--json", *options, PATH=path)
    assert done.returncode == 0, done.stderr
    name = json.loads(done.stdout)["id"]

    def found() -> dict[str, Any]:
        return dict(json.loads(run_in(tmux, "mission", "show", name, "--json").stdout))

    wait_until(lambda: found()["ended_at"], "the end of the mission")
    return found()


def test_a_mission_whose_program_cannot_be_run_fails(tmux: Terminal, broken: str) -> None:
    """With the reason."""
    mission = mission_after(tmux, broken, "--client", "opencode")
    assert mission["outcome"] == "failed"
    assert "cannot be run: it is not a program for this machine" in mission["words"]


def test_a_background_mission_shows_why_its_client_failed(tmux: Terminal, broken: str) -> None:
    """The last line of the error output, because its terminal is closed."""
    mission = mission_after(tmux, broken, "--client", "codex", "--background")
    assert "exited with 1: Not inside a trusted directory." in mission["words"]


def test_an_unknown_client_starts_no_mission(tmux: Terminal) -> None:
    """The message lists the clients that Headspace knows."""
    done = run_in(tmux, "mission", "start", "Count", "--client", "aider")
    assert done.returncode != 0
    assert "It knows claude-code, codex" in done.stderr
