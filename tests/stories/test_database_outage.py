"""A full disk or a locked database: hooks get replies, no event is lost, and the daemon recovers."""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stories.outage import all_stored, health, marks, prompt, store_first_prompt
from tests.support import RunningDaemon, environment, running_daemon, wait_until
from tests.support_hooks import Hooks

if sys.platform != "linux":
    pytest.skip("the limits that simulate a full disk can be set from outside only on Linux", allow_module_level=True)

import resource


@contextlib.contextmanager
def full_disk(daemon: RunningDaemon) -> Iterator[None]:
    """Limits the file size of the daemon to the size of its largest file."""
    largest = max(path.stat().st_size for path in daemon.home.iterdir() if path.is_file())
    before = resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (largest, before[1]))
    try:
        yield
    finally:
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_reported_and_recovered_from(tmp_path: Path) -> None:
    """Events that cannot be stored wait in the spool. Reads continue. With free space all events are stored."""
    with running_daemon(tmp_path) as daemon:
        statuses = [prompt(daemon, number).json()["status"] for number in range(10)]
        with full_disk(daemon):
            while statuses[-1] != "spooled" or len(statuses) < 30:
                statuses.append(prompt(daemon, len(statuses), "x" * 50_000).json()["status"])
                assert len(statuses) < 500
            assert health(daemon) == "degraded"
            assert len(daemon.agents()) == 1
            outage = daemon.status["troubles"][-1]
            assert outage["until"] is None
            assert "disk" in outage["reason"]
        wait_until(lambda: all_stored(daemon), "free space on the disk")
        statuses.append(prompt(daemon, len(statuses)).json()["status"])
        assert statuses[-1] == "ok"
        assert marks(daemon) == list(range(len(statuses)))
        outages = daemon.status["troubles"]
        assert all(outage["until"] for outage in outages)
        assert sum(outage["spooled"] for outage in outages) == statuses.count("spooled")
        assert daemon.verified()
        assert daemon.stop() == 0


@contextlib.contextmanager
def small_disk(directory: Path) -> Iterator[None]:
    """A file system of four megabytes."""
    directory.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(directory)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"needs permission to mount: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(directory)], check=True)


def test_a_disk_without_space_for_the_spool(tmp_path: Path) -> None:
    """A hook is refused with a hint. Every acknowledged event is stored exactly once afterwards."""
    home = tmp_path / "disk"
    with small_disk(home), running_daemon(home) as daemon:
        acknowledged, refused = [], 0
        for number in range(200):
            reply = prompt(daemon, number, "x" * 40_000)
            if reply.status == 200:
                acknowledged.append(number)
            else:
                assert (reply.status, reply.error["code"]) == (503, "nowhere_to_store")
                assert "disk space" in reply.error["hint"]
                refused += 1
        assert refused
        assert health(daemon) == "degraded"
        subprocess.run(["mount", "-o", "remount,size=64m", str(home)], check=True)
        wait_until(lambda: all_stored(daemon), "free space on the disk")
        assert marks(daemon) == acknowledged
        assert daemon.verified()
        assert daemon.stop() == 0


def fill(disk: Path) -> None:
    """Fill a disk."""
    with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass


def test_rules_apply_without_any_space_on_the_disk(tmp_path: Path) -> None:
    """A forbidden call is denied although its event cannot be stored. No partial files remain. Status reports it."""
    home = tmp_path / "disk"
    call = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "rm -rf /"}}
    with small_disk(home), running_daemon(home) as daemon:
        store_first_prompt(daemon)
        hooks = Hooks(home, config_dir=tmp_path / ".claude")
        fill(home)
        while prompt(daemon, 1, "x" * 40_000).status != 503:
            pass
        printed = json.loads(hooks.fire("PreToolUse", {"session_id": "one", "cwd": "/projects/one", **call}))
        assert printed["hookSpecificOutput"]["permissionDecision"] == "deny"
        assert hooks.fire("Stop", {"session_id": "one", "cwd": "/projects/one", "last_assistant_message": "x"}) == b""
        assert list((home / "spool").glob("*.json")) == []
        assert daemon.status["refused"]["nowhere_to_store"] >= 2
        output = hooks.headspace("status").stdout
        assert "lost" in output
        assert "neither the database nor the spool could be written" in output


