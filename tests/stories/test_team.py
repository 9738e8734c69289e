"""Several daemons on one PostgreSQL: all show the same, and a failure of one does not affect the others."""

import os
import shutil
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
from tests.stories.asking_client import AskingClient
from tests.stories.load import Ledger, Load, stored_marks
from tests.stories.many_agents import run_many_agents
from tests.support import LIMIT_SECONDS, RunningDaemon, running_daemon, start_daemon, wait_until


@pytest.fixture
def database(postgres: Postgres) -> str:
    """A database for one test."""
    return postgres.database()


@contextmanager
def two_daemons(directory: Path, database: str, **settings: object) -> Iterator[list[RunningDaemon]]:
    """Daemons of two machines on one database."""
    with (
        running_daemon(directory / "one", database=database, machine="one", **settings) as one,
        running_daemon(directory / "two", database=database, machine="two", **settings) as two,
    ):
        yield [one, two]


def test_a_thousand_agents_over_two_daemons(tmp_path: Path, database: str) -> None:
    """Events of one agent go to either daemon. Every state is right, and both streams are equal and complete."""
    with two_daemons(tmp_path, database) as daemons:
        run_many_agents(daemons, 1_000, database=database)


def test_fifty_starts_of_one_session_at_two_daemons_make_one_agent(tmp_path: Path, database: str) -> None:
    """The first request creates the agent. All others find it, at either daemon."""
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


def test_the_daemon_on_the_agents_machine_makes_the_diff(tmp_path: Path, database: str, client_pid: int) -> None:
    """The other daemon requests it. If that machine does not answer, the diff says so."""
    with two_daemons(tmp_path, database) as (one, two):
        home = tmp_path / "one"
        (home / "app.py").write_text("a = 1\nb = 2\n")
        asking = AskingClient(home, one, client_pid)
        edit = {"file_path": str(home / "app.py"), "old_string": "b = 2", "new_string": "b = 3"}
        hook = asking.ask(about={"tool_name": "Edit", "tool_input": edit})
        path = f"/api/waits/{asking.held()[0]['id']}"
        found = two.get(path).json()
        assert found["request"] == one.get(path).json()["request"]
        assert found["request"]["diff"] == "--- a/app.py\n+++ b/app.py\n@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3\n"
        again = two.get(path).json()["request"]
        assert again == found["request"]
        assert [event["name"] for event in two.get("/api/events").json()].count("ErrandDone") == 1
        one.kill()
        alone = two.get(f"{path}?all=true").json()["request"]
        assert alone["diff"].startswith("# file not readable: The daemon on one did not accept the request in time.")
        assert (alone["text"], "a = 1" in alone["diff"]) == ("Edit app.py", False)
        hook.communicate(timeout=LIMIT_SECONDS)


def test_a_delivery_to_both_daemons_counts_once(tmp_path: Path, database: str) -> None:
    """Copies of one delivery that reach both daemons at the same time are one event."""
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


def test_each_daemon_sees_the_changes_of_the_other(tmp_path: Path, database: str) -> None:
    """Names and states come from the database, not from a stale cache."""
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
    """The answer reaches the held hook on the client's machine."""
    with (
        running_daemon(tmp_path / "one", database=database, machine="laptop") as one,
        running_daemon(tmp_path / "two", database=database, machine="page") as two,
        ThreadPoolExecutor(1) as client,
    ):
        where = {"session_id": "one", "cwd": "/projects/one"}
        call = {"tool_name": "Bash", "tool_input": {"command": "make"}}
        one.post("user-prompt-submit", {**where, "prompt": "Go."})
        one.post("pre-tool-use", {**where, **call, "tool_use_id": "t1"})
        headers = {**one.credentials("ingest"), "X-Headspace-Reply": "hook"}
        hook = client.submit(one.post, "permission-request", {**where, **call}, headers)
        held = wait_until(lambda: [wait for wait in two.get("/api/waits").json() if wait["held_until"]], "a held wait")
        answer = two.send("POST", f"/api/waits/{held[0]['id']}/answer", {"decision": "allow"}, scope="act")
        assert answer.status == 200, answer.body
        assert hook.result(60).json()["hookSpecificOutput"]["decision"] == {"behavior": "allow"}


# --- hosts ------------------------------------------------------------------------------------------------------------


def test_the_same_path_pane_and_pid_on_two_machines_are_two_agents(tmp_path: Path, database: str) -> None:
    """Each machine has its own agent."""
    with (
        running_daemon(tmp_path / "one", database=database, machine="laptop") as one,
        running_daemon(tmp_path / "two", database=database, machine="desktop") as two,
    ):
        payload = {"cwd": "/projects/app", "tmux_pane": "%1", "client_pid": 4_194_000}
        first = one.post("session-start", {"session_id": "a", **payload}).json()
        second = two.post("session-start", {"session_id": "b", **payload}).json()
        assert (first["correlation"], second["correlation"]) == ("new", "new")
        assert first["agent_id"] != second["agent_id"]
        # The client does not run on either machine. Each daemon detects this only for its own agent.
        wait_until(lambda: all(agent["state"] == "ended" for agent in one.agents()), "both agents to end")
        ends = [event for event in one.events() if event["name"] == "ClientVanished"]
        assert sorted((event["host"], event["agent_id"]) for event in ends) == [
            ("desktop", second["agent_id"]),
            ("laptop", first["agent_id"]),
        ]
        hosts = {agent["id"]: agent["host"] for agent in two.agents()}
        assert hosts == {first["agent_id"]: "laptop", second["agent_id"]: "desktop"}


