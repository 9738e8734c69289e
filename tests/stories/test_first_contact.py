"""The first steps of a new user: one `curl` request to a newly started daemon."""

import http.client
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import RunningDaemon, running_daemon

VERIFY_A_HOOK = """\
curl -X POST http://localhost:5055/hook/session-start \\
  -H "Content-Type: application/json" \\
  -d '{"session_id": "test-123", "cwd": "/tmp", "timestamp": 1234567890}'
"""
CHECK_THE_STATUS = "curl http://localhost:5055/hook/status"

EVENTS: dict[str, dict[str, object]] = {
    "session-start": {"source": "startup"},
    "user-prompt-submit": {"prompt": "Tidy up the imports."},
    "pre-tool-use": {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "call-1"},
    "permission-request": {"tool_name": "Bash", "tool_input": {"command": "ls"}},
    "post-tool-use": {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "call-1"},
    "notification": {"message": "Claude is waiting for your input", "notification_type": "idle_prompt"},
    "stop": {"last_assistant_message": "Done."},
    "session-end": {"reason": "other"},
    "some-event-of-next-year": {"whatever": [1, 2, 3]},
}
"""The lifecycle events of a session in order, and an unknown event."""


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[RunningDaemon]:
    """A newly started daemon without data."""
    with running_daemon(tmp_path) as running:
        yield running


@pytest.fixture(scope="module")
def daemon_for_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """One daemon for the tests that do not need a fresh one."""
    with running_daemon(tmp_path_factory.mktemp("home")) as running:
        yield running


def shell(daemon: RunningDaemon, command: str) -> Any:
    """The JSON output of a command. Only the port is replaced."""
    here = command.replace(":5055", f":{daemon.port}")
    done = subprocess.run(["sh", "-c", here], capture_output=True, timeout=60, check=True)
    return json.loads(done.stdout)


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_first_curl_is_answered(daemon: RunningDaemon) -> None:
    """The first commands of the documentation work on a new installation."""
    reply = shell(daemon, VERIFY_A_HOOK)
    assert reply["status"] == "ok"
    assert reply["state"] == "idle"
    assert reply["session_id"] == "test-123"
    assert [agent["id"] for agent in daemon.agents()] == [reply["agent_id"]]

    status = shell(daemon, CHECK_THE_STATUS)
    assert status["enabled"] is True
    assert status["events_total"] == 1
    assert status["last_event_at"].startswith("20"), "the time in the payload (2009) is only data"


def test_the_same_bytes_without_curl_are_answered(daemon_for_all: RunningDaemon) -> None:
    """Another program that sends the same request as curl gets the same reply."""
    body = b'{"session_id": "test-123", "cwd": "/tmp", "timestamp": 1234567890}'
    connection = http.client.HTTPConnection("localhost", daemon_for_all.port, timeout=60)
    connection.request("POST", "/hook/session-start", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    reply = json.loads(response.read())
    connection.close()
    assert (response.status, reply["status"], reply["state"]) == (200, "ok", "idle")


def test_every_event_of_a_session_is_answered(daemon_for_all: RunningDaemon) -> None:
    """Each of the eight lifecycle events, and an unknown event, gets status, agent and state."""
    replies = {
        event: daemon_for_all.curl(event, {"session_id": "whole", "cwd": "/projects/whole", **fields})
        for event, fields in EVENTS.items()
    }
    assert {event: reply.status for event, reply in replies.items()} == dict.fromkeys(EVENTS, 200)
    bodies = {event: reply.json() for event, reply in replies.items()}
    assert len({reply["agent_id"] for reply in bodies.values()}) == 1
    assert {reply["status"] for reply in bodies.values()} == {"ok"}
    assert {event: reply["state"] for event, reply in bodies.items()} == {
        "session-start": "idle",
        "user-prompt-submit": "working",
        "pre-tool-use": "working",
        "permission-request": "waiting",
        "post-tool-use": "working",
        "notification": "idle",
        "stop": "idle",
        "session-end": "ended",
        "some-event-of-next-year": "idle",
    }


@pytest.mark.parametrize("event", EVENTS)
def test_any_event_may_be_the_first(daemon_for_all: RunningDaemon, event: str) -> None:
    """A daemon that starts in the middle of a session still tracks it."""
    payload = {"session_id": f"late-{event}", "cwd": f"/projects/late-{event}", **EVENTS[event]}
    reply = daemon_for_all.curl(event, payload)
    assert reply.status == 200
    assert {"status", "agent_id", "state"} <= reply.json().keys()
    assert daemon_for_all.agent(reply.json()["agent_id"])["state"] == reply.json()["state"]


def test_working_directory_is_an_alias_of_cwd(daemon_for_all: RunningDaemon) -> None:
    """Both field names are accepted."""
    reply = daemon_for_all.curl("session-start", {"session_id": "wd", "working_directory": "/projects/wd"})
    assert daemon_for_all.agent(reply.json()["agent_id"])["cwd"] == "/projects/wd"


def test_a_session_without_a_directory_is_tracked(daemon_for_all: RunningDaemon) -> None:
    """An event with only a session id creates an agent."""
    reply = daemon_for_all.curl("stop", {"session_id": "nowhere"})
    assert reply.status == 200
    assert daemon_for_all.agent(reply.json()["agent_id"])["project"]["name"] == "unknown"
