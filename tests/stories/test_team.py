"""Several daemons on one PostgreSQL: none is special, all show the same, and what one of them suffers harms nobody."""

import os
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.postgres import Postgres
from tests.stories.crowd import crowd
from tests.stories.load import Ledger, Load, stored_marks
from tests.support import LIMIT_SECONDS, RunningDaemon, running_daemon, start_daemon, wait_until


@pytest.fixture
def database(postgres: Postgres) -> str:
    """A database for one test."""
    return postgres.database()


@contextmanager
def two_daemons(place: Path, database: str, **settings: object) -> Iterator[list[RunningDaemon]]:
    """Two machines, one database."""
    with (
        running_daemon(place / "one", database=database, machine="one", **settings) as one,
        running_daemon(place / "two", database=database, machine="two", **settings) as two,
    ):
        yield [one, two]


def test_a_thousand_agents_over_two_daemons(tmp_path: Path, database: str) -> None:
    """Events of one agent go to either daemon: every state is right, and both streams are the same, without a gap."""
    with two_daemons(tmp_path, database) as daemons:
        crowd(daemons, 1_000, database=database)


def test_fifty_starts_of_one_session_at_two_daemons_make_one_agent(tmp_path: Path, database: str) -> None:
    """Whoever comes first makes the agent; everybody else finds it, whichever daemon he asks."""
    with two_daemons(tmp_path, database) as daemons:
        together = threading.Barrier(50)

        def start(number: int) -> dict[str, Any]:
            with daemons[number % 2].client() as client:
                together.wait()
                reply = client.post("session-start", {"session_id": "one", "cwd": "/projects/one"})
                answer: dict[str, Any] = reply.json()
                return answer

        with ThreadPoolExecutor(50) as pool:
            answers = list(pool.map(start, range(50)))
        assert len({answer["agent_id"] for answer in answers}) == 1
        assert Counter(answer["correlation"] for answer in answers)["new"] == 1
        for daemon in daemons:
            assert len(daemon.agents()) == 1
            assert daemon.status["events_total"] == 50
            assert daemon.verified()


def test_a_delivery_counts_once_whoever_gets_it(tmp_path: Path, database: str) -> None:
    """Copies of one delivery that reach both daemons at once are one event."""
    with two_daemons(tmp_path, database) as daemons:
        together = threading.Barrier(16)

        def deliver(number: int) -> str:
            payload = {"session_id": "one", "cwd": "/projects/one", "prompt": "Once."}
            together.wait()
            reply = daemons[number % 2].post("user-prompt-submit", payload, {"X-Headspace-Delivery-Id": "the-one"})
            return str(reply.json()["status"])

        with ThreadPoolExecutor(16) as pool:
            answers = list(pool.map(deliver, range(16)))
        assert Counter(answers) == {"ok": 1, "duplicate": 15}
        assert daemons[0].status["events_total"] == 1


def test_what_one_daemon_does_the_other_knows(tmp_path: Path, database: str) -> None:
    """A name that one gave, a state that one saw: the other answers from the same truth, not from its memory."""
    with two_daemons(tmp_path, database) as (one, two):
        where = {"session_id": "one", "cwd": "/projects/one"}
        agent = one.post("session-start", where).json()["agent_id"]
        assert two.post("user-prompt-submit", {**where, "prompt": "Go."}).json()["state"] == "working"
        body = {"name": "pilot"}
        assert two.send("POST", f"/api/agents/{agent}/rename", body, scope="act").status == 200
        reply = one.post("stop", {**where, "last_assistant_message": "I did it."}).json()
        assert (reply["agent"], reply["state"], reply["correlation"]) == ("pilot", "idle", "database")
        assert one.post("stop", where).json()["correlation"] == "memory"
        taken = one.post("session-start", {"session_id": "two", "cwd": "/projects/two"}).json()["agent_id"]
        assert one.send("POST", f"/api/agents/{taken}/rename", body, scope="act").error["code"] == "name_taken"
        assert two.send("POST", "/api/admin/db/rebuild", scope="admin").json() == {"events": 6}
        assert one.post("user-prompt-submit", {**where, "prompt": "Again."}).json()["state"] == "working"
        assert one.verified()


