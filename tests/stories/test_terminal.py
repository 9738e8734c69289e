"""Agents in real terminals: run, send, jump and resume, in a separate tmux server."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support import RunningDaemon, running_daemon, wait_until
from tests.support_rpc import call
from tests.terminals import Terminal, needs_tmux, run_in, terminal

pytestmark = needs_tmux


@pytest.fixture(scope="module")
def tmux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """A shared terminal and its daemon. Each test has its own panes."""
    folder = tmp_path_factory.mktemp("terminal")
    with running_daemon(folder / "home") as daemon, terminal(folder, daemon) as made:
        yield made


# --- send -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Run the tests again.",
        "ends with a semicolon;",
        "-l looks like an option",
        "$(touch /tmp/never) `id` 'quoted' \"twice\" \\ #{pane_id} %1 ~",
        "Grüße, 日本語, 🐧",
        "Enter",
        "C-c",
        "one\ntwo\n\n  three;",
        "long " * 200,
    ],
)
def test_a_sent_text_arrives_once_and_unchanged(tmux: Terminal, text: str) -> None:
    """Every text is typed literally and once, and the client's prompt confirms it."""
    pane = tmux.start("claude")
    agent = tmux.agent_in(pane)
    before = len(tmux.prompts())
    done = run_in(tmux, "send", agent["name"], "--", text)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{agent['name']} received the prompt.\n"
    assert tmux.prompts()[before:] == [text.strip()] or tmux.prompts()[before:] == [text]
    tmux.keys(pane, "/exit", "Enter")


