"""Missions over the API, on every database: begun, worked on, reported, finished; by people and by agents."""

import uuid
from typing import Any

import pytest

from tests.support import Reply, RunningDaemon, wait_until


class Office:
    """A conversation, and what it asks for."""

    def __init__(self, daemon: RunningDaemon) -> None:
        self.daemon = daemon
        self.session = f"talk-{uuid.uuid4()}"
        self.directory = f"/tmp/{uuid.uuid4()}"
        self.conversation = self.hook(self.session, "session-start", source="startup")

    def hook(self, session: str, event: str, headers: dict[str, str] | None = None, **told: Any) -> str:
        """A hook of a client; its agent. With a token, as the installed script has it."""
        payload = {"session_id": session, "cwd": self.directory, **told}
        reply = self.daemon.send("POST", f"/hook/{event}", payload, headers, scope="ingest")
        found: str = reply.json()["agent_id"]
        return found

    def post(self, path: str, body: dict[str, Any], session: str | None = None) -> Reply:
        """Do something, as a person or as the agent of a session."""
        told = {"X-Headspace-Caller-Session": session} if session else {}
        return self.daemon.send("POST", f"/api/missions{path}", body, told, scope="act")

    def begin(self, goal: str = "Count the tests", session: str | None = None, **more: Any) -> dict[str, Any]:
        """Begin a mission."""
        reply = self.post("", {"goal": goal, "cwd": self.directory, **more}, session)
        assert reply.status == 200, reply.body
        found: dict[str, Any] = reply.json()
        return found

    def work(self, mission: dict[str, Any]) -> str:
        """A client begins to work on a mission; its session."""
        session = f"worker-{uuid.uuid4()}"
        agent = self.hook(session, "session-start", {"X-Headspace-Session-Id": mission["id"]}, source="startup")
        assert agent == mission["workers"][0]["id"]
        return session

    def news(self) -> list[dict[str, Any]]:
        """What the conversation is to be told, once it is."""
        return wait_until(lambda: self.daemon.agent(self.conversation)["news"], "the conversation to be told")

    def show(self, mission: dict[str, Any]) -> dict[str, Any]:
        """A mission as it is."""
        found: dict[str, Any] = self.daemon.get(f"/api/missions/{mission['id']}").json()
        return found


@pytest.fixture
def office(daemon: RunningDaemon) -> Office:
    """A conversation of this test alone."""
    return Office(daemon)


def test_a_mission_from_beginning_to_end(office: Office) -> None:
    """An agent begins it, a client takes it up, reports, and ends; its conversation is told."""
    mission = office.begin(session=office.session, mode="background")
    assert (mission["conversation_id"], mission["mode"]) == (office.conversation, "background")
    assert mission["workers"][0]["state"] == "starting"
    session = office.work(mission)
    office.hook(session, "user-prompt-submit", prompt="Count the tests", prompt_id="p")
    reported = office.post("/mine/report", {"text": "There are 12."}, session).json()
    assert (reported["id"], reported["outcome"], reported["report"]) == (mission["id"], "succeeded", "There are 12.")
    [news] = office.news()
    assert (news["mission_id"], news["goal"]) == (mission["id"], "Count the tests")
    office.hook(session, "stop", last_assistant_message="Reported.", prompt_id="p")
    office.hook(session, "session-end", reason="other")
    shown = office.show(mission)
    assert [each["source"] for each in shown["workers"][0]["sessions"]] == ["startup"]
    assert [each["what"] for each in shown["timeline"]] == ["started", "session", "prompt", "report"]
    listed = office.daemon.get("/api/missions").json()
    assert mission["id"] in [each["id"] for each in listed]
    assert len(office.daemon.agent(office.conversation)["news"]) == 1
    assert office.daemon.verified()


def test_a_conversation_is_told_of_nobody_elses_workers(office: Office) -> None:
    """Two conversations, one mission each: each hears of its own."""
    other = Office(office.daemon)
    for one, goal in ((office, "Ours"), (other, "Theirs")):
        session = one.work(one.begin(goal, session=one.session))
        one.hook(session, "session-end", reason="other")
    for one, goal in ((office, "Ours"), (other, "Theirs")):
        assert [each["goal"] for each in one.news()] == [goal]


def test_a_person_begins_a_mission_for_a_conversation(office: Office) -> None:
    """`--for`; without it nobody is told."""
    name = office.daemon.agent(office.conversation)["name"]
    assert office.begin(conversation=name)["conversation"] == name
    assert office.begin()["conversation_id"] is None


def test_an_agent_acts_for_itself_alone(office: Office) -> None:
    """It cannot put words into another conversation, nor report or finish what is not its own."""
    other = Office(office.daemon)
    body = {"goal": "Tell them", "cwd": office.directory, "conversation": other.conversation}
    assert office.post("", body, office.session).error["code"] == "not_your_mission"
    mission = other.begin(session=other.session)
    for act, told in (("report", {"text": "x"}), ("finish", {"outcome": "failed"})):
        refused = office.post(f"/{mission['id']}/{act}", told, office.session)
        assert (refused.status, refused.error["code"]) == (403, "not_your_mission")
    assert (
        other.post(f"/{mission['id']}/finish", {"outcome": "abandoned"}, other.session).json()["outcome"] == "abandoned"
    )


def test_a_person_finishes_a_mission_once(office: Office) -> None:
    """With an outcome and a reason; a second time is refused."""
    mission = office.begin()
    worker = mission["workers"][0]
    done = office.post(f"/{worker['name']}/finish", {"outcome": "failed", "text": "Too dear."}).json()
    assert (done["outcome"], done["words"], done["workers"][0]["state"]) == ("failed", "Too dear.", "ended")
    assert office.post(f"/{mission['id']}/finish", {}).error["code"] == "mission_over"


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
def test_what_cannot_be_done_is_said(office: Office, path: str, body: dict[str, Any], code: str) -> None:
    """Each with its own reason, and nothing is written."""
    with office.daemon.untouched():
        assert office.post(path, body).error["code"] == code


def test_a_session_that_nobody_knows_works_on_nothing(office: Office) -> None:
    """Its report is refused with what to do."""
    assert office.post("/mine/report", {"text": "x"}, "a-session-of-nobody").error["code"] == "unknown_session"


def test_reading_needs_a_token(office: Office) -> None:
    """As everything does."""
    assert office.daemon.get("/api/missions", scope=None).status == 401
    assert office.daemon.send("POST", "/api/missions", {"goal": "x", "cwd": "/"}, scope="read").status == 403