def test_a_question_held_by_one_daemon_is_answered_through_the_other(tmp_path: Path, database: str) -> None:
    """Whoever takes the answer: it reaches the hook that is held open, where the client runs."""
    with (
        running_daemon(tmp_path / "one", database=database, machine="laptop") as one,
        running_daemon(tmp_path / "two", database=database, machine="page") as two,
        ThreadPoolExecutor(1) as client,
    ):
        where = {"session_id": "one", "cwd": "/projects/one"}
        call = {"tool_name": "Bash", "tool_input": {"command": "make"}}
        one.post("user-prompt-submit", {**where, "prompt": "Go."})
        one.post("pre-tool-use", {**where, **call, "tool_use_id": "t1"})
        shim = {**one.credentials("ingest"), "X-Headspace-Reply": "hook"}
        hook = client.submit(one.post, "permission-request", {**where, **call}, shim)
        held = wait_until(lambda: [wait for wait in two.get("/api/waits").json() if wait["held_until"]], "a held wait")
        answer = two.send("POST", f"/api/waits/{held[0]['id']}/answer", {"decision": "allow"}, scope="act")
        assert answer.status == 200, answer.body
        assert hook.result(60).json()["hookSpecificOutput"]["decision"] == {"behavior": "allow"}


# --- hosts ------------------------------------------------------------------------------------------------------------


def test_two_machines_with_the_same_path_pane_and_pid_are_two(tmp_path: Path, database: str) -> None:
    """What is the same by name only is never confused: each machine has its own agent."""
    with (
        running_daemon(tmp_path / "one", database=database, machine="laptop") as one,
        running_daemon(tmp_path / "two", database=database, machine="desktop") as two,
    ):
        told = {"cwd": "/projects/app", "tmux_pane": "%1", "client_pid": 4_194_000}
        first = one.post("session-start", {"session_id": "a", **told}).json()
        second = two.post("session-start", {"session_id": "b", **told}).json()
        assert (first["correlation"], second["correlation"]) == ("new", "new")
        assert first["agent_id"] != second["agent_id"]
        # The client is not there on either machine, and each daemon notices that of its own agent alone.
        wait_until(lambda: all(agent["state"] == "ended" for agent in one.agents()), "both clients to be missed")
        ends = [event for event in one.events() if event["name"] == "ClientVanished"]
        assert sorted((event["host"], event["agent_id"]) for event in ends) == [
            ("desktop", second["agent_id"]),
            ("laptop", first["agent_id"]),
        ]
        hosts = {agent["id"]: agent["host"] for agent in two.agents()}
        assert hosts == {first["agent_id"]: "laptop", second["agent_id"]: "desktop"}


def test_a_name_belongs_to_one_machine(tmp_path: Path, database: str) -> None:
    """A second daemon of the same name does not start, and says what to set; under another name it does."""
    with running_daemon(tmp_path / "one", database=database, machine="MacBook-Pro") as one:
        second = start_daemon(tmp_path / "two", database=database, machine="MacBook-Pro")
        assert second.process.wait(LIMIT_SECONDS) == 1
        said = second.output.read_text()
        assert "MacBook-Pro" in said
        assert "HEADSPACE_MACHINE" in said
        with running_daemon(tmp_path / "two", database=database, machine="desktop") as two:
            assert two.status["journal"]["status"] == one.status["journal"]["status"] == "ok"


