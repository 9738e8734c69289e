"""Stopped, killed and started again: what was acknowledged is there, once, and every agent is where it was."""

import contextlib
import http.client
import json
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from tests.support import Client, RunningDaemon, environment, running_daemon, wait_until

SENDERS = 8


class Load:
    """Senders that send whole turns until the daemon is gone, and remember what it acknowledged."""

    def __init__(self, daemon: RunningDaemon, round_number: int = 0) -> None:
        self._daemon = daemon
        self._round = round_number
        self._threads = [threading.Thread(target=self._send, args=(number,)) for number in range(SENDERS)]
        self.sent: list[str] = []
        self.acknowledged: list[str] = []
        self.states: dict[str, str] = {}
        self.strange: list[str] = []

    def start(self) -> None:
        """Begin to send."""
        for thread in self._threads:
            thread.start()

    def is_under_way(self) -> bool:
        """Whether enough was acknowledged; nothing may be refused before the daemon is ended."""
        assert self.strange == []
        assert all(thread.is_alive() for thread in self._threads)
        return len(self.acknowledged) > 200

    def join(self) -> None:
        """Wait until all senders have noticed that the daemon is gone."""
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive()

    def _send(self, number: int) -> None:
        session = f"round-{self._round}-sender-{number}"
        try:
            with self._daemon.client() as client:
                for turn in count():
                    self._one(client, session, turn, "user-prompt-submit", prompt=f"Do number {turn}.")
                    self._one(client, session, turn, "stop", last_assistant_message=f"I did number {turn}.")
        except (OSError, http.client.HTTPException):
            pass

    def _one(self, client: Client, session: str, turn: int, event: str, **fields: object) -> None:
        mark = f"{session} {turn} {event}"
        self.sent.append(mark)
        reply = client.post(event, {"session_id": session, "cwd": f"/projects/{session}", "mark": mark, **fields})
        if reply.status == 200:
            self.acknowledged.append(mark)
            self.states[session] = reply.json()["state"]
        else:
            self.strange.append(f"{reply.status} {reply.body!r}")
            raise OSError("refused: the daemon stops")


def stored_marks(home: Path) -> Counter[str]:
    """The marks in the log, read from the database itself while no daemon runs."""
    with sqlite3.connect(home / "headspace.db") as database:
        rows = database.execute("SELECT payload FROM events ORDER BY seq").fetchall()
    database.close()
    return Counter(json.loads(payload)["mark"] for (payload,) in rows)


def run_under_load(home: Path, end: Callable[[RunningDaemon], object], round_number: int = 0) -> Load:
    """Start a daemon, load it, end it in the middle."""
    with running_daemon(home) as daemon:
        load = Load(daemon, round_number)
        load.start()
        wait_until(load.is_under_way, "some acknowledged events")
        end(daemon)
        load.join()
    return load


# --- stopping ---------------------------------------------------------------------------------------------------------


def test_a_graceful_stop_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    """Requests in flight are finished or refused: what was acknowledged is stored, what was not is not."""
    codes: list[int] = []
    load = run_under_load(tmp_path, lambda daemon: codes.append(daemon.stop()))
    assert codes == [0]
    left = {path.name for path in tmp_path.iterdir()}
    assert "headspace.db" in left
    assert not {"headspace.db-wal", "headspace.db-shm"} & left
    assert not (tmp_path / "run" / "daemon.json").exists()
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


def kill_rounds(home: Path, rounds: int) -> None:
    """Kill the daemon under load, again and again, and compare what it acknowledged with what is there."""
    acknowledged: list[str] = []
    sent: list[str] = []
    for number in range(rounds):
        load = run_under_load(home, lambda daemon: daemon.kill(), number)
        acknowledged += load.acknowledged
        sent += load.sent
        stored = stored_marks(home)
        assert max(stored.values()) == 1, "nothing is stored twice"
        assert stored.keys() >= set(acknowledged), "nothing that was acknowledged is lost"
        assert stored.keys() <= set(sent), "nothing is stored that nobody sent"
        unanswered = {mark.split()[0] for mark in stored.keys() - set(acknowledged)}
        assert len(unanswered) == len(stored.keys() - set(acknowledged)), "one each was on its way when the daemon died"
        with running_daemon(home) as daemon:
            states = {agent["session_id"]: agent["state"] for agent in daemon.agents()}
            for session, state in load.states.items():
                assert states[session] == state or session in unanswered
            assert daemon.verified()


def test_a_killed_daemon_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    """Killed in the middle of its work, three times: acknowledged is stored, exactly once."""
    kill_rounds(tmp_path, 3)


@pytest.mark.full
def test_a_daemon_that_is_killed_all_day_loses_nothing(tmp_path: Path) -> None:
    """The same, thirty times on one home."""
    kill_rounds(tmp_path, 30)


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
