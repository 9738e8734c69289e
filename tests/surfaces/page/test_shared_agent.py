"""The page behind a share link, in a running daemon."""

import pytest

from tests.support import RunningDaemon

HOSTILE = "<script>alert(1)</script>\u202e"
SESSION = {"session_id": "shared", "cwd": "/projects/shared"}


@pytest.fixture
def agent(daemon: RunningDaemon) -> str:
    """An agent that ran one command; its id."""
    daemon.post("session-start", SESSION)
    daemon.post("user-prompt-submit", {**SESSION, "prompt": f"Find it {HOSTILE}"})
    call = {**SESSION, "tool_name": "Bash", "tool_use_id": "run", "tool_input": {"command": "grep needle"}}
    daemon.post("pre-tool-use", call)
    daemon.post("post-tool-use", {**call, "tool_response": {"stdout": "found"}})
    reply = daemon.post("stop", {**SESSION, "last_assistant_message": "The needle is here."})
    found: str = reply.json()["agent_id"] if reply.body else daemon.get("/api/agents").json()[0]["id"]
    return found


def share(daemon: RunningDaemon, agent: str) -> dict[str, str]:
    """A new link to an agent."""
    found: dict[str, str] = daemon.send("POST", f"/api/agents/{agent}/shares", {}, scope="act").json()
    return found


def test_a_link_shows_the_conversation_without_a_token(daemon: RunningDaemon, agent: str) -> None:
    """State, turns and calls as text: without scripts, and with hidden characters as marks."""
    reply = daemon.get(share(daemon, agent)["path"], scope=None)
    text = reply.body.decode()
    assert reply.status == 200
    assert all(each in text for each in ("Idle since", "The needle is here.", "grep needle", "⟦U+202E⟧"))
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert reply.headers["cache-control"] == "no-store"


def test_a_link_is_no_token(daemon: RunningDaemon, agent: str) -> None:
    """It opens no other address."""
    text = share(daemon, agent)["path"].rpartition("/")[2]
    assert daemon.send("GET", "/api/agents", headers={"Authorization": f"Bearer {text}"}).status == 401


def test_a_revoked_link_shows_nothing(daemon: RunningDaemon, agent: str) -> None:
    """The page says so, with the same words as for a link that never was."""
    made, kept = share(daemon, agent), share(daemon, agent)
    name = made["details"]["name"]  # type: ignore[index]
    rest = daemon.send("POST", f"/api/agents/{agent}/shares/{name}/revoke", {}, scope="act").json()
    assert name not in {each["name"] for each in rest}
    gone = daemon.get(made["path"], scope=None)
    assert gone.status == 404
    assert gone.body == daemon.get("/share/unknown", scope=None).body
    assert daemon.get(kept["path"], scope=None).status == 200


def test_links_are_listed_without_their_address(daemon: RunningDaemon, agent: str) -> None:
    """With owner and expiry. They are created only with the scope act."""
    made = share(daemon, agent)
    listed = daemon.get(f"/api/agents/{agent}/shares").json()
    assert made["details"] in listed
    assert made["path"].rpartition("/")[2] not in str(listed)
    assert daemon.send("POST", f"/api/agents/{agent}/shares", {}, scope="read").status == 403
