"""`POST /hook/{event}`: who is answered what. The shim is known by its token; everybody else is only heard."""

import json

import pytest

from claude_headspace.kernel.hooks import PROBE
from tests.support import RunningDaemon

FOR_CLAUDE = {"X-Headspace-Reply": "hook"}


def body(session: str) -> dict[str, object]:
    """A valid body."""
    return {"session_id": session, "cwd": f"/projects/{session}"}


@pytest.mark.parametrize("scope", ["ingest", "admin"])
def test_the_shim_gets_only_what_claude_code_should_do(daemon: RunningDaemon, scope: str) -> None:
    """Nothing to say is no body at all, so that nothing reaches the model; the event is stored."""
    reply = daemon.post("stop", body(f"shim-{scope}"), {**FOR_CLAUDE, **daemon.credentials(scope)})
    assert (reply.status, reply.body) == (204, b"")
    assert any(agent["session_id"] == f"shim-{scope}" for agent in daemon.agents())


@pytest.mark.parametrize("scope", [None, "read", "act"])
def test_without_the_token_the_whole_reply_comes(daemon: RunningDaemon, scope: str | None) -> None:
    """Asking for Claude Code's part is not enough: who has no ingest token is only recorded."""
    reply = daemon.post("stop", body(f"other-{scope}"), {**FOR_CLAUDE, **daemon.credentials(scope)})
    assert reply.status == 200
    assert reply.json()["status"] == "ok"


def test_a_wrong_token_is_no_token(daemon: RunningDaemon) -> None:
    """An open door does not turn away a token that it does not know, and does not believe it either."""
    reply = daemon.post("stop", body("wrong"), {**FOR_CLAUDE, "Authorization": "Bearer hs_ingest_wrong"})
    assert reply.status == 200
    assert reply.json()["status"] == "ok"


def test_the_token_alone_gives_the_whole_reply(daemon: RunningDaemon) -> None:
    """Who does not ask for less gets all of it."""
    reply = daemon.post("stop", body("whole"), daemon.credentials("ingest"))
    assert reply.json()["state"] == "idle"


def test_broken_text_is_repaired_for_the_shim_alone(daemon: RunningDaemon) -> None:
    """Bytes that are no text are refused, but not from the one who would never send them again."""
    broken = b'{"session_id": "broken", "cwd": "/projects/broken", "text": "\xff\xfe"}'
    assert daemon.post("stop", broken).status == 400
    assert daemon.post("stop", broken, daemon.credentials("ingest")).status == 200
    [event] = [event for event in daemon.events() if event["payload"].get("session_id") == "broken"]
    assert event["payload"]["text"] == "\ufffd\ufffd"
    assert event["anomaly"] == "the text was broken and has been repaired"


@pytest.mark.parametrize("payload", [b"no json", b'{"no": "session"}', b'{"session_id": "\xff"}', b"\xff"])
def test_what_makes_no_sense_is_refused_from_everybody(daemon: RunningDaemon, payload: bytes) -> None:
    """A body that cannot be given to any agent is refused, and counted."""
    before = sum(daemon.status["refused"].values())
    assert daemon.post("stop", payload, daemon.credentials("ingest")).status == 400
    assert sum(daemon.status["refused"].values()) == before + 1


def test_a_test_of_the_way_in_belongs_to_nobody(daemon: RunningDaemon) -> None:
    """The doctor's event is in the journal, twice delivered or not, and on no board."""
    before = {agent["id"] for agent in daemon.agents()}
    told = {"X-Headspace-Delivery-Id": "probe-1"}
    first = daemon.post(PROBE, {"session_id": "headspace-doctor"}, told).json()
    second = daemon.post(PROBE, {"session_id": "headspace-doctor"}, told).json()
    assert (first["status"], first["correlation"], second["status"]) == ("ok", "nobody", "duplicate")
    stored = [event for event in daemon.events() if event["name"] == PROBE]
    assert [(event["agent_id"], event["anomaly"]) for event in stored] == [("", None)]
    assert {agent["id"] for agent in daemon.agents()} == before
    assert json.dumps(daemon.get("/api/agents?all=true").json()).count("headspace-doctor") == 0
    assert daemon.verified()
