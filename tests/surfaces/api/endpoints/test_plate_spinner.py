"""The interface of plate-spinner: its events, its board, and fixes of its five known issues."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.clients.plate_spinner.decode import PLATES
from tests.support import Reply, RunningDaemon, running_daemon, wait_until
from tests.surfaces.cli.conftest import run_headspace

PROJECT = "/projects/plates"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """A daemon shared by all tests of this file. Each test uses its own sessions."""
    with running_daemon(tmp_path_factory.mktemp("plates")) as running:
        yield running


def send_event(daemon: RunningDaemon, session: str, event_type: str, fired_at: float = 0, **fields: Any) -> Reply:
    """Send an event in the format of plate-spinner's hooks."""
    body = {"session_id": session, "event_type": event_type, "project_path": PROJECT, **fields}
    headers = {"X-Headspace-Fired-At": str(fired_at)} if fired_at else {}
    return daemon.send("POST", "/events", body, scope=None, headers=headers)


def plates(daemon: RunningDaemon) -> dict[str, dict[str, Any]]:
    """The board by session."""
    return {plate["session_id"]: plate for plate in daemon.get("/plates").json()}


def status(daemon: RunningDaemon, session: str) -> str:
    """The status of a plate."""
    return str(plates(daemon)[session]["status"])


# --- the dialect ------------------------------------------------------------------------------------------------------

STEPS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("session_start", {"transcript_path": "/nowhere/t.jsonl", "git_branch": "main"}, "idle"),
    ("prompt_submit", {}, "running"),
    ("tool_start", {"tool_name": "Bash", "tool_params": {"command": "make"}}, "running"),
    ("tool_call", {"tool_name": "Bash"}, "running"),
    ("tool_start", {"tool_name": "AskUserQuestion"}, "awaiting_input"),
    ("tool_call", {"tool_name": "AskUserQuestion"}, "running"),
    ("tool_start", {"tool_name": "ExitPlanMode"}, "awaiting_approval"),
    ("tool_call", {"tool_name": "ExitPlanMode"}, "running"),
    ("stop", {"error": None}, "idle"),
    ("prompt_submit", {}, "running"),
    ("stop", {"error": "overloaded"}, "error"),
    ("prompt_submit", {}, "running"),
)
"""A session of all event types, and the status after each. Only after its start Headspace says idle on purpose."""


def test_statuses_by_event(daemon: RunningDaemon) -> None:
    """Every event type and the error rule lead to the status in plate-spinner's table."""
    assert {event for event, _, _ in STEPS} == set(PLATES)
    began = time.time() - 100
    for number, (event, fields, expected) in enumerate(STEPS):
        reply = send_event(daemon, "dialect", event, began + 2 * number, **fields)
        assert reply.status == 200, reply.body
        assert reply.json()["dialects"]["plate"] == expected, event
        assert status(daemon, "dialect") == expected, event
    assert daemon.verified()


def test_every_stop_in_quick_succession_counts(daemon: RunningDaemon) -> None:
    """“"stop" => if error { Error } else { Idle }”, also right after another stop."""
    send_event(daemon, "quick", "session_start")
    for error, expected in ((None, "idle"), (None, "idle"), ("overloaded", "error"), ("overloaded", "error")):
        assert send_event(daemon, "quick", "prompt_submit").json()["dialects"]["plate"] == "running"
        assert send_event(daemon, "quick", "stop", error=error).json()["dialects"]["plate"] == expected
    assert daemon.verified()


def test_starting_and_closed(daemon: RunningDaemon) -> None:
    """“Starting: placeholder registered, waiting for session_start”; “mark_stopped (external)” or an end: closed."""
    registration = {"headspace_id": "placeholder-1", "cwd": PROJECT}
    agent = daemon.send("POST", "/api/agents", registration, scope="act").json()
    assert status(daemon, agent["id"]) == "starting"
    daemon.send("POST", f"/api/agents/{agent['id']}/close", {"reason": "stopped"}, scope="act")
    assert status(daemon, agent["id"]) == "closed"
    send_event(daemon, "closing", "session_start")
    daemon.post("session-end", {"session_id": "closing", "cwd": PROJECT, "reason": "other"})
    assert status(daemon, "closing") == "closed"


def test_fields_of_a_plate(daemon: RunningDaemon) -> None:
    """Project, branch, transcript, last tool and todo progress."""
    send_event(daemon, "shown", "session_start", transcript_path="/nowhere/shown.jsonl")
    send_event(daemon, "shown", "prompt_submit", prompt="Add a test.")
    send_event(daemon, "shown", "tool_start", tool_name="Edit", tool_params={"file_path": "/projects/plates/a.py"})
    daemon.post("task-created", {"session_id": "shown", "cwd": PROJECT, "task_id": "1"})
    daemon.post("task-created", {"session_id": "shown", "cwd": PROJECT, "task_id": "2"})
    daemon.post("task-completed", {"session_id": "shown", "cwd": PROJECT, "task_id": "1"})
    plate = plates(daemon)["shown"]
    assert plate["project_path"] == PROJECT
    assert plate["transcript_path"] == "/nowhere/shown.jsonl"
    assert (plate["last_tool"], plate["todo_progress"], plate["summary"]) == ("Edit", "1/2", "Add a test.")


