"""Acts across machines: any daemon accepts the request, and the daemon of the agent's machine does it at most once."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.postgres import Postgres
from tests.support import Reply, RunningDaemon, running_daemon, wait_until
from tests.terminals import Terminal, needs_tmux, run_in, terminal

pytestmark = needs_tmux


@pytest.fixture
def database(postgres: Postgres) -> str:
    """A database for one test."""
    return postgres.database()


@pytest.fixture
def page(tmp_path: Path, database: str) -> Iterator[RunningDaemon]:
    """The daemon of a machine without agents."""
    with running_daemon(tmp_path / "page", database=database, machine="page") as daemon:
        yield daemon


@pytest.fixture
def laptop(tmp_path: Path, database: str) -> Iterator[Terminal]:
    """The machine of the agents, with its daemon."""
    folder = tmp_path / "laptop"
    with running_daemon(folder / "home", database=database, machine="laptop") as daemon, terminal(folder, daemon) as it:
        yield it


def send(daemon: RunningDaemon, agent: dict[str, Any], text: str, sending: str = "") -> Reply:
    """Ask a daemon to send a text to an agent."""
    return daemon.send("POST", f"/api/agents/{agent['id']}/send", {"text": text, "id": sending}, scope="act")


def names_of(daemon: RunningDaemon, agent: dict[str, Any]) -> list[tuple[str, str]]:
    """The acts on an agent in the log, each with the machine that did it."""
    events = daemon.get(f"/api/agents/{agent['id']}/events").json()
    return [(event["name"], event["host"]) for event in events if event["origin"] == "operator"]


def test_a_prompt_is_typed_where_the_agent_runs(laptop: Terminal, page: RunningDaemon) -> None:
    """A request on another machine arrives once, the client confirms it, and the log has the machines."""
    agent = laptop.agent_in(laptop.start("claude"))
    done = run_in(laptop, "send", agent["name"], "Grüße;\n$(id)", HEADSPACE_HOME=str(page.home))
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{agent['name']} received the prompt.\n", "")
    assert laptop.prompts() == ["Grüße;\n$(id)"]
    assert names_of(page, agent) == [
        ("ErrandAsked", "page"),
        ("ErrandTaken", "laptop"),
        ("TextTyped", "laptop"),
        ("ErrandDone", "laptop"),
    ]
    assert page.verified()


def test_the_same_send_to_several_daemons_is_typed_once(laptop: Terminal, page: RunningDaemon) -> None:
    """A sender that got no reply may send the request again to any daemon, with the same id."""
    agent = laptop.agent_in(laptop.start("claude"))
    asked = (page, page, laptop.daemon)
    answers = [send(daemon, agent, "Only once.", "the-one").json()["status"] for daemon in asked]
    assert answers == ["confirmed", "duplicate", "duplicate"]
    assert laptop.prompts() == ["Only once."]


def test_esc_is_pressed_where_the_agent_runs(laptop: Terminal, page: RunningDaemon) -> None:
    """Esc is pressed once, and the reply has the client's state."""
    pane = laptop.start("claude")
    laptop.agent_in(pane)
    laptop.keys(pane, "work", "Enter")
    agent = laptop.agent_in(pane, "working")
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(page.send, "POST", f"/api/agents/{agent['id']}/interrupt", {}, None, "act")
        wait_until(lambda: [note for note in laptop.notes() if "esc" in note], "an Esc")
        laptop.daemon.post("stop", {"session_id": agent["session_id"], "cwd": agent["cwd"]})
        answer = asked.result(60).json()
    assert (answer["status"], answer["state"], answer["agent"]) == ("confirmed", "idle", agent["name"])
    assert len([note for note in laptop.notes() if "esc" in note]) == 1


def test_a_refusal_of_the_agents_machine_is_returned(laptop: Terminal, page: RunningDaemon) -> None:
    """The reason comes from the agent's machine, and nothing is typed."""
    pane = laptop.start("claude")
    laptop.agent_in(pane)
    laptop.keys(pane, "ask", "Enter")
    agent = laptop.agent_in(pane, "waiting")
    replies = [send(daemon, agent, "Anything.") for daemon in (laptop.daemon, page)]
    assert [(reply.status, reply.error["code"]) for reply in replies] == [(409, "at_dialog")] * 2
    assert replies[0].error == replies[1].error
    assert laptop.prompts() == ["ask"]


def test_a_request_that_timed_out_is_never_executed(laptop: Terminal, page: RunningDaemon) -> None:
    """If the daemon hangs, the request is refused. When the daemon continues, it ignores the request."""
    agent = laptop.agent_in(laptop.start("claude"))
    os.kill(laptop.daemon.pid, signal.SIGSTOP)
    try:
        refused = send(page, agent, "Too late.")
    finally:
        os.kill(laptop.daemon.pid, signal.SIGCONT)
    assert (refused.status, refused.error["code"]) == (409, "host_away")
    assert "laptop" in refused.error["message"]
    assert send(page, agent, "In time.").json()["status"] == "confirmed"
    assert laptop.prompts() == ["In time."]
    assert [name for name, _ in names_of(page, agent)][:2] == ["ErrandAsked", "ErrandGivenUp"]


def test_a_restarted_daemon_executes_no_old_requests(laptop: Terminal, page: RunningDaemon, database: str) -> None:
    """Neither requests that timed out while it was down, nor requests that it already executed."""
    agent = laptop.agent_in(laptop.start("claude"))
    assert send(page, agent, "Before.").json()["status"] == "confirmed"
    laptop.daemon.kill()
    assert send(page, agent, "Meanwhile.").error["code"] == "host_away"
    with running_daemon(laptop.daemon.home, database=database, machine="laptop"):
        assert send(page, agent, "After.").json()["status"] == "confirmed"
        assert laptop.prompts() == ["Before.", "After."]
