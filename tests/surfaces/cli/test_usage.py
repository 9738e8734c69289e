"""The command `usage`, with a daemon that receives status lines."""

import csv
import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tests.support import RunningDaemon, running_daemon
from tests.surfaces.cli.conftest import run_headspace


def spend(daemon: RunningDaemon, session: str, cost: float, source: str = "startup", **known: Any) -> str:
    """A session starts, works and reports its cost; returns the id of its agent."""
    common = {"session_id": session, "cwd": "/projects/shop"} | known
    daemon.post("session-start", common | {"source": source})
    daemon.post("user-prompt-submit", common | {"prompt": "Fix it"})
    line = {"model": {"id": "claude-opus-5-5"}, "cost": {"total_cost_usd": cost}}
    found: str = daemon.post("StatusLine", common | line).json()["agent_id"]
    return found


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDaemon]:
    """Two agents with a known cost, one with none."""
    with running_daemon(tmp_path_factory.mktemp("usage")) as running:
        spend(running, "one", 1.25)
        spend(running, "two", 2.5, cwd="/projects/api")
        running.post("session-start", {"session_id": "silent", "cwd": "/projects/docs"})
        running.post("user-prompt-submit", {"session_id": "silent", "cwd": "/projects/docs", "prompt": "Hi"})
        yield running


def test_usage_by_project(daemon: RunningDaemon) -> None:
    """The most expensive first, with a sum, and how many agents are missing in it."""
    done = run_headspace(daemon.home, "usage", "--by", "project")
    assert (done.returncode, done.stderr) == (0, "")
    lines = [each.split() for each in done.stdout.splitlines()]
    assert [each[:2] for each in lines[1:4]] == [["api", "$2.50"], ["shop", "$1.25"], ["all", "$3.75"]]
    assert "1 agent of Claude Code without any report of cost" in done.stdout


def test_usage_of_one_agent(daemon: RunningDaemon) -> None:
    """Its sessions in all of its time."""
    name = next(each["name"] for each in daemon.agents() if each["project"]["name"] == "api")
    done = run_headspace(daemon.home, "usage", name, "--by", "model,session")
    assert done.stdout.splitlines()[1].split()[:3] == ["claude-opus-5-5", "two", "$2.50"]


def test_usage_in_json(daemon: RunningDaemon) -> None:
    """The output is the result of the API."""
    found = json.loads(run_headspace(daemon.home, "usage", "--by", "client,agent", "--json").stdout)
    assert found["by"] == ["client", "agent"]
    assert [(each["client"], each["cost_usd"]) for each in found["rows"]] == [
        ("claude-code", 2.5),
        ("claude-code", 1.25),
    ]
    assert (found["total"]["cost_usd"], found["unmeasured"]) == (3.75, [{"client": "claude-code", "agents": 1}])


def test_usage_in_csv(daemon: RunningDaemon) -> None:
    """One record per group, with the directory of a project."""
    done = run_headspace(daemon.home, "usage", "--by", "day,project", "--csv")
    records = list(csv.DictReader(StringIO(done.stdout)))
    assert [(each["project"], each["project_root"], each["cost_usd"]) for each in records] == [
        ("api", "/projects/api", "2.5"),
        ("shop", "/projects/shop", "1.25"),
    ]


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("--by", "colour"), "day, project, model, client, agent, session"),
        (("--json", "--csv"), "Use one of them"),
        (("--since", "soon"), "2h"),
        (("nobody-at-all",), "nobody-at-all"),
    ],
)
def test_wrong_arguments(daemon: RunningDaemon, arguments: tuple[str, ...], hint: str) -> None:
    """Each error says what to write."""
    done = run_headspace(daemon.home, "usage", *arguments)
    assert done.returncode != 0
    assert hint in done.stderr


def test_clear_and_restart_do_not_reset_the_cost(tmp_path: Path) -> None:
    """`list`, `show` and the API have the cost of all sessions, also after the daemon was restarted."""
    home = tmp_path / "home"
    with running_daemon(home) as daemon:
        first = spend(daemon, "before", 2.0)
        daemon.post("session-end", {"session_id": "before", "cwd": "/projects/shop", "reason": "clear"})
    with running_daemon(home) as daemon:
        spend(daemon, "after", 0.5, "clear")
        [agent] = [each for each in daemon.agents() if each["id"] == first]
        assert (agent["cost_usd"], agent["total_cost_usd"]) == (0.5, 2.5)
        assert "$2.50" in run_headspace(home, "list").stdout
        assert "$2.50 ($0.50 in this session)" in run_headspace(home, "show", agent["name"]).stdout
