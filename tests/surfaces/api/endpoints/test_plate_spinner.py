"""plate-spinner's dialect: its events come in, its board goes out, and its five known issues are gone."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from claude_headspace.clients.plate_spinner.decode import PLATES
from tests.support import Reply, RunningDaemon, running_daemon, wait_until
from tests.surfaces.cli.conftest import run_headspace

PROJECT = "/projects/plates"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """A daemon that all tests of this file share; each has sessions of its own."""
    with running_daemon(tmp_path_factory.mktemp("plates")) as running:
        yield running


def tell(daemon: RunningDaemon, session: str, event_type: str, fired_at: float = 0, **fields: Any) -> Reply:
    """Send an event as plate-spinner's hooks do."""
    body = {"session_id": session, "event_type": event_type, "project_path": PROJECT, **fields}
    headers = {"X-Headspace-Fired-At": str(fired_at)} if fired_at else {}
    return daemon.send("POST", "/events", body, scope=None, headers=headers)


def plates(daemon: RunningDaemon) -> dict[str, dict[str, Any]]:
    """The board by session."""
    return {plate["session_id"]: plate for plate in daemon.get("/plates").json()}


def status(daemon: RunningDaemon, session: str) -> str:
    """A plate's status."""
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


def test_its_events_give_its_statuses(daemon: RunningDaemon) -> None:
    """Every event type and the error rule lead to the status that plate-spinner's table names."""
    assert {event for event, _, _ in STEPS} == set(PLATES)
    began = time.time() - 100
    for number, (event, fields, expected) in enumerate(STEPS):
        reply = tell(daemon, "dialect", event, began + 2 * number, **fields)
        assert reply.status == 200, reply.body
        assert reply.json()["dialects"]["plate"] == expected, event
        assert status(daemon, "dialect") == expected, event
    assert daemon.verified()


def test_starting_and_closed_are_statuses_too(daemon: RunningDaemon) -> None:
    """A session that ended is closed; with the other tests all seven statuses are seen."""
    tell(daemon, "closing", "session_start")
    daemon.post("session-end", {"session_id": "closing", "cwd": PROJECT, "reason": "other"})
    assert status(daemon, "closing") == "closed"


def test_a_plate_shows_what_plate_spinner_shows(daemon: RunningDaemon) -> None:
    """Project, branch, transcript, last tool and todo come with the status."""
    tell(daemon, "shown", "session_start", transcript_path="/nowhere/shown.jsonl")
    tell(daemon, "shown", "prompt_submit", prompt="Add a test.")
    tell(daemon, "shown", "tool_start", tool_name="Edit", tool_params={"file_path": "/projects/plates/a.py"})
    daemon.post("task-created", {"session_id": "shown", "cwd": PROJECT, "task_id": "1"})
    daemon.post("task-created", {"session_id": "shown", "cwd": PROJECT, "task_id": "2"})
    daemon.post("task-completed", {"session_id": "shown", "cwd": PROJECT, "task_id": "1"})
    plate = plates(daemon)["shown"]
    assert plate["project_path"] == PROJECT
    assert plate["transcript_path"] == "/nowhere/shown.jsonl"
    assert (plate["last_tool"], plate["todo_progress"], plate["summary"]) == ("Edit", "1/2", "Add a test.")


def test_closing_one_session_leaves_others_in_the_same_directory(daemon: RunningDaemon) -> None:
    """`/events` never tells sessions apart by their directory: two of one place are two plates."""
    for session in ("here", "there"):
        tell(daemon, session, "session_start")
    daemon.post("session-end", {"session_id": "here", "cwd": PROJECT, "reason": "other"})
    tell(daemon, "third", "session_start")
    assert (status(daemon, "here"), status(daemon, "there"), status(daemon, "third")) == ("closed", "idle", "idle")


@pytest.mark.parametrize(
    "body", [b"{", b"[]", b'{"session_id": "x"}', b'{"session_id": "x", "event_type": "No Name"}', b'{"event_type": 5}']
)
def test_what_is_no_event_is_refused_with_a_reason(daemon: RunningDaemon, body: bytes) -> None:
    """A body without a type is a 400 that says which types there are, and leaves no trace."""
    with daemon.untouched():
        reply = daemon.send("POST", "/events", body, scope=None)
        assert reply.status == 400
        assert reply.error["code"] == "bad_event_type"


def test_a_type_that_nobody_knows_is_a_sign_of_life(daemon: RunningDaemon) -> None:
    """A later version of plate-spinner may send more."""
    assert tell(daemon, "newer", "summary_ready").json()["state"] == "idle"


