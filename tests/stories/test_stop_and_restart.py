"""Stop, kill and restart: every acknowledged event is stored once, and every agent keeps its state."""

import contextlib
import json
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import pytest

from tests.stories.load import Ledger, run_under_load, stored_marks
from tests.support import (
    AWAY,
    LIMIT_SECONDS,
    RunningDaemon,
    environment,
    running_daemon,
    start_daemon,
    wait_until,
)
from tests.support_hooks import Hooks
from tests.surfaces.cli.conftest import run_headspace

# --- stopping ---------------------------------------------------------------------------------------------------------


def test_a_graceful_stop_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    """Requests in flight are completed, spooled, or refused. Every acknowledged event is stored exactly once."""
    codes: list[int] = []
    load = run_under_load(tmp_path, lambda daemon: codes.append(daemon.stop()))
    assert codes == [0]
    left = {path.name for path in tmp_path.iterdir()}
    assert "headspace.db" in left
    assert not {"headspace.db-wal", "headspace.db-shm"} & left
    assert not (tmp_path / "run" / "daemon.json").exists()
    with running_daemon(tmp_path) as daemon:
        wait_until(lambda: daemon.status["spool"]["depth"] == 0, "the spool to be empty")
        daemon.stop()
    assert stored_marks(tmp_path) == Counter(load.acknowledged)
    assert all(refusal.startswith("503 ") for refusal in load.unexpected)


def test_a_stop_does_not_wait_for_readers_of_the_stream(tmp_path: Path) -> None:
    """Open streams receive all acknowledged events and then end. This is a clean stop."""
    with running_daemon(tmp_path) as daemon, contextlib.ExitStack() as open_streams:
        streams = [open_streams.enter_context(daemon.stream()) for _ in range(3)]
        daemon.post("session-start", {"session_id": "one", "cwd": "/projects/one"})
        assert daemon.stop() == 0
        for stream in streams:
            assert [message.type for message in stream.rest()] == ["agent_created"]
    assert "Cancel" not in daemon.log


def test_ctrl_c_stops_gracefully(tmp_path: Path) -> None:
    """Ctrl-C leaves no files behind and prints no traceback."""
    with running_daemon(tmp_path) as daemon:
        daemon.post("session-start", {"session_id": "one", "cwd": "/projects/one", "mark": "x"})
        daemon.process.send_signal(2)
        daemon.process.wait(60)
        assert not (tmp_path / "run" / "daemon.json").exists()
        assert "Traceback" not in daemon.output.read_text()
    assert stored_marks(tmp_path) == {"x": 1}


# --- starting ---------------------------------------------------------------------------------------------------------


def test_a_second_start_points_to_the_first(tmp_path: Path) -> None:
    """A second daemon in the same home exits with the address of the first, which continues."""
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


def test_a_removed_lock_file_allows_no_second_daemon(tmp_path: Path) -> None:
    """The second one ends with the same error as always, and the first one is still found and answers."""
    with running_daemon(tmp_path) as first:
        (tmp_path / "run" / "daemon.lock").unlink()
        second = start_daemon(tmp_path)
        assert second.process.wait(LIMIT_SECONDS) == 1
        assert "already running" in second.output.read_text()
        assert first.get("/health").status == 200
        command = [sys.executable, "-m", "claude_headspace", "status", "--json"]
        done = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, check=True)
        assert json.loads(done.stdout)["pid"] == first.pid


def test_a_port_in_use_is_reported(tmp_path: Path) -> None:
    """A daemon that cannot listen reports the address and a remedy."""
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
    """After a restart every agent is unchanged, and its session is found in the database."""
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
    """Kill the daemon under load several times, and compare acknowledged with stored events."""
    ledger, settings = Ledger(), {"database": database} if database else {}
    for number in range(rounds):
        load = run_under_load(home, lambda daemon: daemon.kill(), number, **settings)
        ledger.add(load)
        unanswered = ledger.check(stored_marks(home, database))
        with running_daemon(home, **settings) as daemon:
            states = {agent["session_id"]: agent["state"] for agent in daemon.agents()}
            for session, state in load.states.items():
                assert states[session] == state or session in unanswered
            assert daemon.verified()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> str:
    """A database of each kind. Empty means SQLite in the home."""
    return "" if request.param == "sqlite" else str(request.getfixturevalue("postgres").database())


