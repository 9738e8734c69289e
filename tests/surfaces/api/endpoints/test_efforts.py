"""Efforts and tasks over HTTP."""

from pathlib import Path

from tests.support import RunningDaemon
from tests.support_rpc import call


def test_list_and_details_of_efforts(daemon: RunningDaemon, tmp_path: Path) -> None:
    """Filtered by agent, with finished ones on request, and the details of one with its sessions and messages."""
    (tmp_path / ".git").mkdir()
    here = {"cwd": str(tmp_path)}
    begun = call(daemon, "effort.start", {"skill": "fix", "title": "The parser", "keywords": ["lexer"], **here})
    call(daemon, "hooks.sessionStart", {"sessionId": f"api-{tmp_path.name}", "source": "startup", **here})
    call(daemon, "effort.log", {"text": "Found it.", "effort": begun["id"]})
    [mine] = [each for each in daemon.get("/api/efforts").json() if each["id"] == begun["id"]]
    assert (mine["skill"], mine["logged"], len(mine["sessions"])) == ("fix", 1, 1)
    assert [each["id"] for each in daemon.get(f"/api/efforts?agent={mine['agent_id']}").json()] == [begun["id"]]
    story = daemon.get(f"/api/efforts/{begun['id'][:12]}").json()
    assert [each["text"] for each in story["messages"]] == ["Found it."]
    assert story["sessions"][0]["spent"] is None
    [task] = [each for each in daemon.get("/api/tasks").json() if each["id"] == mine["task_id"]]
    assert (task["title"], task["keywords"], task["status"]) == ("The parser", ["lexer"], "active")
    call(daemon, "effort.finish", {"effort": begun["id"]})
    assert begun["id"] not in [each["id"] for each in daemon.get("/api/efforts").json()]
    assert begun["id"] in [each["id"] for each in daemon.get("/api/efforts?all=true").json()]


def test_unknown_effort(daemon: RunningDaemon) -> None:
    """404, with the command that lists efforts."""
    answer = daemon.get("/api/efforts/nobody")
    assert (answer.status, answer.error["code"]) == (404, "unknown_effort")
    assert "headspace effort list" in answer.error["hint"]
