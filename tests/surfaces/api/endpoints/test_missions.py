"""Missions over the API, on every database: started, worked on, reported and finished, by people and by agents."""

import uuid
from typing import Any

import pytest

from tests.support import Reply, RunningDaemon, wait_until


class MissionTest:
    """A conversation and the missions that it starts."""

    def __init__(self, daemon: RunningDaemon) -> None:
        self.daemon = daemon
        self.session = f"talk-{uuid.uuid4()}"
        self.directory = f"/tmp/{uuid.uuid4()}"
        self.conversation = self.hook(self.session, "session-start", source="startup")

    def hook(self, session: str, event: str, headers: dict[str, str] | None = None, **fields: Any) -> str:
        """Send a hook with a token, like the installed script; the id of its agent."""
        payload = {"session_id": session, "cwd": self.directory, **fields}
        reply = self.daemon.send("POST", f"/hook/{event}", payload, headers, scope="ingest")
        found: str = reply.json()["agent_id"]
        return found

    def post(self, path: str, body: dict[str, Any], session: str | None = None) -> Reply:
        """Send a request, as a person or as the agent of a session."""
        headers = {"X-Headspace-Caller-Session": session} if session else {}
        return self.daemon.send("POST", f"/api/missions{path}", body, headers, scope="act")

    def start(self, goal: str = "Count the tests", session: str | None = None, **more: Any) -> dict[str, Any]:
        """Start a mission."""
        reply = self.post("", {"goal": goal, "cwd": self.directory, **more}, session)
        assert reply.status == 200, reply.body
        found: dict[str, Any] = reply.json()
        return found

    def work(self, mission: dict[str, Any]) -> str:
        """A client starts to work on a mission; its session."""
        session = f"worker-{uuid.uuid4()}"
        agent = self.hook(session, "session-start", {"X-Headspace-Session-Id": mission["id"]}, source="startup")
        assert agent == mission["workers"][0]["id"]
        return session

    def reports(self) -> list[dict[str, Any]]:
        """The reports for the conversation, once there are any."""
        return wait_until(lambda: self.daemon.agent(self.conversation)["news"], "the report")

    def show(self, mission: dict[str, Any]) -> dict[str, Any]:
        """The details of a mission."""
        found: dict[str, Any] = self.daemon.get(f"/api/missions/{mission['id']}").json()
        return found


@pytest.fixture
def missions(daemon: RunningDaemon) -> MissionTest:
    """A conversation of this test only."""
    return MissionTest(daemon)


def test_complete_mission(missions: MissionTest) -> None:
    """An agent starts it; a client works on it, reports and ends; its conversation is informed."""
    mission = missions.start(session=missions.session, mode="background")
    assert (mission["conversation_id"], mission["mode"]) == (missions.conversation, "background")
    assert mission["workers"][0]["state"] == "starting"
    session = missions.work(mission)
    missions.hook(session, "user-prompt-submit", prompt="Count the tests", prompt_id="p")
    reported = missions.post("/mine/report", {"text": "There are 12."}, session).json()
    assert (reported["id"], reported["outcome"], reported["report"]) == (mission["id"], "succeeded", "There are 12.")
    [news] = missions.reports()
    assert (news["mission_id"], news["goal"]) == (mission["id"], "Count the tests")
    missions.hook(session, "stop", last_assistant_message="Reported.", prompt_id="p")
    missions.hook(session, "session-end", reason="other")
    shown = missions.show(mission)
    assert [each["source"] for each in shown["workers"][0]["sessions"]] == ["startup"]
    assert [each["what"] for each in shown["timeline"]] == ["started", "session", "prompt", "report"]
    listed = missions.daemon.get("/api/missions").json()
    assert mission["id"] in [each["id"] for each in listed]
    assert len(missions.daemon.agent(missions.conversation)["news"]) == 1
    assert missions.daemon.verified()


def test_a_conversation_receives_only_its_own_reports(missions: MissionTest) -> None:
    """Two conversations with one mission each."""
    other = MissionTest(missions.daemon)
    for one, goal in ((missions, "Ours"), (other, "Theirs")):
        session = one.work(one.start(goal, session=one.session))
        one.hook(session, "session-end", reason="other")
    for one, goal in ((missions, "Ours"), (other, "Theirs")):
        assert [each["goal"] for each in one.reports()] == [goal]


def test_a_person_starts_a_mission_for_a_conversation(missions: MissionTest) -> None:
    """With `--for`; without it no conversation is informed."""
    name = missions.daemon.agent(missions.conversation)["name"]
    assert missions.start(conversation=name)["conversation"] == name
    assert missions.start()["conversation_id"] is None


def test_an_agent_acts_only_for_itself(missions: MissionTest) -> None:
    """It cannot start missions for others, nor report on or finish missions that are not its own."""
    other = MissionTest(missions.daemon)
    body = {"goal": "Tell them", "cwd": missions.directory, "conversation": other.conversation}
    assert missions.post("", body, missions.session).error["code"] == "not_your_mission"
    mission = other.start(session=other.session)
    for act, body in (("report", {"text": "x"}), ("finish", {"outcome": "failed"})):
        refused = missions.post(f"/{mission['id']}/{act}", body, missions.session)
        assert (refused.status, refused.error["code"]) == (403, "not_your_mission")
    assert (
        other.post(f"/{mission['id']}/finish", {"outcome": "abandoned"}, other.session).json()["outcome"] == "abandoned"
    )


def test_a_person_finishes_a_mission_once(missions: MissionTest) -> None:
    """With an outcome and a reason. The second time is refused."""
    mission = missions.start()
    worker = mission["workers"][0]
    done = missions.post(f"/{worker['name']}/finish", {"outcome": "failed", "text": "Too dear."}).json()
    assert (done["outcome"], done["words"], done["workers"][0]["state"]) == ("failed", "Too dear.", "ended")
    assert missions.post(f"/{mission['id']}/finish", {}).error["code"] == "mission_over"


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("", {"goal": "", "cwd": "/tmp"}, "bad_json"),
        ("", {"goal": "x", "cwd": "/tmp", "mode": "interactive"}, "bad_json"),
        ("", {"goal": "x", "cwd": "/tmp", "conversation": "nobody-at-all"}, "unknown_agent"),
        ("", {"goal": "x", "cwd": "/tmp", "name": "Not A Name"}, "bad_name"),
        ("/no-such-mission/finish", {}, "unknown_mission"),
        ("/mine/report", {"text": "x"}, "no_mission"),
        ("/no-such-mission/report", {"text": ""}, "bad_json"),
    ],
)
def test_invalid_requests(missions: MissionTest, path: str, body: dict[str, Any], code: str) -> None:
    """Each is refused with its own code, and nothing is stored."""
    with missions.daemon.untouched():
        assert missions.post(path, body).error["code"] == code


def test_unknown_session(missions: MissionTest) -> None:
    """Its report is refused."""
    assert missions.post("/mine/report", {"text": "x"}, "a-session-of-nobody").error["code"] == "unknown_session"


def test_scopes(missions: MissionTest) -> None:
    """Reading needs `read`, starting needs `act`."""
    assert missions.daemon.get("/api/missions", scope=None).status == 401
    assert missions.daemon.send("POST", "/api/missions", {"goal": "x", "cwd": "/"}, scope="read").status == 403
