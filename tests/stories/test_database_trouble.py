"""The disk is full, or another program has the database: senders are told, nothing is half stored, and it passes."""

import contextlib
import json
import sqlite3
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import Reply, RunningDaemon, running_daemon, wait_until

if sys.platform != "linux":
    pytest.skip("a full disk is made by limits that only Linux sets from outside", allow_module_level=True)

import resource


def prompt(daemon: RunningDaemon, number: int, text: str = "") -> Reply:
    """Send a prompt that can be recognised."""
    payload = {"session_id": "one", "cwd": "/projects/one", "prompt": f"{number} {text}", "mark": number}
    return daemon.post("user-prompt-submit", payload)


def health(daemon: RunningDaemon) -> str:
    """How the daemon says it is."""
    return str(daemon.get("/health", scope=None).json()["status"])


@contextlib.contextmanager
def full_disk(daemon: RunningDaemon) -> Iterator[None]:
    """No file of the daemon grows beyond the size of its largest one."""
    largest = max(path.stat().st_size for path in daemon.home.iterdir() if path.is_file())
    before = resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (largest, before[1]))
    try:
        yield
    finally:
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_told_and_passes(tmp_path: Path) -> None:
    """What cannot be stored is refused with what to do; reading goes on, and with room again so does everything."""
    with running_daemon(tmp_path) as daemon:
        acknowledged = [number for number in range(10) if prompt(daemon, number).status == 200]
        with full_disk(daemon):
            for number in range(10, 500):
                reply = prompt(daemon, number, "x" * 50_000)
                if reply.status != 200:
                    break
                acknowledged.append(number)
            assert reply.status == 503
            assert reply.error["code"] == "journal_unavailable"
            assert "disk" in reply.error["hint"]
            assert health(daemon) == "degraded"
            assert len(daemon.agents()) == 1
            assert daemon.alive
        wait_until(lambda: prompt(daemon, 1_000).status == 200, "room on the disk")
        assert health(daemon) == "ok"
        stored = [event["payload"]["mark"] for event in daemon.events()]
        assert stored == [*acknowledged, 1_000]
        assert daemon.verified()
        assert daemon.stop() == 0


@contextlib.contextmanager
def busy_database(daemon: RunningDaemon) -> Iterator[None]:
    """Another program writes to the database and takes its time."""
    other = sqlite3.connect(daemon.home / "headspace.db", isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
    finally:
        other.close()


def test_another_program_that_writes_is_waited_for(tmp_path: Path) -> None:
    """Senders wait for a moment instead of being refused; everybody else is answered meanwhile."""
    with running_daemon(tmp_path) as daemon:
        assert prompt(daemon, 0).status == 200
        replies: list[int] = []

        def send(number: int) -> None:
            replies.append(prompt(daemon, number).status)

        senders = [threading.Thread(target=send, args=(number,)) for number in range(1, 9)]
        with busy_database(daemon):
            for sender in senders:
                sender.start()
            assert daemon.get("/health", scope=None).status == 200
            assert len(daemon.agents()) == 1
            assert daemon.status["events_total"] == 1
        for sender in senders:
            sender.join(60)
        assert replies == [200] * 8
        assert daemon.status["events_total"] == 9
        assert daemon.verified()


@pytest.mark.full
def test_another_program_that_never_ends_is_told(tmp_path: Path) -> None:
    """Who waits too long is refused, and when the other program is done everything works again."""
    with running_daemon(tmp_path) as daemon:
        assert prompt(daemon, 0).status == 200
        with busy_database(daemon):
            reply = prompt(daemon, 1)
            assert (reply.status, reply.error["code"]) == (503, "journal_unavailable")
            assert health(daemon) == "degraded"
        assert prompt(daemon, 2).status == 200
        assert health(daemon) == "ok"
        assert [event["payload"]["mark"] for event in daemon.events()] == [0, 2]


def test_a_database_of_a_newer_headspace_is_left_alone(tmp_path: Path) -> None:
    """A daemon that does not know the schema says so, and does not touch the file."""
    with running_daemon(tmp_path) as daemon:
        prompt(daemon, 0)
        daemon.stop()
    with contextlib.closing(sqlite3.connect(tmp_path / "headspace.db")) as database, database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    before = (tmp_path / "headspace.db").read_bytes()
    with pytest.raises(AssertionError, match="newer Headspace"), running_daemon(tmp_path):
        pass
    assert (tmp_path / "headspace.db").read_bytes() == before
    assert not (tmp_path / "run" / "daemon.json").exists()


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    """A daemon does not overwrite what it does not understand."""
    (tmp_path / "headspace.db").write_text(json.dumps({"not": "a database"}) * 100)
    before = (tmp_path / "headspace.db").read_bytes()
    with pytest.raises(AssertionError) as caught, running_daemon(tmp_path):
        pass
    assert "Traceback" not in str(caught.value)
    assert (tmp_path / "headspace.db").read_bytes() == before
