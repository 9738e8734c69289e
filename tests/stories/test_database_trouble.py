"""The disk is full, or another program has the database: hooks are answered, nothing is lost, and it passes."""

import contextlib
import json
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stories.trouble import all_taken, begin, health, marks, prompt
from tests.support import RunningDaemon, running_daemon, wait_until
from tests.support_hooks import Hooks

if sys.platform != "linux":
    pytest.skip("a full disk is made by limits that only Linux sets from outside", allow_module_level=True)

import resource


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
    """What the database cannot take waits in the spool; reading goes on, and with room again everything is there."""
    with running_daemon(tmp_path) as daemon:
        statuses = [prompt(daemon, number).json()["status"] for number in range(10)]
        with full_disk(daemon):
            while statuses[-1] != "spooled" or len(statuses) < 30:
                statuses.append(prompt(daemon, len(statuses), "x" * 50_000).json()["status"])
                assert len(statuses) < 500
            assert health(daemon) == "degraded"
            assert len(daemon.agents()) == 1
            trouble = daemon.status["troubles"][-1]
            assert trouble["until"] is None
            assert "disk" in trouble["reason"]
        wait_until(lambda: all_taken(daemon), "room on the disk")
        statuses.append(prompt(daemon, len(statuses)).json()["status"])
        assert statuses[-1] == "ok"
        assert marks(daemon) == list(range(len(statuses)))
        troubles = daemon.status["troubles"]
        assert all(trouble["until"] for trouble in troubles)
        assert sum(trouble["spooled"] for trouble in troubles) == statuses.count("spooled")
        assert daemon.verified()
        assert daemon.stop() == 0


@contextlib.contextmanager
def small_disk(place: Path) -> Iterator[None]:
    """A file system of four megabytes."""
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(place)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"needs the right to mount: {mounted.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", str(place)], check=True)


def test_a_disk_without_room_for_the_spool_either(tmp_path: Path) -> None:
    """Then a hook is refused, with what to do; whatever was acknowledged is there afterwards, exactly once."""
    home = tmp_path / "disk"
    with small_disk(home), running_daemon(home) as daemon:
        acknowledged, refused = [], 0
        for number in range(200):
            reply = prompt(daemon, number, "x" * 40_000)
            if reply.status == 200:
                acknowledged.append(number)
            else:
                assert (reply.status, reply.error["code"]) == (503, "nowhere_to_store")
                assert "room on the disk" in reply.error["hint"]
                refused += 1
        assert refused
        assert health(daemon) == "degraded"
        subprocess.run(["mount", "-o", "remount,size=64m", str(home)], check=True)
        wait_until(lambda: all_taken(daemon), "room on the disk")
        assert marks(daemon) == acknowledged
        assert daemon.verified()
        assert daemon.stop() == 0


def fill(disk: Path) -> None:
    """Leave no room on a disk."""
    with contextlib.suppress(OSError), (disk / "filler").open("wb", buffering=0) as file:
        while file.write(b"x" * 4096):
            pass


def test_rules_hold_without_any_room_on_the_disk(tmp_path: Path) -> None:
    """A call that may not be is denied though its event can be kept nowhere; nothing half is left, and it is told."""
    home = tmp_path / "disk"
    call = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "rm -rf /"}}
    with small_disk(home), running_daemon(home) as daemon:
        begin(daemon)
        hooks = Hooks(home, config_dir=tmp_path / ".claude")
        fill(home)
        while prompt(daemon, 1, "x" * 40_000).status != 503:
            pass
        printed = json.loads(hooks.fire("PreToolUse", {"session_id": "one", "cwd": "/projects/one", **call}))
        assert printed["hookSpecificOutput"]["permissionDecision"] == "deny"
        assert hooks.fire("Stop", {"session_id": "one", "cwd": "/projects/one", "last_assistant_message": "x"}) == b""
        assert list((home / "spool").glob("*.json")) == []
        assert daemon.status["refused"]["nowhere_to_store"] >= 2
        told = hooks.headspace("status").stdout
        assert "lost" in told
        assert "neither the database nor the spool could be written" in told