def test_a_killed_daemon_loses_no_acknowledged_event(tmp_path: Path, database: str) -> None:
    """After ten kills under load, every acknowledged event is stored exactly once."""
    kill_rounds(tmp_path, 10, database)


@pytest.mark.full
def test_a_daemon_that_is_killed_many_times_loses_nothing(tmp_path: Path, database: str) -> None:
    """The same with a hundred kills on one database."""
    kill_rounds(tmp_path, 100, database)


def test_the_file_of_a_killed_daemon_does_not_mislead(tmp_path: Path) -> None:
    """A killed daemon leaves its address file behind. The next one starts and replaces it."""
    with running_daemon(tmp_path) as daemon:
        daemon.kill()
        stale = json.loads((tmp_path / "run" / "daemon.json").read_bytes())
    with running_daemon(tmp_path) as again:
        assert again.pid != stale["pid"]
        assert again.get("/health", scope=None).status == 200


# --- deliveries -------------------------------------------------------------------------------------------------------


def deliver(daemon: RunningDaemon, delivery: str, prompt: str = "Once.") -> dict[str, str]:
    """Send a prompt with a delivery id."""
    payload = {"session_id": "one", "cwd": "/projects/one", "prompt": prompt}
    reply = daemon.post("user-prompt-submit", payload, {"X-Headspace-Delivery-Id": delivery})
    assert reply.status == 200
    answer: dict[str, str] = reply.json()
    return answer


def test_the_same_delivery_twice_is_one_event(tmp_path: Path) -> None:
    """A sender that got no reply sends again. It counts once, also after a restart and after a kill."""
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


def test_simultaneous_copies_of_one_delivery_are_one_event(tmp_path: Path) -> None:
    """Copies that arrive at the same time, even in one batch, are one event."""
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


def test_the_stream_continues_after_a_kill(tmp_path: Path) -> None:
    """A reader that reconnects after a kill continues with the next message."""
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


def test_a_kill_is_reported_afterwards(tmp_path: Path) -> None:
    """Status reports the kill and the spooled events: without a daemon, with the next one, and after a restart."""
    hooks = Hooks(tmp_path)
    with running_daemon(tmp_path, policy_preset="off") as daemon:
        killed = daemon.pid
        daemon.kill()
    for _ in range(3):
        hooks.fire("SessionStart", {"session_id": "one", "cwd": "/projects/one"})
    done = run_headspace(tmp_path, "status")
    assert done.returncode == 3
    output = done.stdout
    assert f"(pid {killed}) was killed or crashed" in output
    assert "3 events in the spool" in output
    for _ in range(2):
        with running_daemon(tmp_path) as daemon:
            [outage] = daemon.status["troubles"]
            assert f"(pid {killed}) was killed or crashed" in outage["reason"]
            assert (outage["spooled"], bool(outage["until"])) == (3, True)
            assert "3 events waited in the spool" in hooks.headspace("status").stdout
            assert daemon.stop() == 0
    assert daemon.log.count("previous_daemon_killed") == 1


def test_spooled_events_of_an_outage_are_counted_across_a_kill(tmp_path: Path) -> None:
    """Events from the daemon and the script, before and after the kill, belong to one outage."""
    hooks = Hooks(tmp_path)
    with running_daemon(tmp_path, policy_preset="off", database=AWAY) as daemon:
        daemon.post("session-start", {"session_id": "one", "cwd": "/projects/one"})
        hooks.fire("SessionStart", {"session_id": "one", "cwd": "/projects/one"})
        daemon.kill()
    with running_daemon(tmp_path, policy_preset="off", database=AWAY) as daemon:
        daemon.post("stop", {"session_id": "one", "cwd": "/projects/one"})
        killed, outage = daemon.status["troubles"]
        assert (killed["spooled"], outage["spooled"], outage["until"]) == (0, 3, None)
    with running_daemon(tmp_path) as daemon:
        _, outage = daemon.status["troubles"]
        assert outage["until"]
        assert outage["spooled"] == 3