def test_the_daemon_starts_with_a_read_only_database(tmp_path: Path) -> None:
    """The daemon starts, reports the problem, replies to hooks, and stores them when it can write again."""
    disk, home = tmp_path / "disk", tmp_path / "home"
    with small_disk(disk):
        database = f"sqlite:///{disk}/headspace.db"
        with running_daemon(home, database=database) as daemon:
            assert prompt(daemon, 0).json()["status"] == "ok"
            daemon.stop()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with running_daemon(home, database=database) as daemon:
            assert [prompt(daemon, number).json()["status"] for number in range(1, 6)] == ["spooled"] * 5
            assert health(daemon) == "degraded"
            assert "unable to open" in daemon.status["journal"]["detail"]
            assert daemon.get("/api/agents").error["code"] == "journal_unavailable"
            subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
            wait_until(lambda: all_stored(daemon), "the disk to be writable")
            assert prompt(daemon, 6).json()["status"] == "ok"
            assert marks(daemon) == list(range(7))
            assert daemon.verified()
            daemon.stop()


@contextlib.contextmanager
def busy_database(daemon: RunningDaemon) -> Iterator[None]:
    """Another program holds a write lock on the database."""
    other = sqlite3.connect(daemon.home / "headspace.db", isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")
    finally:
        other.close()


def test_the_daemon_waits_for_a_short_write_lock(tmp_path: Path) -> None:
    """Senders wait for a short time and are not refused. Other requests get replies during this time."""
    with running_daemon(tmp_path) as daemon:
        assert prompt(daemon, 0).status == 200
        replies: list[str] = []

        def send(number: int) -> None:
            replies.append(prompt(daemon, number).json()["status"])

        senders = [threading.Thread(target=send, args=(number,)) for number in range(1, 9)]
        with busy_database(daemon):
            for sender in senders:
                sender.start()
            assert daemon.get("/health", scope=None).status == 200
            assert len(daemon.agents()) == 1
            assert daemon.status["events_total"] == 1
        for sender in senders:
            sender.join(60)
        assert replies == ["ok"] * 8
        assert daemon.status["events_total"] == 9
        assert daemon.verified()


def test_a_long_write_lock_does_not_block_hooks(tmp_path: Path) -> None:
    """After a short time hooks are spooled. Later all events are stored in order."""
    with running_daemon(tmp_path, patience_seconds=0.3) as daemon:
        store_first_prompt(daemon)
        with busy_database(daemon):
            assert [prompt(daemon, number).json()["status"] for number in range(1, 30)] == ["spooled"] * 29
            wait_until(lambda: "locked" in daemon.status["journal"]["detail"], "the reason")
            assert health(daemon) == "degraded"
        wait_until(lambda: all_stored(daemon), "the other program to finish")
        assert marks(daemon) == list(range(30))
        assert sum(outage["spooled"] for outage in daemon.status["troubles"]) >= 29
        assert daemon.verified()


def test_a_moved_database_file_is_detected(tmp_path: Path) -> None:
    """Nothing is written to the moved file, and no new file is created. When it is back, the daemon continues."""
    database = tmp_path / "headspace.db"
    with running_daemon(tmp_path) as daemon:
        store_first_prompt(daemon)
        database.rename(tmp_path / "elsewhere.db")
        assert f"{database} was removed; put it back" in daemon.status["journal"]["detail"]
        assert [prompt(daemon, number).json()["status"] for number in (1, 2)] == ["spooled"] * 2
        assert health(daemon) == "degraded"
        assert f"{database} was removed; put it back" in daemon.status["journal"]["detail"]
        assert daemon.send("POST", "/api/admin/tokens", {"name": "ci", "scopes": ["read"]}, scope="admin").status == 503
        assert not database.exists()
        (tmp_path / "elsewhere.db").rename(database)
        wait_until(lambda: all_stored(daemon), "the file to be back")
        assert prompt(daemon, 3).json()["status"] == "ok"
        assert marks(daemon) == [0, 1, 2, 3]
        assert daemon.verified()
        daemon.stop()
    with running_daemon(tmp_path) as daemon:
        assert marks(daemon) == [0, 1, 2, 3]


def test_a_deleted_database_file_is_detected(tmp_path: Path) -> None:
    """The running daemon does not use a new file in its place. The next start stores the spooled events."""
    database = tmp_path / "headspace.db"
    with running_daemon(tmp_path) as daemon:
        store_first_prompt(daemon)
        database.unlink()
        assert prompt(daemon, 1).json()["status"] == "spooled"
        database.touch()
        wait_until(lambda: "was replaced" in daemon.status["journal"]["detail"], "the other file to be detected")
        assert prompt(daemon, 2).json()["status"] == "spooled"
        assert daemon.stop() == 0
        assert database.stat().st_size == 0
    with running_daemon(tmp_path) as daemon:
        wait_until(lambda: all_stored(daemon), "the spooled events to be stored")
        assert marks(daemon) == [1, 2]
        assert daemon.verified()


def test_rules_apply_without_the_database(tmp_path: Path) -> None:
    """A forbidden call is denied at once. Afterwards the log has the rule."""
    call = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "rm -rf /"}}
    with running_daemon(tmp_path, patience_seconds=0.3) as daemon:
        store_first_prompt(daemon)
        with busy_database(daemon):
            headers = {**daemon.credentials("ingest"), "X-Headspace-Reply": "hook"}
            where = {"session_id": "one", "cwd": "/projects/one", "mark": 1}
            reply = daemon.post("pre-tool-use", {**where, **call}, headers)
            assert reply.json()["hookSpecificOutput"]["permissionDecision"] == "deny"
            assert prompt(daemon, 2).json()["status"] == "spooled"
        wait_until(lambda: all_stored(daemon), "the other program to finish")
        assert marks(daemon) == [0, 1, 2]
        [verdict] = [event["verdict"] for event in daemon.events() if event["verdict"]]
        assert (verdict["ruling"], verdict["rule"], verdict.get("enforced", True)) == ("deny", "system-delete", True)
        assert daemon.verified()


