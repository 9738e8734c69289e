"""What can be started, and where: the endpoints that the form of the dashboard uses, and what a retry sends."""

from pathlib import Path
from typing import Any

from tests.inputs.repository.repositories import Repository
from tests.support import RunningDaemon


def examine(daemon: RunningDaemon, path: object) -> dict[str, Any]:
    """What the daemon says about a directory."""
    found: dict[str, Any] = daemon.send("GET", f"/api/launches/directory?path={path}", scope="act").json()
    return found


def test_a_directory_is_examined(daemon: RunningDaemon, tmp_path: Path) -> None:
    """Its repository if it has one; a wrong path gets a suggestion; `~` is the home of the daemon."""
    shop = Repository(tmp_path / "shop")
    shop.write("kept.txt", "changed", at=2000)
    found = examine(daemon, shop.root)
    assert (found["problem"], found["branch"], found["branches"], found["uncommitted"]) == ("", "main", ["main"], 1)
    assert "Did you mean shop?" in examine(daemon, tmp_path / "shpo")["hint"]
    assert examine(daemon, "shop")["hint"] == "Begin with / or ~."
    plain = examine(daemon, "~")
    assert (plain["directory"], plain["problem"]) == (str(daemon.home), "")
    assert "is not in a git repository" in plain["worktree_problem"]


def test_offers_name_the_clients_and_their_modes(daemon: RunningDaemon, tmp_path: Path) -> None:
    """Models that agents used are suggested, with the projects that exist."""
    daemon.post("session-start", {"session_id": "used", "cwd": str(tmp_path), "source": "startup", "model": "opus-x"})
    offers = daemon.get("/api/launches").json()
    claude = offers["clients"][0]
    assert (claude["name"], "plan" in claude["permission_modes"], "opus-x" in claude["models"]) == (
        "claude-code",
        True,
        True,
    )
    assert str(tmp_path) in [each["directory"] for each in offers["projects"]]


def test_a_retry_repeats_an_untouched_prompt_and_continues_a_begun_one(daemon: RunningDaemon, tmp_path: Path) -> None:
    """A prompt that the agent began with is in its context. Without an error there is nothing to retry."""
    agent = daemon.post("session-start", {"session_id": "r", "cwd": str(tmp_path), "source": "startup"}).json()
    path = f"/api/agents/{agent['agent_id']}/retry"
    payload = {"session_id": "r", "cwd": str(tmp_path)}
    assert "was not stopped by an error" in daemon.get(path).json()["problem"]
    refused = daemon.send("POST", path, {}, scope="act")
    assert (refused.status, refused.json()["error"]["code"]) == (409, "not_stopped")
    daemon.post("user-prompt-submit", {**payload, "prompt": "Count the stars."})
    daemon.post("stop-failure", {**payload, "error": "rate_limit"})
    untouched = daemon.get(path).json()
    assert (untouched["text"], untouched["repeats"], untouched["limit_ends_at"]) == ("Count the stars.", True, None)
    unknown = daemon.send("POST", path, {"at": "limit"}, scope="act")
    assert unknown.json()["error"]["code"] == "unknown_end"
    past = daemon.send("POST", path, {"at": "2020-01-01"}, scope="act")
    assert past.json()["error"]["code"] == "past_time"
    daemon.post("user-prompt-submit", {**payload, "prompt": "Count them again."})
    call = {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "ls"}}
    daemon.post("pre-tool-use", {**payload, **call})
    daemon.post("post-tool-use", {**payload, **call})
    daemon.post("stop-failure", {**payload, "error": "rate_limit"})
    begun = daemon.get(path).json()
    assert (begun["text"], begun["repeats"]) == ("continue", False)


def test_a_screen_needs_the_scope_act(daemon: RunningDaemon, tmp_path: Path) -> None:
    """It shows drafts and dialogs, which are not stored. So do worktrees and directories."""
    agent = daemon.post("session-start", {"session_id": "s", "cwd": str(tmp_path), "source": "startup"}).json()
    for path in (f"/api/agents/{agent['agent_id']}/screen", f"/api/agents/{agent['agent_id']}/worktree"):
        assert daemon.send("GET", path, scope="read").status == 403
    assert daemon.send("GET", "/api/launches/directory?path=/", scope="read").status == 403
