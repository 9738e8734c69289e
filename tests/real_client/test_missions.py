"""Missions with the real Claude Code: a conversation sends a worker off, and is woken by its end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_client.client import Client
from tests.real_client.desk import Desk, a_place
from tests.real_client.model import ScriptedModel, bash, reply, text
from tests.real_client.program import VERSIONS
from tests.support import wait_until

START = "headspace mission start --background 'Count the files' -- --permission-mode default --allowedTools Bash"
ALLOWED = ("--permission-mode", "default", "--allowedTools", "Bash")


@pytest.fixture(params=VERSIONS)
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    """A desk for a client of every version."""
    with a_place(request.param, tmp_path) as (house, home):
        yield Desk(house, home)


def test_a_workers_end_wakes_its_conversation(desk: Desk) -> None:
    """The worker is reminded and reports, its end wakes the conversation, and the model reads the summary, once."""
    house, home = desk.house, desk.home
    script = {
        "Send somebody": [reply(bash(START)), reply(text("On its way."))],
        "by yourself": [reply(text("ANSWERED-4712"))],
        "Report before you end": [reply(bash("headspace report REPORTED-4711")), reply(text("Bye."))],
        "A worker has finished": [reply(text("So there are four."))],
    }
    with ScriptedModel(script) as model:
        client = Client(house.terminals, home, model.url, *ALLOWED)
        client.wait_until_ready()
        client.write("Send somebody")
        client.send()
        wait_until(lambda: "So there are four." in client.screen, "the conversation to go on")
        woken = [request for request in map(str, model.requests) if "A worker has finished: Count the files" in request]
        assert woken
        assert "REPORTED-4711" in woken[-1]
        assert "ANSWERED-4712" in woken[-1]
        assert woken[-1].count("What came of the work that this conversation asked for") == 1
        [mission] = house.daemon.get("/api/missions").json()
        assert (mission["outcome"], mission["report"]) == ("succeeded", "REPORTED-4711")
        [conversation] = [each for each in house.daemon.agents() if each["id"] == mission["conversation_id"]]
        assert (conversation["mode"], conversation["news"]) == ("interactive", [])
        said = house.daemon.get(f"/api/agents/{conversation['id']}/turns").json()
        assert sum("A worker has finished" in turn["text"] for turn in said if turn["actor"] == "USER") == 1
        reminded = [request for request in map(str, model.requests) if "Report before you end" in request]
        assert reminded
        client.close()
