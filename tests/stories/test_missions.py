"""Missions in real terminals: a worker is started, and its conversation is resumed when it ends."""

import json
import subprocess
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.kernel.envelope import SECOND
from claude_headspace.kernel.text import iso
from claude_headspace.outputs.mission_reports import RETRY_SECONDS
from tests.support import RunningDaemon, running_daemon, wait_until
from tests.support_hooks import Hooks
from tests.terminals import Terminal, needs_tmux, run_in, terminal

pytestmark = needs_tmux

WOKEN = "[CLAUDE OS SYS: INFO]: A worker has finished: "


@pytest.fixture(scope="module")
def tmux(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    """A shared terminal and its daemon. Each test has its own panes."""
    folder = tmp_path_factory.mktemp("missions")
    with running_daemon(folder / "home", hold_seconds=0) as daemon, terminal(folder, daemon) as made:
        yield made
        assert daemon.verified()


def start_worker(tmux: Terminal, conversation: dict[str, Any], goal: str, *options: str) -> dict[str, Any]:
    """A conversation starts a worker, as its Bash tool does; return the mission as soon as the worker is idle."""
    done = run_in(tmux, "mission", "start", goal, "--json", *options, CLAUDE_CODE_SESSION_ID=conversation["session_id"])
    assert done.returncode == 0, done.stderr
    mission: dict[str, Any] = json.loads(done.stdout)
    worker = mission["workers"][0]["id"]
    wait_until(lambda: tmux.daemon.agent(worker)["state"] == "idle", "the worker to start")
    return mission


def end_worker(tmux: Terminal, mission: dict[str, Any]) -> None:
    """The worker ends."""
    tmux.keys(tmux.daemon.agent(mission["workers"][0]["id"])["tmux"]["pane"], "/exit", "Enter")


def news_of(daemon: RunningDaemon, agent_id: str) -> list[dict[str, Any]]:
    """The pending news of an agent."""
    found: list[dict[str, Any]] = daemon.agent(agent_id)["news"]
    return found


def wake_ups(tmux: Terminal, goal: str) -> list[str]:
    """The prompts that resumed a conversation for this goal."""
    return [prompt for prompt in tmux.prompts() if prompt.startswith(f"{WOKEN}{goal}")]


def test_a_worker_resumes_its_conversation_once(tmux: Terminal) -> None:
    """It has its own session and agent. When it ends, one line is typed, and the summary follows."""
    pane = tmux.start("claude")
    conversation = tmux.agent_in(pane)
    mission = start_worker(tmux, conversation, "Count the tests")
    worker = tmux.daemon.agent(mission["workers"][0]["id"])
    assert (worker["mode"], worker["parent_id"], worker["mission"]["conversation_id"]) == (
        "mission",
        None,
        conversation["id"],
    )
    assert worker["tmux"]["pane"] not in (None, pane)
    start = next(note for note in tmux.notes() if note.get("start") and "Count the tests" in note["start"][-1])
    assert "headspace report" in start["start"][-1]
    end_worker(tmux, mission)
    wait_until(lambda: wake_ups(tmux, "Count the tests"), "the conversation to be resumed")
    tmux.wait_for(pane, "Results of the missions")
    wait_until(lambda: tmux.daemon.agent(conversation["id"])["news"] == [], "the news to be delivered")
    assert len(wake_ups(tmux, "Count the tests")) == 1


def test_a_background_worker_is_headless(tmux: Terminal) -> None:
    """It is started with `-p`. The arguments after `--` go to Claude Code."""
    conversation = tmux.agent_in(tmux.start("claude"))
    mission = start_worker(tmux, conversation, "Look around", "--background", "--", "--model", "haiku")
    start = next(note["start"] for note in tmux.notes() if note.get("start") and "Look around" in note["start"][-1])
    assert start[:-2] == ["-p", "--model", "haiku"]
    assert tmux.daemon.agent(mission["workers"][0]["id"])["mode"] == "background"
    end_worker(tmux, mission)
    wait_until(lambda: wake_ups(tmux, "Look around"), "the conversation to be resumed")


def test_a_conversation_at_a_question_is_not_disturbed(tmux: Terminal) -> None:
    """Nothing is typed into a dialog. The next prompt brings the summary, and no line is typed later."""
    pane = tmux.start("claude")
    conversation = tmux.agent_in(pane)
    mission = start_worker(tmux, conversation, "Find the bug")
    tmux.keys(pane, "ask", "Enter")
    tmux.agent_in(pane, "waiting")
    end_worker(tmux, mission)
    wait_until(lambda: tmux.daemon.agent(conversation["id"])["news"], "pending news")
    tmux.keys(pane, "the first one", "Enter")
    tmux.wait_for(pane, "Results of the missions")
    tmux.agent_in(pane)
    assert tmux.daemon.agent(conversation["id"])["news"] == []
    assert wake_ups(tmux, "Find the bug") == []


def test_a_typing_user_is_not_interrupted(tmux: Terminal) -> None:
    """While the user types in the pane, nothing is typed there. It waits until the user stops."""
    session = "typing"
    pane = tmux.start("claude", session)
    conversation = tmux.agent_in(pane)
    mission = start_worker(tmux, conversation, "Read the log")
    with tmux.attached(session):
        wait_until(lambda: tmux.tmux("list-clients", "-t", session), "an attached user")
        end_worker(tmux, mission)
        wait_until(lambda: tmux.daemon.agent(conversation["id"])["news"], "pending news")
        wait_until(lambda: wake_ups(tmux, "Read the log"), "the conversation to be resumed")
        activity = int(tmux.tmux("list-clients", "-t", session, "-F", "#{client_activity}").splitlines()[0])
    [typed] = [
        each for each in tmux.daemon.events() if each["name"] == "ConversationWoken" and "Read the log" in str(each)
    ]
    assert typed["fired_at"] > iso((activity + 9) * SECOND)


def test_a_draft_is_not_mixed_with_the_line(tmux: Terminal) -> None:
    """While the input box of a conversation contains a draft, nothing is typed there. The draft's prompt brings it."""
    pane = tmux.start("claude")
    conversation = tmux.agent_in(pane)
    mission = start_worker(tmux, conversation, "Check the draft")
    tmux.keys(pane, "half a thought")
    end_worker(tmux, mission)
    wait_until(lambda: tmux.daemon.agent(conversation["id"])["news"], "pending news")
    time.sleep(2 * RETRY_SECONDS)
    assert wake_ups(tmux, "Check the draft") == []
    tmux.keys(pane, "Enter")
    tmux.wait_for(pane, "Results of the missions")
    assert "half a thought" in tmux.prompts()
    assert wake_ups(tmux, "Check the draft") == []


def test_without_a_pane_the_next_prompt_brings_it(tmux: Terminal) -> None:
    """A conversation outside of tmux gets the summary with its next prompt."""
    conversation = tmux.daemon.post("session-start", {"session_id": "elsewhere", "cwd": "/tmp/elsewhere"}).json()
    found = tmux.daemon.agent(conversation["agent_id"])
    mission = start_worker(tmux, found, "Sum it up")
    end_worker(tmux, mission)
    wait_until(lambda: tmux.daemon.agent(found["id"])["news"], "pending news")
    wait_until((tmux.daemon.home / "asked" / "UserPromptSubmit").exists, "the file that makes prompts wait for a reply")
    with subprocess.Popen(["sleep", "600"]) as client:  # a client that is not a child of the test's terminal
        payload = {"session_id": "elsewhere", "cwd": "/tmp/elsewhere", "prompt": "So?"}
        printed = tmux.hooks.fire("UserPromptSubmit", payload, CLAUDE_PID=str(client.pid))
        client.kill()
    assert "Sum it up" in json.loads(printed)["hookSpecificOutput"]["additionalContext"]
    assert wake_ups(tmux, "Sum it up") == []


def test_a_worker_reports_itself(tmux: Terminal) -> None:
    """`headspace report` in its shell ends its mission. The conversation gets the report."""
    pane = tmux.start("claude")
    conversation = tmux.agent_in(pane)
    mission = start_worker(tmux, conversation, "Write it down")
    worker = tmux.daemon.agent(mission["workers"][0]["id"])
    done = run_in(tmux, "report", "It is in NOTES.md.", CLAUDE_CODE_SESSION_ID=worker["session_id"])
    assert done.stdout == f"Reported. {conversation['name']} receives the result.\n", done.stderr
    tmux.wait_for(pane, "It is in NOTES.md.")
    shown = run_in(tmux, "mission", "show", worker["name"]).stdout
    assert "succeeded" in shown
    assert "It is in NOTES.md." in shown
    end_worker(tmux, mission)
    wait_until(lambda: tmux.daemon.agent(worker["id"])["state"] == "ended", "the worker to end")
    assert len(wake_ups(tmux, "Write it down")) == 1


def test_a_mission_can_be_recorded_without_a_start(tmux: Terminal) -> None:
    """Nothing is started. A client that names the mission is its worker, also if an agent's tool starts it."""
    done = run_in(tmux, "mission", "start", "Done elsewhere", "--record", "--json")
    mission = json.loads(done.stdout)
    assert mission["tmux_session"] is None
    pane = tmux.start("claude", MISSION_EXECUTION_ID=mission["id"], CLAUDE_SESSION_MODE="mission")
    assert tmux.agent_in(pane)["id"] == mission["workers"][0]["id"]
    listed = run_in(tmux, "mission", "list").stdout
    assert "Done elsewhere" in listed
    done = run_in(tmux, "mission", "finish", mission["id"][:8], "Enough.", "-o", "abandoned")
    assert "abandoned" in done.stdout
    assert "already ended" in run_in(tmux, "mission", "finish", mission["id"]).stderr


def test_a_mission_that_cannot_start_is_abandoned(tmux: Terminal) -> None:
    """If tmux already has the name, the mission has the reason, and no agent remains."""
    tmux.start("cat", "taken-name")
    done = run_in(tmux, "mission", "start", "Never begun", "--name", "taken-name")
    assert (done.returncode, "duplicate session" in done.stderr) == (1, True)
    [mission] = [each for each in tmux.daemon.get("/api/missions").json() if each["goal"] == "Never begun"]
    assert (mission["outcome"], mission["workers"][0]["state"]) == ("abandoned", "ended")


def test_a_mission_that_ended_without_a_daemon_is_reported_afterwards(tmp_path: Path) -> None:
    """A mission that ended while the daemon was down is found at the start and reported once, also after restarts."""
    payload = {"session_id": "talk", "cwd": str(tmp_path)}
    with running_daemon(tmp_path) as daemon:
        conversation = daemon.post("session-start", payload).json()["agent_id"]
        body = {"goal": "Wait for it", "cwd": str(tmp_path), "conversation": conversation}
        mission = daemon.send("POST", "/api/missions", body, scope="act").json()
        worker_payload = {"session_id": "worker", "cwd": str(tmp_path)}
        daemon.post("session-start", worker_payload, {"X-Headspace-Session-Id": mission["id"]})
        daemon.kill()
    Hooks(tmp_path).fire("SessionEnd", {**worker_payload, "reason": "other"}, CLAUDE_HEADSPACE_SESSION_ID=mission["id"])
    for _ in range(2):
        with running_daemon(tmp_path) as daemon:
            [news] = wait_until(partial(news_of, daemon, conversation), "pending news")
            assert news["goal"] == "Wait for it"
            assert [each["name"] for each in daemon.events()].count("WorkerEnded") == 1
            assert daemon.verified()