def test_a_session_start_includes_the_branch(daemon: RunningDaemon) -> None:
    """“session_start: Includes transcript_path and git_branch.”"""
    send_event(daemon, "branch", "session_start", git_branch="feature/login")
    send_event(daemon, "branch", "prompt_submit")
    assert plates(daemon)["branch"]["git_branch"] == "feature/login"


def test_a_tool_start_includes_its_input(daemon: RunningDaemon) -> None:
    """“tool_start: Includes tool_name and tool_input.”"""
    send_event(daemon, "input", "session_start")
    reply = send_event(daemon, "input", "tool_start", tool_name="Bash", tool_input={"command": "make check"})
    agent = daemon.agent(reply.json()["agent_id"])
    assert (agent["tool"]["name"], agent["tool"]["summary"]) == ("Bash", "make check")


@pytest.mark.parametrize("iso", [False, True])
def test_events_are_ordered_by_their_timestamp(daemon: RunningDaemon, iso: bool) -> None:
    """“Events include timestamps, but we don't currently enforce ordering.” Headspace does."""
    session, now = f"timestamps-{iso}", time.time()

    def send_at(seconds: float, event: str, **fields: Any) -> str:
        at = datetime.fromtimestamp(now - seconds, UTC).isoformat() if iso else now - seconds
        return str(send_event(daemon, session, event, timestamp=at, **fields).json()["dialects"]["plate"])

    assert send_at(10, "session_start") == "idle"
    assert send_at(9, "prompt_submit") == "running"
    assert send_at(2, "stop") == "idle"
    assert send_at(5, "tool_start", tool_name="AskUserQuestion") == "idle"


@pytest.mark.parametrize("timestamp", ["yesterday", [], {}, True, -5, 1e300, "9999-12-31T23:59:59+00:00"])
def test_a_timestamp_that_is_no_time_is_ignored(daemon: RunningDaemon, timestamp: object) -> None:
    """The event counts as fired when it arrived."""
    send_event(daemon, "no-time", "prompt_submit")
    assert send_event(daemon, "no-time", "stop", timestamp=timestamp).json()["dialects"]["plate"] == "idle"


def test_sessions_in_the_same_directory_are_separate(daemon: RunningDaemon) -> None:
    """Closing one session does not affect the other."""
    for session in ("here", "there"):
        send_event(daemon, session, "session_start")
    daemon.post("session-end", {"session_id": "here", "cwd": PROJECT, "reason": "other"})
    send_event(daemon, "third", "session_start")
    assert (status(daemon, "here"), status(daemon, "there"), status(daemon, "third")) == ("closed", "idle", "idle")


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"session_id": "x"}', b'{"session_id": "x", "event_type": "No Name"}', b'{"event_type": 5}']
)
def test_invalid_events_are_refused(daemon: RunningDaemon, body: bytes) -> None:
    """A body without a type gets 400 with the known types, and nothing is stored."""
    with daemon.untouched():
        reply = daemon.send("POST", "/events", body, scope=None)
        assert reply.status == 400
        assert reply.error["code"] == "bad_event_type"


def test_unknown_types_are_stored(daemon: RunningDaemon) -> None:
    """A later version of plate-spinner may send more types."""
    assert send_event(daemon, "newer", "summary_ready").json()["state"] == "idle"


def test_an_event_without_a_session_is_refused(daemon: RunningDaemon) -> None:
    """The session is required."""
    with daemon.untouched():
        assert daemon.send("POST", "/events", {"event_type": "stop"}, scope=None).status == 400


# --- its five known issues --------------------------------------------------------------------------------------------


def transcript(daemon: RunningDaemon, session: str) -> Path:
    """The transcript of a session."""
    folder = daemon.home / ".claude" / "projects" / "-projects-plates"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{session}.jsonl"


def write(path: Path, *lines: dict[str, Any]) -> None:
    """Append lines as the client does, each with a later timestamp."""
    now = time.time()
    with path.open("a", encoding="utf-8") as file:
        for number, line in enumerate(lines):
            at = now + number / 1000
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1000):03d}Z"
            common = {"sessionId": path.stem, "uuid": f"{path.stem}-{at}", "cwd": PROJECT, "timestamp": stamp}
            file.write(json.dumps({**common, **line}) + "\n")


def assistant_line(text: str, stop_reason: str = "end_turn") -> dict[str, Any]:
    """A line of the agent."""
    content = [{"type": "text", "text": text}]
    message = {"id": "m1", "role": "assistant", "model": "m", "content": content, "stop_reason": stop_reason}
    return {"type": "assistant", "message": message}


INTERRUPTED = {
    "type": "user",
    "message": {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user for tool use]"}]},
}
CLOSED = {"type": "system", "subtype": "turn_duration", "durationMs": 10}