def test_an_event_without_a_session_is_refused(daemon: RunningDaemon) -> None:
    """Whose it is must be said."""
    with daemon.untouched():
        assert daemon.send("POST", "/events", {"event_type": "stop"}, scope=None).status == 400


# --- its five known issues --------------------------------------------------------------------------------------------


def transcript(daemon: RunningDaemon, session: str) -> Path:
    """Where the client writes what is said."""
    folder = daemon.home / ".claude" / "projects" / "-projects-plates"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{session}.jsonl"


def write(path: Path, *lines: dict[str, Any]) -> None:
    """Append lines as the client does, each a moment later than the one before."""
    now = time.time()
    with path.open("a", encoding="utf-8") as file:
        for number, line in enumerate(lines):
            at = now + number / 1000
            stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at % 1 * 1000):03d}Z"
            common = {"sessionId": path.stem, "uuid": f"{path.stem}-{at}", "cwd": PROJECT, "timestamp": stamp}
            file.write(json.dumps({**common, **line}) + "\n")


def said(text: str, stop_reason: str = "end_turn") -> dict[str, Any]:
    """A line of the agent's."""
    content = [{"type": "text", "text": text}]
    message = {"id": "m1", "role": "assistant", "model": "m", "content": content, "stop_reason": stop_reason}
    return {"type": "assistant", "message": message}


INTERRUPTED = {
    "type": "user",
    "message": {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user for tool use]"}]},
}
CLOSED = {"type": "system", "subtype": "turn_duration", "durationMs": 10}


def test_issue_1_a_plan_without_its_end_is_not_awaited_for_ever(daemon: RunningDaemon) -> None:
    """`tool_call` of ExitPlanMode never comes: the transcript shows that the agent went on and is done."""
    path = transcript(daemon, "plan")
    write(path, {"type": "user", "message": {"role": "user", "content": "Plan it."}})
    tell(daemon, "plan", "session_start", transcript_path=str(path))
    tell(daemon, "plan", "prompt_submit", prompt="Plan it.")
    tell(daemon, "plan", "tool_start", tool_name="ExitPlanMode")
    assert status(daemon, "plan") == "awaiting_approval"
    write(path, said("The plan is done."), CLOSED)
    wait_until(lambda: status(daemon, "plan") == "idle", "the plan's wait to be over")


def test_issue_2_a_question_that_was_dismissed_is_over(daemon: RunningDaemon) -> None:
    """An Esc at AskUserQuestion fires no hook, hence the missing `tool_call`; the transcript tells."""
    path = transcript(daemon, "question")
    write(path, {"type": "user", "message": {"role": "user", "content": "Ask me."}})
    tell(daemon, "question", "session_start", transcript_path=str(path))
    tell(daemon, "question", "prompt_submit", prompt="Ask me.")
    tell(daemon, "question", "tool_start", tool_name="AskUserQuestion")
    assert status(daemon, "question") == "awaiting_input"
    write(path, INTERRUPTED)
    wait_until(lambda: status(daemon, "question") == "idle", "the question to be over")


def test_issue_3_a_finished_turn_is_seen(daemon: RunningDaemon) -> None:
    """`stop` ends a turn, not the session; without it the transcript's last words do."""
    tell(daemon, "turn", "session_start")
    tell(daemon, "turn", "prompt_submit")
    assert tell(daemon, "turn", "stop").json()["dialects"]["plate"] == "idle"
    assert tell(daemon, "turn", "prompt_submit").json()["dialects"]["plate"] == "running"


def test_issue_4_an_older_event_never_overrides_a_newer_one(daemon: RunningDaemon) -> None:
    """Order is decided by when events fired, not by when they arrived."""
    now = time.time()
    tell(daemon, "race", "session_start", now - 10)
    tell(daemon, "race", "prompt_submit", now - 9)
    tell(daemon, "race", "stop", now - 2)
    late = tell(daemon, "race", "tool_start", now - 5, tool_name="AskUserQuestion")
    assert late.json()["dialects"]["plate"] == "idle"
    assert tell(daemon, "race", "tool_call", now - 4, tool_name="Bash").json()["dialects"]["plate"] == "idle"


def test_issue_5_what_is_told_while_no_daemon_runs_is_not_lost(tmp_path: Path) -> None:
    """`headspace hook` keeps the events, says nothing, and the next daemon takes each once, in order."""
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
def test_a_hook_is_never_felt(tmp_path: Path, payload: str) -> None:
    """Whatever stands on standard input: nothing is printed, and the exit code is 0."""
    done = run_headspace(tmp_path, "hook", "stop", standard_input=payload)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