def test_a_database_that_cannot_be_written_does_not_keep_the_daemon_from_starting(tmp_path: Path) -> None:
    """A read-only disk: the daemon comes up, says so, answers hooks, and takes them when it can write again."""
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
            wait_until(lambda: all_taken(daemon), "the disk to be writable")
            assert prompt(daemon, 6).json()["status"] == "ok"
            assert marks(daemon) == list(range(7))
            assert daemon.verified()
            daemon.stop()


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


def test_another_program_that_never_ends_is_not_felt(tmp_path: Path) -> None:
    """After a moment hooks are answered from the spool; then everything is there, in order."""
    with running_daemon(tmp_path, patience_seconds=0.3) as daemon:
        begin(daemon)
        with busy_database(daemon):
            assert [prompt(daemon, number).json()["status"] for number in range(1, 30)] == ["spooled"] * 29
            wait_until(lambda: "locked" in daemon.status["journal"]["detail"], "the reason")
            assert health(daemon) == "degraded"
        wait_until(lambda: all_taken(daemon), "the other program to be done")
        assert marks(daemon) == list(range(30))
        assert sum(trouble["spooled"] for trouble in daemon.status["troubles"]) >= 29
        assert daemon.verified()


def test_a_file_that_is_moved_away_is_missed(tmp_path: Path) -> None:
    """Nothing is written into a file that has no name any more, and no new one is made; back again, it goes on."""
    database = tmp_path / "headspace.db"
    with running_daemon(tmp_path) as daemon:
        begin(daemon)
        database.rename(tmp_path / "elsewhere.db")
        assert f"{database} was removed; put it back" in daemon.status["journal"]["detail"]
        assert [prompt(daemon, number).json()["status"] for number in (1, 2)] == ["spooled"] * 2
        assert health(daemon) == "degraded"
        assert f"{database} was removed; put it back" in daemon.status["journal"]["detail"]
        assert daemon.send("POST", "/api/admin/tokens", {"name": "ci", "scopes": ["read"]}, scope="admin").status == 503
        assert not database.exists()
        (tmp_path / "elsewhere.db").rename(database)
        wait_until(lambda: all_taken(daemon), "the file to be back")
        assert prompt(daemon, 3).json()["status"] == "ok"
        assert marks(daemon) == [0, 1, 2, 3]
        assert daemon.verified()
        daemon.stop()
    with running_daemon(tmp_path) as daemon:
        assert marks(daemon) == [0, 1, 2, 3]


def test_a_file_that_is_deleted_is_missed(tmp_path: Path) -> None:
    """Another one in its place is not taken for it while the daemon runs; the next start begins with what waited."""
    database = tmp_path / "headspace.db"
    with running_daemon(tmp_path) as daemon:
        begin(daemon)
        database.unlink()
        assert prompt(daemon, 1).json()["status"] == "spooled"
        database.touch()
        wait_until(lambda: "was replaced" in daemon.status["journal"]["detail"], "the other file to be noticed")
        assert prompt(daemon, 2).json()["status"] == "spooled"
        assert daemon.stop() == 0
        assert database.stat().st_size == 0
    with running_daemon(tmp_path) as daemon:
        wait_until(lambda: all_taken(daemon), "what waited to be taken")
        assert marks(daemon) == [1, 2]
        assert daemon.verified()


def test_rules_hold_without_the_database(tmp_path: Path) -> None:
    """A call that may not be is denied at once, and afterwards the log says by which rule, as of any other."""
    call = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "rm -rf /"}}
    with running_daemon(tmp_path, patience_seconds=0.3) as daemon:
        begin(daemon)
        with busy_database(daemon):
            shim = {**daemon.credentials("ingest"), "X-Headspace-Reply": "hook"}
            where = {"session_id": "one", "cwd": "/projects/one", "mark": 1}
            reply = daemon.post("pre-tool-use", {**where, **call}, shim)
            assert reply.json()["hookSpecificOutput"]["permissionDecision"] == "deny"
            assert prompt(daemon, 2).json()["status"] == "spooled"
        wait_until(lambda: all_taken(daemon), "the other program to be done")
        assert marks(daemon) == [0, 1, 2]
        [verdict] = [event["verdict"] for event in daemon.events() if event["verdict"]]
        assert (verdict["ruling"], verdict["rule"], verdict.get("enforced", True)) == ("deny", "system-delete", True)
        assert daemon.verified()


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
