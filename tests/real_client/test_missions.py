"""Missions with the real Claude Code: a conversation starts a worker and is resumed when the worker ends."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_client.client import Client
from tests.real_client.headless import HeadlessRunner, installed_home
from tests.real_client.model import ScriptedModel, bash, reply, text
from tests.real_client.program import VERSIONS
from tests.support import wait_until

START = "headspace mission start --background 'Count the files' -- --permission-mode default --allowedTools Bash"
ALLOWED = ("--permission-mode", "default", "--allowedTools", "Bash")


@pytest.fixture(params=VERSIONS)
def runner(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[HeadlessRunner]:
    """A runner for each client version."""
    with installed_home(request.param, tmp_path) as (installation, home):
        yield HeadlessRunner(installation, home)


def test_the_end_of_a_worker_resumes_its_conversation(runner: HeadlessRunner) -> None:
    """The worker is reminded and reports. Its end resumes the conversation, and the model gets the summary once."""
    installation, home = runner.installation, runner.home
    script = {
        "Send somebody": [reply(bash(START)), reply(text("On its way."))],
        "without asking": [reply(text("ANSWERED-4712"))],
        "Report before you end": [reply(bash("headspace report REPORTED-4711")), reply(text("Bye."))],
        "A worker has finished": [reply(text("So there are four."))],
    }
    with ScriptedModel(script) as model:
        client = Client(installation.terminals, home, model.url, *ALLOWED)
        client.wait_until_ready()
        client.write("Send somebody")
        client.send()
        wait_until(lambda: "So there are four." in client.screen, "the conversation to continue")
        woken = [request for request in map(str, model.requests) if "A worker has finished: Count the files" in request]
        assert woken
        assert "REPORTED-4711" in woken[-1]
        assert "ANSWERED-4712" in woken[-1]
        assert woken[-1].count("Results of the missions that you started") == 1
        [mission] = installation.daemon.get("/api/missions").json()
        assert (mission["outcome"], mission["report"]) == ("succeeded", "REPORTED-4711")
        [conversation] = [each for each in installation.daemon.agents() if each["id"] == mission["conversation_id"]]
        assert (conversation["mode"], conversation["news"]) == ("interactive", [])
        turns = installation.daemon.get(f"/api/agents/{conversation['id']}/turns").json()
        assert sum("A worker has finished" in turn["text"] for turn in turns if turn["actor"] == "USER") == 1
        reminded = [request for request in map(str, model.requests) if "Report before you end" in request]
        assert reminded
        client.close()


def test_a_killed_worker_has_failed(runner: HeadlessRunner) -> None:
    """Requirement: a killed worker is not reported as succeeded, although its last text ended a turn."""
    installation, home = runner.installation, runner.home
    script = {
        "Send somebody": [reply(bash(START)), reply(text("On its way."))],
        "without asking": [reply(text("There are four."))],
        "Report before you end": [reply(text("This is never said."), held="never")],
        "A worker has finished": [reply(text("So it was killed."))],
    }
    with ScriptedModel(script) as model:
        client = Client(installation.terminals, home, model.url, *ALLOWED)
        client.wait_until_ready()
        client.write("Send somebody")
        client.send()
        wait_until(model.reached("never").is_set, "the reminder of the worker")
        [worker] = [each for each in installation.daemon.agents() if each["mode"] == "background"]
        os.kill(worker["pid"], signal.SIGKILL)
        wait_until(lambda: "So it was killed." in client.screen, "the conversation to continue")
        [mission] = installation.daemon.get("/api/missions").json()
        assert mission["outcome"] == "failed"
        assert "has failed after" in str(model.requests[-1])
        client.close()
