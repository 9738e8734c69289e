"""Stopped, killed and started again: what was acknowledged is there, once, and every agent is where it was."""

import contextlib
import json
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from tests.stories.load import Ledger, run_under_load, stored_marks
from tests.support import AWAY, RunningDaemon, environment, running_daemon, wait_until
from tests.support_hooks import Hooks

# --- stopping ---------------------------------------------------------------------------------------------------------


def test_a_graceful_stop_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    """Requests in flight are finished, kept for the next start, or refused: acknowledged is stored, exactly."""
    codes: list[int] = []
    load = run_under_load(tmp_path, lambda daemon: codes.append(daemon.stop()))
    assert codes == [0]
    left = {path.name for path in tmp_path.iterdir()}
    assert "headspace.db" in left
    assert not {"headspace.db-wal", "headspace.db-shm"} & left
    assert not (tmp_path / "run" / "daemon.json").exists()
    with running_daemon(tmp_path) as daemon:
        wait_until(lambda: daemon.status["spool"]["depth"] == 0, "what came last to be taken from the spool")
        daemon.stop()
    assert stored_marks(tmp_path) == Counter(load.acknowledged)
    assert all(refusal.startswith("503 ") for refusal in load.strange)


def test_a_stop_does_not_wait_for_readers_of_the_stream(tmp_path: Path) -> None:
    """Open streams hear what was acknowledged before the stop and are ended then: that is a clean stop too."""
    with running_daemon(tmp_path) as daemon, contextlib.ExitStack() as open_streams:
        streams = [open_streams.enter_context(daemon.stream()) for _ in range(3)]
        daemon.post("session-start", {"session_id": "one", "cwd": "/projects/one"})
        assert daemon.stop() == 0
        for stream in streams:
            assert [message.type for message in stream.rest()] == ["agent_created"]
    assert "Cancel" not in daemon.log


def test_a_stop_by_the_keyboard_is_graceful_too(tmp_path: Path) -> None:
    """Ctrl-C leaves nothing behind either, and no traceback."""
    with running_daemon(tmp_path) as daemon:
        daemon.post("session-start", {"session_id": "one", "cwd": "/projects/one", "mark": "x"})
        daemon.process.send_signal(2)
        daemon.process.wait(60)
        assert not (tmp_path / "run" / "daemon.json").exists()
        assert "Traceback" not in daemon.output.read_text()
    assert stored_marks(tmp_path) == {"x": 1}


# --- starting ---------------------------------------------------------------------------------------------------------