def test_a_database_of_a_newer_headspace_is_left_alone(tmp_path: Path) -> None:
    """A daemon with an unknown schema reports it, guards tool calls, and does not change the file."""
    with running_daemon(tmp_path) as daemon:
        prompt(daemon, 0)
        daemon.stop()
    with contextlib.closing(sqlite3.connect(tmp_path / "headspace.db")) as database, database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    before = (tmp_path / "headspace.db").read_bytes()
    with running_daemon(tmp_path) as daemon:
        assert_guarded(daemon)
        assert "newer Headspace" in daemon.status["journal"]["detail"]
        assert "Upgrade" in daemon.status["journal"]["detail"]
    assert (tmp_path / "headspace.db").read_bytes() == before


def assert_guarded(daemon: RunningDaemon) -> None:
    """The daemon works without its database: it denies a forbidden call, keeps events, and says that it is degraded."""
    headers = {**daemon.credentials("ingest"), "X-Headspace-Reply": "hook"}
    call = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "rm -rf /"}}
    reply = daemon.post("pre-tool-use", {"session_id": "one", "cwd": "/projects/one", "mark": -1, **call}, headers)
    assert reply.json()["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert prompt(daemon, 5).json()["status"] == "spooled"
    assert health(daemon) == "degraded"


def test_a_file_that_is_not_a_database_is_left_alone(tmp_path: Path) -> None:
    """The daemon guards tool calls, says what to do, and uses the file as soon as a backup was restored."""
    with running_daemon(tmp_path) as daemon:
        store_first_prompt(daemon)
        daemon.stop()
    database = tmp_path / "headspace.db"
    database.rename(tmp_path / "backup.db")
    database.write_text(json.dumps({"not": "a database"}) * 100)
    before = database.read_bytes()
    with running_daemon(tmp_path) as daemon:
        assert_guarded(daemon)
        assert "not a database" in daemon.status["journal"]["detail"]
        command = [sys.executable, "-m", "claude_headspace", "status"]
        done = subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, check=True)
        assert "Restore a backup" in " ".join(done.stdout.split())
        assert database.read_bytes() == before
        (tmp_path / "backup.db").rename(database)
        wait_until(lambda: all_stored(daemon), "the restored database to be used")
        assert sorted(marks(daemon)) == [-1, 0, 5]
        assert daemon.verified()


def test_a_damaged_database_does_not_end_the_daemon(tmp_path: Path) -> None:
    """Pages in the middle of the file are overwritten: tool calls are guarded, and the daemon reports the damage."""
    with running_daemon(tmp_path) as daemon:
        for number in range(50):
            prompt(daemon, number, "x" * 2_000)
        daemon.stop()
    with (tmp_path / "headspace.db").open("r+b") as file:
        file.seek(8_192)
        file.write(os.urandom(400_000))
    with running_daemon(tmp_path) as daemon:
        assert_guarded(daemon)
        assert daemon.stop() == 0


def test_the_daemon_starts_on_a_full_disk(tmp_path: Path) -> None:
    """It is found, guards tool calls, and stores events as soon as there is space."""
    home = tmp_path / "disk"
    with small_disk(home):
        with running_daemon(home) as daemon:
            store_first_prompt(daemon)
            hooks = Hooks(home, config_dir=tmp_path / ".claude")
            daemon.stop()
        fill(home)
        with running_daemon(home) as daemon:
            wait_until((home / "address").exists, "the address for hook scripts")
            call = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "rm -rf /"}}
            printed = json.loads(hooks.fire("PreToolUse", {"session_id": "one", "cwd": "/projects/one", **call}))
            assert printed["hookSpecificOutput"]["permissionDecision"] == "deny"
            while prompt(daemon, 1, "x" * 40_000).status != 503:
                pass
            assert health(daemon) == "degraded"
            assert "disk" in daemon.status["journal"]["detail"]
            (home / "filler").unlink()
            wait_until(lambda: all_stored(daemon), "free space on the disk")
            assert daemon.verified()
