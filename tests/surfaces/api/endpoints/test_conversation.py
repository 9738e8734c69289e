"""The conversation of an agent over HTTP: pages, places and refusals."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.support import RunningDaemon

TURNS = 6


@pytest.fixture
def agent(daemon: RunningDaemon, tmp_path: Path) -> str:
    """An agent with some prompts, each followed by a tool call. Its id."""
    session = {"session_id": f"talk-{tmp_path.name}", "cwd": str(tmp_path)}
    for number in range(TURNS):
        reply = daemon.post("user-prompt-submit", {**session, "prompt": f"prompt {number}", "prompt_id": f"p{number}"})
        call = {**session, "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": f"t{number}"}
        daemon.post("pre-tool-use", call)
        daemon.post("post-tool-use", call)
    agent: str = reply.json()["agent_id"]
    return agent


def page_of(daemon: RunningDaemon, agent: str, **place: Any) -> dict[str, Any]:
    """A page of the conversation."""
    reply = daemon.send("GET", f"/api/agents/{agent}/conversation?{urlencode(place)}", scope="read")
    assert reply.status == 200
    page: dict[str, Any] = reply.json()
    return page


def prompts(page: dict[str, Any]) -> list[str]:
    """The texts of the turns on a page."""
    return [turn["text"] for turn in page["turns"]]


def pages_before(daemon: RunningDaemon, agent: str, limit: int) -> Iterator[dict[str, Any]]:
    """All pages, the newest first."""
    page = page_of(daemon, agent, limit=limit)
    yield page
    while page["before"] is not None:
        page = page_of(daemon, agent, limit=limit, before=page["before"])
        yield page


def test_pages(daemon: RunningDaemon, agent: str) -> None:
    """The cursors of a page are parameters of the next request. Each call is on the page of its turn."""
    pages = list(pages_before(daemon, agent, 2))
    assert [prompts(page) for page in pages] == [
        ["prompt 4", "prompt 5"],
        ["prompt 2", "prompt 3"],
        ["prompt 0", "prompt 1"],
    ]
    assert [[call["id"] for call in page["calls"]] for page in pages] == [["t4", "t5"], ["t2", "t3"], ["t0", "t1"]]
    assert page_of(daemon, agent, limit=2, after=pages[1]["before"])["turns"] == pages[1]["turns"]


def test_a_page_around_a_turn_or_a_time(daemon: RunningDaemon, agent: str) -> None:
    """A link to a turn needs only its id."""
    turn = page_of(daemon, agent)["turns"][1]
    page = page_of(daemon, agent, limit=2, around=turn["turn_id"])
    assert prompts(page) == ["prompt 0", "prompt 1"]
    assert page_of(daemon, agent, limit=2, at=turn["timestamp"]) == page


@pytest.mark.parametrize(
    ("place", "status", "code"),
    [
        ({"around": "missing"}, 404, "unknown_turn"),
        ({"around": "missing", "at": "2h"}, 400, "bad_parameter"),
        ({"before": "2h", "after": "3h"}, 400, "bad_parameter"),
        ({"before": "soon"}, 400, "bad_time"),
        ({"limit": "201"}, 400, "bad_parameter"),
    ],
)
def test_refusals(daemon: RunningDaemon, agent: str, place: dict[str, str], status: int, code: str) -> None:
    """An unknown turn, two places at once, and invalid values are errors that say what to do."""
    reply = daemon.send("GET", f"/api/agents/{agent}/conversation?{urlencode(place)}", scope="read")
    error = reply.json()["error"]
    assert (reply.status, error["code"]) == (status, code)
    assert error["hint"]
