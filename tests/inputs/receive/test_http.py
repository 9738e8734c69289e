"""`POST /hook/{event}`: replies to the hook script, which has the ingest token, and to other senders."""

import json

import pytest

from claude_headspace.kernel.hooks import PROBE
from tests.support import RunningDaemon

HOOK_REPLY = {"X-Headspace-Reply": "hook"}


def body(session: str) -> dict[str, object]:
    """A valid body."""
    return {"session_id": session, "cwd": f"/projects/{session}"}


@pytest.mark.parametrize("scope", ["ingest", "admin"])
def test_the_hook_script_gets_only_the_reply_to_the_client(daemon: RunningDaemon, scope: str) -> None:
    """An empty reply has no body, so that nothing reaches the model. The event is stored."""
    reply = daemon.curl("stop", body(f"script-{scope}"), {**HOOK_REPLY, **daemon.credentials(scope)})
    assert (reply.status, reply.body) == (204, b"")
    assert any(agent["session_id"] == f"script-{scope}" for agent in daemon.agents())


@pytest.mark.parametrize("scope", [None, "read", "act"])
def test_without_the_token_the_reply_is_a_report(daemon: RunningDaemon, scope: str | None) -> None:
    """The header alone is not enough: without the ingest token the event is only recorded."""
    reply = daemon.curl("stop", body(f"other-{scope}"), {**HOOK_REPLY, **daemon.credentials(scope)})
    assert reply.status == 200
    assert reply.json()["status"] == "ok"


def test_a_wrong_token_counts_as_no_token(daemon: RunningDaemon) -> None:
    """With open ingest an unknown token is neither refused nor trusted."""
    reply = daemon.curl("stop", body("wrong"), {**HOOK_REPLY, "Authorization": "Bearer hs_ingest_wrong"})
    assert reply.status == 200
    assert reply.json()["status"] == "ok"


def test_the_token_without_the_header_gives_a_report(daemon: RunningDaemon) -> None:
    """The reply to the client alone must be asked for."""
    reply = daemon.curl("stop", body("whole"), daemon.credentials("ingest"))
    assert reply.json()["state"] == "idle"


def test_broken_text_is_repaired_only_for_the_hook_script(daemon: RunningDaemon) -> None:
    """Other senders get an error for invalid UTF-8. The hook script would never send the event again."""
    broken = b'{"session_id": "broken", "cwd": "/projects/broken", "text": "\xff\xfe"}'
    assert daemon.curl("stop", broken).status == 400
    assert daemon.curl("stop", broken, daemon.credentials("ingest")).status == 200
    [event] = [event for event in daemon.events() if event["payload"].get("session_id") == "broken"]
    assert event["payload"]["text"] == "\ufffd\ufffd"
    assert event["anomaly"] == "the text was broken and has been repaired"


@pytest.mark.parametrize("payload", [b"no json", b'{"no": "session"}', b'{"session_id": "\xff"}', b"\xff"])
def test_invalid_bodies_are_refused_from_every_sender(daemon: RunningDaemon, payload: bytes) -> None:
    """A body without a valid session is refused and counted."""
    before = sum(daemon.status["refused"].values())
    assert daemon.curl("stop", payload, daemon.credentials("ingest")).status == 400
    assert sum(daemon.status["refused"].values()) == before + 1


def test_a_probe_belongs_to_no_agent(daemon: RunningDaemon) -> None:
    """The event of `headspace doctor` is stored once and never shown on the board."""
    before = {agent["id"] for agent in daemon.agents()}
    headers = {"X-Headspace-Delivery-Id": "probe-1"}
    first = daemon.curl(PROBE, {"session_id": "headspace-doctor"}, headers).json()
    second = daemon.curl(PROBE, {"session_id": "headspace-doctor"}, headers).json()
    assert (first["status"], first["correlation"], second["status"]) == ("ok", "nobody", "duplicate")
    stored = [event for event in daemon.events() if event["name"] == PROBE]
    assert [(event["agent_id"], event["anomaly"]) for event in stored] == [("", None)]
    assert {agent["id"] for agent in daemon.agents()} == before
    assert json.dumps(daemon.get("/api/agents?all=true").json()).count("headspace-doctor") == 0
    assert daemon.verified()
