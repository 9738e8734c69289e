"""Acts across machines: asked through any daemon, done by the one of the agent's machine, once, or not at all."""

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
    """The daemon of another machine than the agents'."""
    with running_daemon(tmp_path / "page", database=database, machine="page") as daemon:
        yield daemon


@pytest.fixture
def laptop(tmp_path: Path, database: str) -> Iterator[Terminal]:
    """The machine that the agents run on, with its daemon."""
    folder = tmp_path / "laptop"
    with running_daemon(folder / "home", database=database, machine="laptop") as daemon, terminal(folder, daemon) as it:
        yield it


def send(daemon: RunningDaemon, agent: dict[str, Any], text: str, sending: str = "") -> Reply:
    """Ask a daemon to type to an agent."""
    return daemon.send("POST", f"/api/agents/{agent['id']}/send", {"text": text, "id": sending}, scope="act")


def names_of(daemon: RunningDaemon, agent: dict[str, Any]) -> list[tuple[str, str]]:
    """The acts upon an agent in the log, each with the machine that did it."""
    told = daemon.get(f"/api/agents/{agent['id']}/events").json()
    return [(event["name"], event["host"]) for event in told if event["origin"] == "operator"]


def test_a_prompt_is_typed_where_the_agent_runs(laptop: Terminal, page: RunningDaemon) -> None:
    """Asked on another machine, it arrives once, is confirmed by the client, and the log says who did what."""
    agent = laptop.agent_in(laptop.start("claude"))
    done = run_in(laptop, "send", agent["name"], "Grüße;\n$(id)", HEADSPACE_HOME=str(page.home))
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{agent['name']} received the text.\n", "")
    assert laptop.prompts() == ["Grüße;\n$(id)"]
    assert names_of(page, agent) == [
        ("ErrandAsked", "page"),
        ("ErrandTaken", "laptop"),
        ("TextTyped", "laptop"),
        ("ErrandDone", "laptop"),
    ]
    assert page.verified()


def test_the_same_send_is_typed_once_whoever_is_asked(laptop: Terminal, page: RunningDaemon) -> None:
    """A sender who did not hear the answer may ask any daemon again, with the same id."""
    agent = laptop.agent_in(laptop.start("claude"))
    asked = (page, page, laptop.daemon)
    answers = [send(daemon, agent, "Only once.", "the-one").json()["status"] for daemon in asked]
    assert answers == ["confirmed", "duplicate", "duplicate"]
    assert laptop.prompts() == ["Only once."]


def test_esc_is_pressed_where_the_agent_runs(laptop: Terminal, page: RunningDaemon) -> None:
    """Once, and the answer is what the client shows."""
    pane = laptop.start("claude")
    laptop.agent_in(pane)
    laptop.keys(pane, "work", "Enter")
    agent = laptop.agent_in(pane, "working")
    with ThreadPoolExecutor(1) as someone:
        asked = someone.submit(page.send, "POST", f"/api/agents/{agent['id']}/interrupt", {}, None, "act")
        wait_until(lambda: [note for note in laptop.notes() if "esc" in note], "an Esc")
        laptop.daemon.post("stop", {"session_id": agent["session_id"], "cwd": agent["cwd"]})
        answer = asked.result(60).json()
    assert (answer["status"], answer["state"], answer["agent"]) == ("confirmed", "idle", agent["name"])
    assert len([note for note in laptop.notes() if "esc" in note]) == 1


def test_what_its_machine_refuses_is_refused_as_there(laptop: Terminal, page: RunningDaemon) -> None:
    """The reason is the one of the machine that knows, and nothing is typed."""
    pane = laptop.start("claude")
    laptop.agent_in(pane)
    laptop.keys(pane, "ask", "Enter")
    agent = laptop.agent_in(pane, "waiting")
    replies = [send(daemon, agent, "Anything.") for daemon in (laptop.daemon, page)]
    assert [(reply.status, reply.error["code"]) for reply in replies] == [(409, "at_dialog")] * 2
    assert replies[0].error == replies[1].error
    assert laptop.prompts() == ["ask"]


def test_what_was_given_up_is_never_done(laptop: Terminal, page: RunningDaemon) -> None:
    """Its daemon hangs: the asker is told so, and when it goes on and hears of it, it does nothing."""
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


def test_a_daemon_that_comes_back_does_nothing_that_is_over(
    laptop: Terminal, page: RunningDaemon, database: str
) -> None:
    """Neither what was given up while it was away, nor again what it did before."""
    agent = laptop.agent_in(laptop.start("claude"))
    assert send(page, agent, "Before.").json()["status"] == "confirmed"
    laptop.daemon.kill()
    assert send(page, agent, "Meanwhile.").error["code"] == "host_away"
    with running_daemon(laptop.daemon.home, database=database, machine="laptop"):
        assert send(page, agent, "After.").json()["status"] == "confirmed"
        assert laptop.prompts() == ["Before.", "After."]