def test_a_name_belongs_to_one_machine(tmp_path: Path, database: str) -> None:
    """A second daemon with the same name exits and names the setting. With another name it starts."""
    with running_daemon(tmp_path / "one", database=database, machine="MacBook-Pro") as one:
        second = start_daemon(tmp_path / "two", database=database, machine="MacBook-Pro")
        assert second.process.wait(LIMIT_SECONDS) == 1
        output = second.output.read_text()
        assert "MacBook-Pro" in output
        assert "HEADSPACE_MACHINE" in output
        with running_daemon(tmp_path / "two", database=database, machine="desktop") as two:
            assert two.status["journal"]["status"] == one.status["journal"]["status"] == "ok"


def test_a_name_is_free_for_the_next_start(tmp_path: Path, postgres: Postgres, database: str) -> None:
    """The same home can start again after a kill, and while the server still has the connection of a hung daemon."""
    home, moved = tmp_path / "home", tmp_path / "moved"
    with running_daemon(home, database=database, machine="laptop") as first:
        first.kill()
    with running_daemon(home, database=database, machine="laptop") as second:
        os.kill(second.pid, signal.SIGSTOP)  # its connections stay open
        moved.mkdir()
        shutil.copy(home / "secret", moved / "secret")  # a home is known by its secret; its own directory is locked
        try:
            with running_daemon(moved, database=database, machine="laptop") as third:
                assert third.post("session-start", {"session_id": "one", "cwd": "/projects/one"}).status == 200
        finally:
            second.kill()


def test_a_daemon_waits_for_its_name_after_a_lost_connection(tmp_path: Path, postgres: Postgres, database: str) -> None:
    """Another machine took its name during the disconnect. Events are spooled, health reports it, and it recovers."""
    where = {"cwd": "/projects/app", "tmux_pane": "%1"}
    with running_daemon(tmp_path / "one", database=database, machine="laptop") as one:
        os.kill(one.pid, signal.SIGSTOP)
        postgres.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
        with running_daemon(tmp_path / "two", database=database, machine="laptop"):
            os.kill(one.pid, signal.SIGCONT)
            wait_until(lambda: "HEADSPACE_MACHINE" in _failing(one, "stream"), "the problem in health")
            assert one.post("session-start", {"session_id": "a", **where}).json()["status"] == "spooled"
            assert "laptop" in one.status["troubles"][-1]["reason"]
        wait_until(lambda: [agent["session_id"] for agent in one.agents()] == ["a"], "the spooled event")
        assert one.verified()


def _failing(daemon: RunningDaemon, name: str) -> str:
    part: dict[str, str] = daemon.get("/health").json()["parts"][name]
    return part["detail"] if part["status"] == "failing" else ""


# --- the stream -------------------------------------------------------------------------------------------------------


def test_a_reader_of_one_daemon_receives_the_events_of_the_other(tmp_path: Path, database: str) -> None:
    """An event sent to one daemon is on the stream of the other."""
    with two_daemons(tmp_path, database) as (one, two), two.stream() as stream:
        one.post("session-start", {"session_id": "one", "cwd": "/projects/one"})
        assert stream.until_type("agent_created").data["agent"]["session_id"] == "one"
        assert two.get("/health", scope=None).json()["parts"]["stream"]["status"] == "ok"


def test_a_lost_listener_misses_nothing(tmp_path: Path, postgres: Postgres, database: str) -> None:
    """The listening connection of a daemon is closed. Its readers still get all messages in order."""
    with two_daemons(tmp_path, database) as (one, two), two.stream() as stream:
        for number in range(20):
            if number % 5 == 2:
                cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
                postgres.execute(cut)
            reply = one.post("session-start", {"session_id": f"s{number}", "cwd": f"/projects/{number}"})
            assert reply.status == 200
        received = [stream.until_type("agent_created").data["agent"]["session_id"] for _ in range(20)]
        assert received == [f"s{number}" for number in range(20)]


# --- kill -------------------------------------------------------------------------------------------------------------


def test_one_of_two_is_killed_under_load(tmp_path: Path, database: str) -> None:
    """Every acknowledged event is stored exactly once. The other daemon has all agents and a stream without gaps."""
    with two_daemons(tmp_path, database) as (one, two), one.stream() as stream:
        load = Load([one, two])
        load.start()
        wait_until(load.is_under_way, "some acknowledged events")
        two.kill()
        before = len(load.acknowledged)
        wait_until(lambda: len(load.acknowledged) > before + 100, "the other daemon to continue")
        stopping = threading.Thread(target=one.stop)
        stopping.start()
        received = [message.id for message in stream.rest()]
        stopping.join(60)
        load.join()
    ledger = Ledger()
    ledger.add(load)
    ledger.check(stored_marks(tmp_path, database))
    with running_daemon(tmp_path / "two", database=database, machine="two") as again:
        assert again.verified()
        assert len(again.agents()) == 8
        with again.stream(last_event_id=0) as stream:
            stored = [stream.next().id for _ in received]
    assert stored == received