def test_a_name_is_there_for_the_next_start(tmp_path: Path, postgres: Postgres, database: str) -> None:
    """After a kill, and while the server holds the connection of a machine that lost its power, for the same home."""
    with running_daemon(tmp_path, database=database, machine="laptop") as first:
        first.kill()
    with running_daemon(tmp_path, database=database, machine="laptop") as second:
        os.kill(second.pid, signal.SIGSTOP)  # nothing of it ends its connections
        (tmp_path / "run" / "daemon.lock").unlink(missing_ok=True)
        try:
            with running_daemon(tmp_path, database=database, machine="laptop") as third:
                assert third.post("session-start", {"session_id": "one", "cwd": "/projects/one"}).status == 200
        finally:
            second.kill()


def test_a_name_that_was_lost_is_waited_for(tmp_path: Path, postgres: Postgres, database: str) -> None:
    """While a machine was cut off another one took its name: its events wait, it says so, and goes on afterwards."""
    where = {"cwd": "/projects/app", "tmux_pane": "%1"}
    with running_daemon(tmp_path / "one", database=database, machine="laptop") as one:
        os.kill(one.pid, signal.SIGSTOP)
        postgres.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
        with running_daemon(tmp_path / "two", database=database, machine="laptop"):
            os.kill(one.pid, signal.SIGCONT)
            wait_until(lambda: "HEADSPACE_MACHINE" in _failing(one, "stream"), "a health that says so")
            assert one.post("session-start", {"session_id": "a", **where}).json()["status"] == "spooled"
            assert "laptop" in one.status["troubles"][-1]["reason"]
        wait_until(lambda: [agent["session_id"] for agent in one.agents()] == ["a"], "what waited")
        assert one.verified()


def _failing(daemon: RunningDaemon, name: str) -> str:
    part: dict[str, str] = daemon.get("/health").json()["parts"][name]
    return part["detail"] if part["status"] == "failing" else ""


# --- the stream -------------------------------------------------------------------------------------------------------


def test_a_reader_of_one_daemon_hears_what_the_other_does(tmp_path: Path, database: str) -> None:
    """An event sent to one daemon is on the stream of the other."""
    with two_daemons(tmp_path, database) as (one, two), two.stream() as stream:
        one.post("session-start", {"session_id": "one", "cwd": "/projects/one"})
        assert stream.until_type("agent_created").data["agent"]["session_id"] == "one"
        assert two.get("/health", scope=None).json()["parts"]["stream"]["status"] == "ok"


def test_a_lost_listener_misses_nothing(tmp_path: Path, postgres: Postgres, database: str) -> None:
    """The connection on which a daemon hears of others is cut: its readers still get everything, in order."""
    with two_daemons(tmp_path, database) as (one, two), two.stream() as stream:
        for number in range(20):
            if number % 5 == 2:
                cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
                postgres.execute(cut)
            reply = one.post("session-start", {"session_id": f"s{number}", "cwd": f"/projects/{number}"})
            assert reply.status == 200
        heard = [stream.until_type("agent_created").data["agent"]["session_id"] for _ in range(20)]
        assert heard == [f"s{number}" for number in range(20)]


# --- one of them dies -------------------------------------------------------------------------------------------------


def test_one_of_two_is_killed_under_load(tmp_path: Path, database: str) -> None:
    """What either acknowledged is stored, exactly once; the other goes on, with all agents and no gap in the stream."""
    with two_daemons(tmp_path, database) as (one, two), one.stream() as stream:
        load = Load([one, two])
        load.start()
        wait_until(load.is_under_way, "some acknowledged events")
        two.kill()
        before = len(load.acknowledged)
        wait_until(lambda: len(load.acknowledged) > before + 100, "the other daemon to go on")
        stopping = threading.Thread(target=one.stop)
        stopping.start()
        heard = [message.id for message in stream.rest()]
        stopping.join(60)
        load.join()
    ledger = Ledger()
    ledger.enter(load)
    ledger.check(stored_marks(tmp_path, database))
    with running_daemon(tmp_path / "two", database=database, machine="two") as again:
        assert again.verified()
        assert len(again.agents()) == 8
        with again.stream(last_event_id=0) as stream:
            stored = [stream.next().id for _ in heard]
    assert stored == heard