def test_issue_1_a_plan_without_an_end_closes(daemon: RunningDaemon) -> None:
    """`tool_call` of ExitPlanMode is missing; the transcript shows that the agent has continued."""
    path = transcript(daemon, "plan")
    write(path, {"type": "user", "message": {"role": "user", "content": "Plan it."}})
    send_event(daemon, "plan", "session_start", transcript_path=str(path))
    send_event(daemon, "plan", "prompt_submit", prompt="Plan it.")
    send_event(daemon, "plan", "tool_start", tool_name="ExitPlanMode")
    assert status(daemon, "plan") == "awaiting_approval"
    write(path, assistant_line("The plan is done."), CLOSED)
    wait_until(lambda: status(daemon, "plan") == "idle", "the plan's wait to be over")


def test_events_count_after_the_transcript_was_read(daemon: RunningDaemon) -> None:
    """Hooks without a token are the only reporters of these sessions. The transcript adds to them."""
    path = transcript(daemon, "read")
    send_event(daemon, "read", "session_start", transcript_path=str(path))
    write(path, {"type": "user", "message": {"role": "user", "content": "Plan it."}})
    wait_until(lambda: status(daemon, "read") == "running", "the line to be read")
    send_event(daemon, "read", "tool_start", tool_name="ExitPlanMode")
    assert status(daemon, "read") == "awaiting_approval"


def test_issue_1_a_later_tool_ends_the_approval(daemon: RunningDaemon) -> None:
    """“If Claude uses another tool after plan approval, status recovers via that tool's tool_start.”

    No other source is needed, and no time has to pass.
    """
    send_event(daemon, "approved", "prompt_submit")
    send_event(daemon, "approved", "tool_start", tool_name="ExitPlanMode")
    assert status(daemon, "approved") == "awaiting_approval"
    send_event(daemon, "approved", "tool_start", tool_name="Bash")
    assert status(daemon, "approved") == "running"


def test_issue_2_a_dismissed_question_closes(daemon: RunningDaemon) -> None:
    """Esc at AskUserQuestion fires no hook, so `tool_call` is missing; the transcript shows it."""
    path = transcript(daemon, "question")
    write(path, {"type": "user", "message": {"role": "user", "content": "Ask me."}})
    send_event(daemon, "question", "session_start", transcript_path=str(path))
    send_event(daemon, "question", "prompt_submit", prompt="Ask me.")
    send_event(daemon, "question", "tool_start", tool_name="AskUserQuestion")
    assert status(daemon, "question") == "awaiting_input"
    write(path, INTERRUPTED)
    wait_until(lambda: status(daemon, "question") == "idle", "the question to be over")


def test_issue_3_a_finished_turn_is_detected(daemon: RunningDaemon) -> None:
    """`stop` ends a turn, not the session."""
    send_event(daemon, "turn", "session_start")
    send_event(daemon, "turn", "prompt_submit")
    assert send_event(daemon, "turn", "stop").json()["dialects"]["plate"] == "idle"
    assert send_event(daemon, "turn", "prompt_submit").json()["dialects"]["plate"] == "running"


def test_issue_4_an_older_event_never_overrides_a_newer_one(daemon: RunningDaemon) -> None:
    """Events are ordered by when they fired, not by when they arrived."""
    now = time.time()
    send_event(daemon, "race", "session_start", now - 10)
    send_event(daemon, "race", "prompt_submit", now - 9)
    send_event(daemon, "race", "stop", now - 2)
    late = send_event(daemon, "race", "tool_start", now - 5, tool_name="AskUserQuestion")
    assert late.json()["dialects"]["plate"] == "idle"
    assert send_event(daemon, "race", "tool_call", now - 4, tool_name="Bash").json()["dialects"]["plate"] == "idle"


def test_issue_5_events_without_a_daemon_are_not_lost(tmp_path: Path) -> None:
    """`headspace hook` spools the events silently, and the next daemon processes each once, in order."""
    payload = {"session_id": "kept", "cwd": PROJECT}
    for event, more in (("session-start", {}), ("prompt-submit", {"prompt": "Go."}), ("stop", {"error": "broken"})):
        done = run_headspace(tmp_path, "hook", event, standard_input=json.dumps({**payload, **more}))
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with running_daemon(tmp_path) as daemon:
        wait_until(lambda: len(daemon.events()) == 3, "the events")
        assert [event["name"] for event in daemon.events()] == ["SessionStart", "UserPromptSubmit", "Stop"]
        assert status(daemon, "kept") == "error"
    with running_daemon(tmp_path) as daemon:
        assert len(daemon.events()) == 3


@pytest.mark.parametrize("payload", ["", "{", "[]", '{"session_id": 5}'])
def test_a_hook_never_fails(tmp_path: Path, payload: str) -> None:
    """For any standard input nothing is printed and the exit code is 0."""
    done = run_headspace(tmp_path, "hook", "stop", standard_input=payload)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