def test_a_second_start_points_to_the_first(tmp_path: Path) -> None:
    """Who starts a second daemon in one home is told where the first one is, and the first one goes on."""
    with running_daemon(tmp_path) as daemon:
        second = subprocess.run(
            [sys.executable, "-m", "claude_headspace", "serve"],
            env=environment(tmp_path),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert second.returncode not in (0, None)
        assert daemon.url in second.stderr
        assert str(daemon.pid) in second.stderr
        assert "Traceback" not in second.stderr
        assert second.stdout == ""
        assert daemon.get("/health", scope=None).status == 200
        assert json.loads((tmp_path / "run" / "daemon.json").read_bytes())["pid"] == daemon.pid


def test_a_taken_port_is_named(tmp_path: Path) -> None:
    """A daemon that cannot listen says on which address, and what to do."""
    with running_daemon(tmp_path / "first") as daemon:
        second = subprocess.run(
            [sys.executable, "-m", "claude_headspace", "serve"],
            env=environment(tmp_path / "second", port=daemon.port),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert second.returncode not in (0, None)
    assert f"127.0.0.1:{daemon.port}" in second.stderr
    assert "Traceback" not in second.stderr


def test_a_restart_shows_the_same_board(tmp_path: Path) -> None:
    """After a restart every agent is as it was before, and its session is found in the database."""
    with running_daemon(tmp_path) as daemon:
        daemon.post("user-prompt-submit", {"session_id": "one", "cwd": "/projects/one", "prompt": "Work."})
        asked = {"tool_name": "ExitPlanMode", "tool_input": {"plan": "1. Do it."}, "tool_use_id": "plan"}
        daemon.post("user-prompt-submit", {"session_id": "two", "cwd": "/projects/two", "prompt": "Plan."})
        daemon.post("pre-tool-use", {"session_id": "two", "cwd": "/projects/two", **asked})
        before, waits, last = daemon.agents(), daemon.get("/api/waits").json(), daemon.status["last_seq"]
        daemon.stop()
    with running_daemon(tmp_path) as daemon:
        assert daemon.agents() == before
        assert daemon.get("/api/waits").json() == waits
        assert daemon.status["last_seq"] == last
        assert daemon.status["events_total"] == 3
        reply = daemon.post("stop", {"session_id": "one", "cwd": "/projects/one"}).json()
        assert reply["correlation"] == "database"
        assert reply["agent_id"] in {agent["id"] for agent in before}
        assert daemon.verified()


# --- killing ----------------------------------------------------------------------------------------------------------


def kill_rounds(home: Path, rounds: int, database: str) -> None:
    """Kill the daemon under load, again and again, and compare what it acknowledged with what is there."""
    ledger, settings = Ledger(), {"database": database} if database else {}
    for number in range(rounds):
        load = run_under_load(home, lambda daemon: daemon.kill(), number, **settings)
        ledger.enter(load)
        unanswered = ledger.check(stored_marks(home, database))
        with running_daemon(home, **settings) as daemon:
            states = {agent["session_id"]: agent["state"] for agent in daemon.agents()}
            for session, state in load.states.items():
                assert states[session] == state or session in unanswered
            assert daemon.verified()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    """A database of each kind; empty means the one in the home."""
    return "" if request.param == "sqlite" else str(request.getfixturevalue("postgres").database())


def test_a_killed_daemon_loses_nothing_that_it_acknowledged(tmp_path: Path, database: str) -> None:
    """Killed in the middle of its work, ten times: acknowledged is stored, exactly once."""
    kill_rounds(tmp_path, 10, database)


@pytest.mark.full
def test_a_daemon_that_is_killed_all_day_loses_nothing(tmp_path: Path, database: str) -> None:
    """The same, a hundred times on one database."""
    kill_rounds(tmp_path, 100, database)


def test_the_file_of_a_killed_daemon_does_not_mislead(tmp_path: Path) -> None:
    """A killed daemon leaves its address behind; the next one starts all the same and tells its own."""
    with running_daemon(tmp_path) as daemon:
        daemon.kill()
        stale = json.loads((tmp_path / "run" / "daemon.json").read_bytes())
    with running_daemon(tmp_path) as again:
        assert again.pid != stale["pid"]
        assert again.get("/health", scope=None).status == 200


# --- deliveries -------------------------------------------------------------------------------------------------------


def deliver(daemon: RunningDaemon, delivery: str, prompt: str = "Once.") -> dict[str, str]:
    """Send a prompt under a delivery's id."""
    payload = {"session_id": "one", "cwd": "/projects/one", "prompt": prompt}
    reply = daemon.post("user-prompt-submit", payload, {"X-Headspace-Delivery-Id": delivery})
    assert reply.status == 200
    answer: dict[str, str] = reply.json()
    return answer


def test_the_same_delivery_twice_is_one_event(tmp_path: Path) -> None:
    """A sender that did not hear the answer sends again; it counts once, also after a restart and after a kill."""
    with running_daemon(tmp_path) as daemon:
        first, second = deliver(daemon, "delivery-1"), deliver(daemon, "delivery-1")
        assert (first["status"], second["status"]) == ("ok", "duplicate")
        assert first["agent_id"] == second["agent_id"]
        assert first["state"] == second["state"]
        daemon.stop()
    with running_daemon(tmp_path) as daemon:
        assert deliver(daemon, "delivery-1")["status"] == "duplicate"
        assert deliver(daemon, "delivery-2", "Another.")["status"] == "ok"
        daemon.kill()
    with running_daemon(tmp_path) as daemon:
        assert deliver(daemon, "delivery-1")["status"] == "duplicate"
        assert deliver(daemon, "delivery-2", "Another.")["status"] == "duplicate"
        assert daemon.status["events_total"] == 2
        assert [turn["text"] for turn in daemon.get(f"/api/agents/{first['agent_id']}/turns").json()] == [
            "Once.",
            "Another.",
        ]
        assert daemon.verified()


def test_one_delivery_sent_by_many_at_once_is_one_event(tmp_path: Path) -> None:
    """Copies that arrive together, even in one batch, are one event."""
    with running_daemon(tmp_path) as daemon:
        together = threading.Barrier(16)
        answers: list[str] = []

        def send() -> None:
            together.wait()
            answers.append(deliver(daemon, "delivery-1")["status"])

        threads = [threading.Thread(target=send) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert Counter(answers) == {"ok": 1, "duplicate": 15}
        assert daemon.status["events_total"] == 1


def test_events_of_before_and_after_a_kill_are_one_history(tmp_path: Path) -> None:
    """A reader of the stream that comes back after a kill goes on where it was."""
    with running_daemon(tmp_path) as daemon:
        with daemon.stream() as stream:
            daemon.post("session-start", {"session_id": "one", "cwd": "/projects/one"})
            seen = stream.until_type("agent_created")
        daemon.post("user-prompt-submit", {"session_id": "one", "cwd": "/projects/one", "prompt": "Work."})
        daemon.kill()
    with running_daemon(tmp_path) as daemon, daemon.stream(last_event_id=seen.id) as stream:
        assert stream.next().type == "state_changed"
        assert stream.next().type == "turn_created"
        daemon.post("stop", {"session_id": "one", "cwd": "/projects/one"})
        assert stream.until_type("state_changed").data["state"] == "idle"


def test_a_kill_is_told_afterwards(tmp_path: Path) -> None:
    """That the daemon did not end by itself, and what waited: while nobody runs, when one does, and after a restart."""
    hooks = Hooks(tmp_path)
    with running_daemon(tmp_path, policy_preset="off") as daemon:
        killed = daemon.pid
        daemon.kill()
    for _ in range(3):
        hooks.fire("SessionStart", {"session_id": "one", "cwd": "/projects/one"})
    told = hooks.headspace("status").stdout
    assert f"(pid {killed}) was killed or crashed" in told
    assert "3 events in the spool" in told
    for _ in range(2):
        with running_daemon(tmp_path) as daemon:
            [trouble] = daemon.status["troubles"]
            assert f"(pid {killed}) was killed or crashed" in trouble["reason"]
            assert (trouble["spooled"], bool(trouble["until"])) == (3, True)
            assert "3 events waited in the spool" in hooks.headspace("status").stdout
            assert daemon.stop() == 0
    assert daemon.log.count("previous_daemon_killed") == 1


def test_what_waits_for_the_database_is_counted_over_a_kill(tmp_path: Path) -> None:
    """Whoever put it into the spool, and before or after the kill: it is one trouble, and all of it waits."""
    hooks = Hooks(tmp_path)
    with running_daemon(tmp_path, policy_preset="off", database=AWAY) as daemon:
        daemon.post("session-start", {"session_id": "one", "cwd": "/projects/one"})
        hooks.fire("SessionStart", {"session_id": "one", "cwd": "/projects/one"})
        daemon.kill()
    with running_daemon(tmp_path, policy_preset="off", database=AWAY) as daemon:
        daemon.post("stop", {"session_id": "one", "cwd": "/projects/one"})
        killed, trouble = daemon.status["troubles"]
        assert (killed["spooled"], trouble["spooled"], trouble["until"]) == (0, 3, None)
    with running_daemon(tmp_path) as daemon:
        _, trouble = daemon.status["troubles"]
        assert trouble["until"]
        assert trouble["spooled"] == 3