def test_a_prompt_waits_for_a_client_that_was_just_started(tmux: Terminal) -> None:
    """Its input box is shown before its first hook has fired: the prompt arrives after it."""
    gate = tmux.folder / "gate"
    pane = tmux.start(f"FAKE_CLIENT_GATE={gate} headspace run --name early")
    wait_until(lambda: any(agent["name"] == "early" for agent in tmux.daemon.agents()), "the placeholder")
    command = [str(tmux.folder / "bin/headspace"), "send", "early", "At once."]
    sender = subprocess.Popen(command, env=tmux.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    with contextlib.suppress(subprocess.TimeoutExpired):
        sender.wait(1)
    gate.touch()
    assert sender.communicate(timeout=60)[0] == "early received the prompt.\n"
    assert tmux.prompts()[-1] == "At once."
    tmux.keys(pane, "/exit", "Enter")


def test_the_log_records_who_typed_what(tmux: Terminal) -> None:
    """A typed text is an operator's act in the log, and one turn, not two."""
    pane = tmux.start("claude")
    agent = tmux.agent_in(pane)
    run_in(tmux, "send", agent["id"], "Say who.")
    events = tmux.daemon.get(f"/api/agents/{agent['id']}/events").json()
    (typed,) = [event for event in events if event["name"] == "TextTyped"]
    assert (typed["origin"], typed["payload"]["text"]) == ("operator", "Say who.")
    turns = tmux.daemon.get(f"/api/agents/{agent['id']}/turns").json()
    assert [turn["text"] for turn in turns if turn["actor"] == "USER"] == ["Say who."]
    assert tmux.daemon.verified()


def test_the_same_send_twice_is_typed_once(tmux: Terminal) -> None:
    """A sender that got no reply may repeat the request with the same id."""
    pane = tmux.start("claude")
    agent = tmux.agent_in(pane)
    before = len(tmux.prompts())
    path, body = f"/api/agents/{agent['id']}/send", {"text": "Only once.", "id": f"once-{agent['id']}"}
    answers = [tmux.daemon.send("POST", path, body, scope="act").json()["status"] for _ in range(2)]
    assert answers == ["confirmed", "duplicate"]
    assert tmux.prompts()[before:] == ["Only once."]


def test_simultaneous_texts_do_not_mix(tmux: Terminal) -> None:
    """Texts to the same pane are typed one after the other."""
    pane = tmux.start("claude")
    agent = tmux.agent_in(pane)
    before = len(tmux.prompts())
    texts = [f"number {number} of several" for number in range(4)]
    env = tmux.env
    senders = [
        subprocess.Popen([tmux.folder / "bin/headspace", "send", agent["id"], text], env=env, stdout=subprocess.DEVNULL)
        for text in texts
    ]
    assert [sender.wait(60) for sender in senders] == [0] * 4
    assert sorted(tmux.prompts()[before:]) == texts


def test_a_dialog_is_not_typed_into(tmux: Terminal) -> None:
    """A dialog would treat the text as an answer, so it is refused and nothing is typed."""
    pane = tmux.start("claude")
    tmux.agent_in(pane)
    tmux.keys(pane, "ask", "Enter")
    agent = tmux.agent_in(pane, "waiting")
    before = len(tmux.prompts())
    done = run_in(tmux, "send", agent["name"], "Anything.")
    assert done.returncode == 1
    assert "waits at a dialog" in done.stderr
    assert len(tmux.prompts()) == before


def test_a_draft_is_not_mixed_with_a_sent_text(tmux: Terminal) -> None:
    """With a draft in the input box nothing is typed, and the refusal quotes the draft."""
    pane = tmux.start("claude")
    agent = tmux.agent_in(pane)
    before = len(tmux.prompts())
    tmux.keys(pane, "please DELETE everything in")
    tmux.wait_for(pane, "DELETE everything in")
    done = run_in(tmux, "send", agent["name"], "Say ok")
    assert done.returncode == 1
    assert "has a draft in its input box: “please DELETE everything in”" in done.stderr
    assert "--keep-draft" in done.stderr
    tmux.keys(pane, " tmp", "Enter")
    wait_until(lambda: tmux.prompts()[before:] == ["please DELETE everything in tmp"], "the unchanged draft")
    events = tmux.daemon.get(f"/api/agents/{agent['id']}/events").json()
    assert not [event for event in events if event["name"] == "TextTyped"]


def test_a_draft_can_be_kept(tmux: Terminal) -> None:
    """With `--keep-draft` only the sent text is submitted, and the draft is in the input box again."""
    pane = tmux.start("claude")
    agent = tmux.agent_in(pane)
    before = len(tmux.prompts())
    tmux.keys(pane, "half a thought")
    tmux.wait_for(pane, "half a thought")
    done = run_in(tmux, "send", "--keep-draft", agent["name"], "Say ok")
    assert done.stdout == f"{agent['name']} received the prompt. The draft is back in its input box.\n", done.stderr
    assert tmux.prompts()[before:] == ["Say ok"]
    tmux.keys(pane, "Enter")
    wait_until(lambda: tmux.prompts()[before:] == ["Say ok", "half a thought"], "the restored draft")


def test_a_command_that_ends_the_client_is_delivered(tmux: Terminal) -> None:
    """The client does not report it as a prompt, and it has no input box any more."""
    agent = tmux.agent_in(tmux.start("claude; exec cat"))
    done = run_in(tmux, "send", agent["name"], "/exit")
    assert (done.stdout, done.stderr) == (f"{agent['name']} received the prompt.\n", "")


def test_a_hidden_input_box_is_not_typed_into(tmux: Terminal) -> None:
    """If the screen shows no input box at the cursor, another view is open, and nothing is typed."""
    pane = tmux.start("claude")
    agent = tmux.agent_in(pane)
    before = len(tmux.prompts())
    tty = tmux.tmux("display-message", "-p", "-t", pane, "#{pane_tty}")
    Path(tty).write_text("\x1b[2J\x1b[HSelect a model")
    tmux.wait_for(pane, "Select a model")
    done = run_in(tmux, "send", agent["name"], "Say ok")
    assert (done.returncode, "does not show its input box" in done.stderr) == (1, True)
    assert len(tmux.prompts()) == before


def test_an_idle_agent_is_not_interrupted(tmux: Terminal) -> None:
    """A second Esc would open the client's own dialog, so no key is pressed and nothing is recorded."""
    pane = tmux.start("claude")
    agent = tmux.agent_in(pane)
    done = run_in(tmux, "interrupt", agent["name"])
    assert (done.returncode, "nothing that could be interrupted" in done.stderr) == (1, True)
    events = tmux.daemon.get(f"/api/agents/{agent['id']}/events").json()
    assert not [event for event in events if event["name"] == "EscPressed"]


def test_another_program_in_the_pane_is_not_interrupted(tmux: Terminal) -> None:
    """The agent is shown as working, but its client no longer runs there, so no key is pressed."""
    pane = tmux.start("claude; exec cat -v")
    agent = tmux.agent_in(pane)
    tmux.daemon.post("user-prompt-submit", {"session_id": agent["session_id"], "cwd": agent["cwd"], "prompt": "Go"})
    tmux.tmux("respawn-pane", "-k", "-t", pane, "exec cat -v")
    reply = tmux.daemon.send("POST", f"/api/agents/{agent['id']}/interrupt", {}, scope="act")
    assert (reply.status, reply.error["code"] in ("pane_taken", "at_rest", "pane_gone")) == (409, True), reply.body
    assert "^[" not in tmux.screen(pane)


def test_an_ended_agent_is_not_typed_to(tmux: Terminal) -> None:
    """The refusal names the command to resume it."""
    pane = tmux.start("claude; exec sh")
    agent = tmux.agent_in(pane)
    tmux.keys(pane, "/exit", "Enter")
    wait_until(lambda: tmux.daemon.agent(agent["id"])["state"] == "ended", "the end of the agent")
    done = run_in(tmux, "send", agent["id"], "Hello?")
    assert done.returncode == 1
    assert f"headspace resume {agent['name']}" in done.stderr


def test_another_program_in_the_pane_gets_nothing(tmux: Terminal) -> None:
    """The pane belongs to the agent only while its client runs there."""
    pane = tmux.start("claude; exec cat")
    agent = tmux.agent_in(pane)
    stranger = subprocess.Popen(["sleep", "600"], env={"TMUX": tmux.tmux("display", "-p", "#{socket_path},1,0")})
    try:
        os.kill(agent["pid"], signal.SIGKILL)  # no hook replaces the process of a client that runs
        wait_until(lambda: tmux.daemon.agent(agent["id"])["state"] == "ended", "the end of the client")
        payload = {"session_id": agent["session_id"], "cwd": "/nowhere", "tmux_pane": pane, "client_pid": stranger.pid}
        tmux.daemon.post("notification", {**payload, "notification_type": "x"})
        reply = tmux.daemon.send("POST", f"/api/agents/{agent['id']}/send", {"text": "Secret."}, scope="act")
        assert (reply.status, reply.error["code"]) == (409, "pane_taken")
        assert "Secret." not in tmux.screen(pane)
    finally:
        stranger.kill()
        stranger.wait()


@pytest.mark.parametrize("text", ["", "  \n ", "\x1b[2J", "bell\x07", "c1\x9b2J"])
def test_control_characters_are_refused(tmux: Terminal, text: str) -> None:
    """They are never typed, and neither is an empty text."""
    pane = tmux.start("claude")
    agent = tmux.agent_in(pane)
    reply = tmux.daemon.send("POST", f"/api/agents/{agent['id']}/send", {"text": text}, scope="act")
    assert (reply.status, reply.error["code"]) == (409, "bad_text")
    tmux.keys(pane, "/exit", "Enter")


def test_an_agent_outside_of_tmux_is_refused_with_a_reason(tmux: Terminal) -> None:
    """Without a pane nothing can be typed."""
    tmux.daemon.post("session-start", {"session_id": "elsewhere", "cwd": "/projects/elsewhere"})
    agent = next(agent for agent in tmux.daemon.agents() if agent["session_id"] == "elsewhere")
    done = run_in(tmux, "send", agent["name"], "Hello.")
    assert done.returncode == 1
    assert "does not run in tmux" in done.stderr


def test_a_pane_in_copy_mode_receives_the_text(tmux: Terminal) -> None:
    """The user has scrolled up. The text goes to the client, not to tmux."""
    pane = tmux.start("claude")
    agent = tmux.agent_in(pane)
    tmux.tmux("copy-mode", "-t", pane)
    before = len(tmux.prompts())
    assert run_in(tmux, "send", agent["id"], "q and more").returncode == 0
    assert tmux.prompts()[before:] == ["q and more"]


# --- run --------------------------------------------------------------------------------------------------------------


def test_run_registers_the_agent_first(tmux: Terminal) -> None:
    """The placeholder becomes the agent: one agent, with the given name, role and mode."""
    count = len(tmux.daemon.agents())
    pane = tmux.start("headspace run --name login-fix --role reviewer --mode mission --model opus", session="runs")
    agent = tmux.agent_in(pane)
    assert len(tmux.daemon.agents()) == count + 1
    assert (agent["name"], agent["role"], agent["mode"]) == ("login-fix", "reviewer", "mission")
    assert agent["tmux"] == {"session": "runs", "pane": pane}
    events = tmux.daemon.get(f"/api/agents/{agent['id']}/events").json()
    assert [event["name"] for event in events] == ["AgentRegistered", "SessionStart"]
    assert events[1]["correlation"] == "headspace_id"
    started = tmux.notes()[-1]
    assert started["start"] == ["--model", "opus"]
    assert started["env"]["CLAUDE_HEADSPACE_TMUX_SESSION"] == "runs"
    assert started["env"]["CLAUDE_HEADSPACE_SESSION_ID"] == started["env"]["CLAUDE_SESSION_ID"]
    assert tmux.daemon.verified()


@pytest.mark.parametrize("code", [0, 7])
def test_run_has_the_exit_code_of_the_client(tmux: Terminal, tmp_path: Path, code: int) -> None:
    """The agent has ended too."""
    code_file = tmp_path / "code"
    pane = tmux.start(f"headspace run; echo $? >{code_file}; exec sh")
    agent = tmux.agent_in(pane)
    tmux.keys(pane, f"/exit {code}", "Enter")
    wait_until(lambda: code_file.exists() and code_file.read_text().strip() == str(code), "the exit code")
    wait_until(lambda: tmux.daemon.agent(agent["id"])["state"] == "ended", "the end of the agent")


def test_signals_reach_the_client(tmux: Terminal, tmp_path: Path) -> None:
    """A signal to the wrapper ends the client, and the exit code contains the signal."""
    code_file = tmp_path / "code"
    pane = tmux.start(f"headspace run; echo $? >{code_file}; exec sh")
    agent = tmux.agent_in(pane)
    wrapper = int(Path(f"/proc/{agent['pid']}/stat").read_text().rpartition(") ")[2].split()[1])
    os.kill(wrapper, signal.SIGTERM)
    wait_until(
        lambda: code_file.exists() and code_file.read_text().strip() == str(128 + signal.SIGTERM), "the exit code"
    )
    wait_until(lambda: tmux.daemon.agent(agent["id"])["state"] == "ended", "the end of the agent")


def test_a_client_without_hooks_leaves_no_placeholder(tmux: Terminal, tmp_path: Path) -> None:
    """The placeholder ends with the client, even without a hook."""
    broken = tmp_path / "claude"
    broken.write_text("#!/bin/sh\nexit 9\n")
    broken.chmod(0o755)
    done = run_in(tmux, "run", "--here", "--name", "never", PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == 9
    assert tmux.daemon.agent("never")["state"] == "ended"


def test_a_killed_wrapper_leaves_no_placeholder(tmux: Terminal, tmp_path: Path) -> None:
    """Its placeholder ends although nothing reported it. A client that still runs reports itself."""
    silent = tmp_path / "claude"
    silent.write_text("#!/bin/sh\nexec sleep 600\n")
    silent.chmod(0o755)
    env = {**tmux.env, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    wrapper = subprocess.Popen([tmux.folder / "bin/headspace", "run", "--here", "--name", "orphan"], env=env)
    child = wait_until(lambda: psutil.Process(wrapper.pid).children(), "the client")[0]
    assert tmux.daemon.agent("orphan")["state"] == "starting"
    wrapper.kill()
    wrapper.wait()
    wait_until(lambda: tmux.daemon.agent("orphan")["state"] == "ended", "the end of the placeholder")
    assert tmux.daemon.agent("orphan")["end_reason"] == "the process that started it ended"
    child.kill()


def test_a_supervised_client_continues_in_a_new_session(tmux: Terminal) -> None:
    """With a full context it is restarted as the same agent. Leaving the client ends both."""
    pane = tmux.start("headspace run --supervise --name phoenix --prompt 'Begin here.'", project="phoenix")
    tmux.wait_for(pane, "--supervise restarts the client only while")  # there is no effort yet
    agent = tmux.agent_in(pane)
    assert tmux.notes()[-1]["start"] == ["--", "Begin here."]
    call(tmux.daemon, "effort.start", {"skill": "fix", "cwd": str(tmux.projects / "phoenix")})
    tmux.keys(pane, "hello", "Enter")
    wait_until(lambda: tmux.daemon.get(f"/api/efforts?agent={agent['id']}").json(), "the effort of the agent")
    tmux.keys(pane, "overflow", "Enter")
    wait_until(lambda: tmux.daemon.agent(agent["id"])["supervision"]["restarts"] == 1, "the restart")
    again = wait_until(
        lambda: (found := tmux.agent_in(pane))["session_id"] != agent["session_id"] and found, "the new session"
    )
    assert (again["id"], again["pid"] != agent["pid"]) == (agent["id"], True)
    assert again["supervision"]["reason"] == "its context is being compacted"
    assert tmux.notes()[-1]["start"] == ["--", "overflow"]  # the prompt that was not answered
    states = tmux.daemon.get(f"/api/agents/{agent['id']}/evidence").json()
    assert "ended" not in [state["state"] for state in states]
    tmux.keys(pane, "/exit", "Enter")
    wait_until(lambda: tmux.daemon.agent(agent["id"])["state"] == "ended", "the end of the agent")
    assert tmux.daemon.verified()


def test_run_reports_why_it_fails(tmux: Terminal, tmp_path: Path) -> None:
    """No daemon exits with 3, a name in use with 4, no Claude Code with 127. Each message has a remedy."""
    assert run_in(tmux, "run", "--here", HEADSPACE_HOME=str(tmp_path)).returncode == 3
    missing = run_in(tmux, "run", "--here", PATH="/usr/bin:/bin")
    assert (missing.returncode, "PATH" in missing.stderr) == (127, True)
    tmux.daemon.post("session-start", {"session_id": "named", "cwd": "/projects/named"})
    name = next(agent["name"] for agent in tmux.daemon.agents() if agent["session_id"] == "named")
    taken = run_in(tmux, "run", "--here", "--name", name)
    assert (taken.returncode, name in taken.stderr) == (4, True)


def test_run_detached_creates_a_tmux_session(tmux: Terminal) -> None:
    """It starts in a new tmux session with all its arguments."""
    done = run_in(tmux, "run", "--detached", "--name", "apart", "a prompt; with $(things)")
    assert done.returncode == 0, done.stderr
    pane = tmux.tmux("list-panes", "-t", "=apart", "-F", "#{pane_id}")
    agent = tmux.agent_in(pane)
    assert agent["name"] == "apart"
    assert tmux.notes()[-1]["start"] == ["a prompt; with $(things)"]
    assert list((tmux.daemon.home / "run").glob("job-*.json")) == []


# --- jump and resume --------------------------------------------------------------------------------------------------


def test_jump_opens_the_right_pane(tmux: Terminal) -> None:
    """From another session, the terminal shows the agent's window and pane."""
    pane = tmux.start("sh", session="target")
    window = tmux.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "target", "claude")
    tmux.tmux("split-window", "-d", "-t", window, "sh")
    agent = tmux.agent_in(window)
    start = tmux.start("sh", session="start")
    with tmux.attached("start"):
        wait_until(lambda: tmux.tmux("list-clients", "-F", "#{session_name}") == "start", "an attached user")
        tmux.keys(start, f"headspace jump {agent['name']}", "Enter")
        wait_until(lambda: tmux.tmux("list-clients", "-F", "#{pane_id}") == window, "the agent's pane in front")
        assert tmux.tmux("list-clients", "-F", "#{session_name}") == "target"
    assert pane != window


def test_jump_refuses_an_agent_without_a_pane(tmux: Terminal) -> None:
    """The message names the agent and a remedy."""
    tmux.daemon.post("session-start", {"session_id": "no-pane", "cwd": "/projects/no-pane"})
    agent = next(agent for agent in tmux.daemon.agents() if agent["session_id"] == "no-pane")
    done = run_in(tmux, "jump", agent["name"])
    assert (done.returncode, "headspace run" in done.stderr) == (1, True)


def test_resume_continues_the_agent(tmux: Terminal) -> None:
    """The same agent, with the same session, in its own directory."""
    pane = tmux.start("claude", project="resumed")
    agent = tmux.agent_in(pane)
    tmux.keys(pane, "/exit", "Enter")
    wait_until(lambda: tmux.daemon.agent(agent["id"])["state"] == "ended", "the end of the agent")
    again = tmux.start(f"headspace resume {agent['id']}", project="another")
    back = tmux.agent_in(again)
    assert (back["id"], back["session_id"], back["cwd"]) == (agent["id"], agent["session_id"], agent["cwd"])
    assert run_in(tmux, "resume", agent["id"]).returncode == 1


@pytest.fixture
def other_machine(tmp_path: Path) -> Iterator[RunningDaemon]:
    """A daemon with the name of another machine."""
    with running_daemon(tmp_path / "other", machine="here") as daemon:
        yield daemon


def test_an_agent_of_another_machine_is_left_to_its_daemon(tmux: Terminal, other_machine: RunningDaemon) -> None:
    """Acts need the agent's machine. Elsewhere they are refused, and the message names that machine."""
    agent = tmux.agent_in(tmux.start("claude"))
    done = run_in(tmux, "jump", agent["id"], HEADSPACE_MACHINE="elsewhere")
    assert (done.returncode, "runs on" in done.stderr) == (1, True)
