"""The commands `status`, `down` and `config`."""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from claude_headspace.config import Settings, find_paths
from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.launch.background_daemon import wait_until_stopped
from tests.support import AWAY, RunningDaemon, running_daemon, wait_until
from tests.surfaces.cli.conftest import Headspace, run_headspace

PROMISED = {"running", "url", "pid", "version", "mode"}


@contextmanager
def locked_home(home: Path) -> Iterator[None]:
    """A home whose lock is held by a daemon that does not answer."""
    (home / "run").mkdir(parents=True, exist_ok=True)
    with (home / "run" / "daemon.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def write_daemon_file(home: Path, url: str, pid: int) -> None:
    """Write the file with the address of a daemon."""
    (home / "run").mkdir(parents=True, exist_ok=True)
    content = {"url": url, "pid": pid, "version": "0", "started_at": "2026-01-01T00:00:00+00:00"}
    (home / "run" / "daemon.json").write_text(json.dumps(content))


@pytest.fixture
def other_process() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that does not belong to Headspace."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        yield process
        process.kill()


def test_status(headspace: Headspace, board: tuple[RunningDaemon, dict[str, str]]) -> None:
    """Shows the address, received events, agents by state and components."""
    daemon, _ = board
    done = headspace("status")
    assert (done.returncode, done.stderr) == (0, "")
    first, *others = done.stdout.splitlines()
    assert first == f"Headspace is running at {daemon.url}"
    fields = {line.split()[0]: line for line in others}
    assert f"pid {daemon.pid}" in fields["process"]
    assert "15 in total, 15 since the start" in fields["events"]
    assert "events arrive, although no hooks are installed" in fields["hooks"]
    assert "hooks active; sessions are also checked every 1 min" in fields["mode"]
    assert "◆ 1 waiting · ✕ 1 error · ● 2 working · ○ 1 idle" in fields["agents"]
    assert "empty" in fields["spool"]
    assert all("ok" in fields[part] for part in ("event", "session", "stream"))


def test_status_in_json(headspace: Headspace, board: tuple[RunningDaemon, dict[str, str]]) -> None:
    """The status of the receiver and the health of components."""
    daemon, _ = board
    report = json.loads(headspace("status", "--json").stdout)
    assert (report["running"], report["url"], report["pid"]) == (True, daemon.url, daemon.pid)
    assert report["mode"] == "hooks_active"
    assert report["events_total"] == 15
    assert report["health"]["status"] == "ok"
    assert report.keys() >= PROMISED


def test_status_without_a_daemon(tmp_path: Path) -> None:
    """Scripts see it by the exit code, and in JSON."""
    done = run_headspace(tmp_path, "status")
    assert (done.returncode, done.stdout) == (3, "Headspace is not running.\nheadspace up starts it.\n")
    report = json.loads(run_headspace(tmp_path, "status", "--json").stdout)
    assert report.keys() >= PROMISED
    assert [value for value in report.values() if value is not None] == [False]


def test_status_of_a_daemon_that_does_not_answer(tmp_path: Path) -> None:
    """It holds the lock, so it counts as running; the error is shown."""
    write_daemon_file(tmp_path, "http://127.0.0.1:1", 4242)
    with locked_home(tmp_path):
        done = run_headspace(tmp_path, "status")
        report = json.loads(run_headspace(tmp_path, "status", "--json").stdout)
    assert done.returncode == 3
    assert "Headspace does not answer at http://127.0.0.1:1" in done.stdout
    assert (report["running"], report["pid"], report["mode"]) == (True, 4242, None)


def test_status_without_a_database(tmp_path: Path) -> None:
    """Values from the database are null, and `tail` gives the reason."""
    with running_daemon(tmp_path, database=AWAY) as daemon:
        daemon.post("session-start", {"session_id": "one", "cwd": "/tmp"})
        report = json.loads(run_headspace(tmp_path, "status", "--json").stdout)
        assert {report[name] for name in ("events_total", "agents", "anomalies", "last_seq")} == {None}
        assert {part["status"] for part in report["sources"].values()} == {"waiting"}
        assert 'headspace_agents{state="idle"} NaN' in daemon.get("/metrics").body.decode()
        assert "The database is unavailable." in run_headspace(tmp_path, "tail").stderr


def test_down_stops_the_daemon_and_waits(daemon: RunningDaemon) -> None:
    """The daemon has ended and removed its files."""
    done = run_headspace(daemon.home, "down")
    assert (done.returncode, done.stdout) == (0, f"Headspace has stopped (pid {daemon.pid}).\n")
    assert not (daemon.home / "run" / "daemon.json").exists()
    assert daemon.process.wait(10) == 0
    again = run_headspace(daemon.home, "down")
    assert (again.returncode, again.stdout) == (0, "Headspace is not running.\n")


def test_down_after_a_crash_ends_no_other_process(tmp_path: Path, other_process: "subprocess.Popen[bytes]") -> None:
    """The pid in an old file may belong to another process."""
    write_daemon_file(tmp_path, "http://127.0.0.1:1", other_process.pid)
    (tmp_path / "run" / "daemon.lock").touch()
    done = run_headspace(tmp_path, "down")
    assert (done.returncode, done.stdout) == (0, "Headspace is not running.\n")
    assert other_process.poll() is None


def test_a_new_daemon_replaces_the_file_of_a_killed_one(daemon: RunningDaemon) -> None:
    """It is found at its own address."""
    daemon.kill()
    assert (daemon.home / "run" / "daemon.json").exists()
    assert json.loads(run_headspace(daemon.home, "status", "--json").stdout)["running"] is False


def test_a_starting_daemon(tmp_path: Path) -> None:
    """It holds the lock and has no address yet. Commands suggest to try again."""
    with locked_home(tmp_path):
        listed, ended = run_headspace(tmp_path, "list"), run_headspace(tmp_path, "down")
    assert (listed.returncode, listed.stderr) == (3, "Headspace is starting.\nTry again in a few seconds.\n")
    assert (ended.returncode, ended.stderr) == (1, "Headspace is starting.\nTry again in a few seconds.\n")


def test_a_daemon_that_does_not_stop_is_an_error(tmp_path: Path) -> None:
    """The error after the limit says how to end it."""
    paths = find_paths({"HEADSPACE_HOME": str(tmp_path)})
    with locked_home(tmp_path), pytest.raises(HeadspaceError) as raised:
        wait_until_stopped(paths, 4242, limit=0.1)
    assert raised.value.code == "does_not_stop"
    assert "kill -9 4242" in raised.value.hint


def test_down_waits_for_a_slow_daemon(tmp_path: Path) -> None:
    """Up to the limit."""
    program = (
        "import fcntl, signal, sys, time\n"
        "lock = open(sys.argv[1], 'w'); fcntl.flock(lock, fcntl.LOCK_EX)\n"
        "signal.signal(signal.SIGTERM, lambda *_: (time.sleep(1), sys.exit()))\n"
        "print('ready', flush=True)\n"
        "signal.pause()\n"
    )
    (tmp_path / "run").mkdir()
    lock = tmp_path / "run" / "daemon.lock"
    with subprocess.Popen([sys.executable, "-c", program, str(lock)], stdout=subprocess.PIPE) as slow:
        try:
            assert slow.stdout is not None
            slow.stdout.readline()
            write_daemon_file(tmp_path, "http://127.0.0.1:1", slow.pid)
            began = time.monotonic()
            done = run_headspace(tmp_path, "down")
            assert (done.returncode, time.monotonic() - began > 1) == (0, True)
            wait_until(lambda: slow.poll() is not None, "its end")
        finally:
            if slow.poll() is None:
                os.kill(slow.pid, signal.SIGKILL)


# --- config ---


def test_every_setting_is_described(tmp_path: Path) -> None:
    """With its value, its source and its description; then the file locations."""
    (tmp_path / "config.toml").write_text('machine = "laptop"\n')
    done = run_headspace(tmp_path, "config", HEADSPACE_POLLING_SECONDS="30")
    assert (done.returncode, done.stderr) == (0, "")
    for name in Settings.__struct_fields__:
        assert f"\n{name} = " in f"\n{done.stdout}"
    assert f'machine = "laptop"  from {tmp_path / "config.toml"}\n' in done.stdout
    assert "polling_seconds = 30.0  from environment\n" in done.stdout
    assert 'host = "127.0.0.1"\n    Address to listen on.' in done.stdout
    assert str(tmp_path / "headspace.db") in done.stdout


def test_config_in_json(tmp_path: Path) -> None:
    """Value, default, origin and description by name, and the file locations."""
    result = json.loads(run_headspace(tmp_path, "config", "--json").stdout)
    assert set(result["settings"]) == set(Settings.__struct_fields__)
    assert result["settings"]["port"] == {
        "value": 0,
        "default": 5055,
        "origin": "environment",
        "description": "Port to listen on; 0 chooses a free port.",
    }
    assert result["places"]["log"] == str(tmp_path / "headspace.log")


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_a_password_is_never_shown(tmp_path: Path, as_json: list[str]) -> None:
    """The address of the database is shown without its password."""
    done = run_headspace(tmp_path, "config", *as_json, HEADSPACE_DATABASE="postgresql://me:sesame@db/headspace")
    assert "postgresql://me@db/headspace" in done.stdout
    assert "sesame" not in done.stdout


def test_a_setting_is_changed_in_its_file(tmp_path: Path) -> None:
    """The value is validated and stored, the rest of the file stays, and the output says when it applies."""
    file = tmp_path / "config.toml"
    file.write_text("# mine\nport = 5055  # the default\n\n[policy]\npreset = 'watch'\n")
    done = run_headspace(tmp_path, "config", "set", "log_level", "debug", HEADSPACE_PORT="")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Set `log_level` in {file}." in done.stdout
    assert "`headspace down` and `headspace up`" in done.stdout
    assert file.read_text() == (
        "# mine\nport = 5055  # the default\nlog_level = \"debug\"\n\n[policy]\npreset = 'watch'\n"
    )
    assert 'log_level = "debug"  from' in run_headspace(tmp_path, "config").stdout


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [("port", "many", "`port` must be an integer"), ("colour", "red", "There is no setting `colour`.")],
)
def test_an_invalid_value_is_not_stored(tmp_path: Path, name: str, value: str, problem: str) -> None:
    """The reason is printed, and no file is written."""
    done = run_headspace(tmp_path, "config", "set", name, value)
    assert (done.returncode, done.stdout) == (1, "")
    assert problem in done.stderr
    assert not (tmp_path / "config.toml").exists()


def test_agents_do_not_change_settings(tmp_path: Path) -> None:
    """They could turn the guard off."""
    done = run_headspace(tmp_path, "config", "set", "policy_preset", "off", CLAUDECODE="1")
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, "Agents cannot change settings.")


def test_an_invalid_setting_is_named(tmp_path: Path) -> None:
    """With its source and a hint, by every command."""
    (tmp_path / "config.toml").write_text("port = 70000\n")
    for command in ("config", "serve"):
        done = run_headspace(tmp_path, command)
        assert done.returncode == 1
        assert str(tmp_path / "config.toml") in done.stderr
        assert "docs/configuration.md lists all settings" in done.stderr


def test_files_are_in_directories_of_the_user(tmp_path: Path) -> None:
    """Without HEADSPACE_HOME and XDG_RUNTIME_DIR nothing is in /tmp."""
    variables = {"HOME": str(tmp_path), "HEADSPACE_HOME": ""}
    done = run_headspace(tmp_path, "config", "--json", **variables)
    assert done.stderr == ""
    assert [place for place in json.loads(done.stdout)["places"].values() if not place.startswith(str(tmp_path))] == []
    runtime = run_headspace(tmp_path, "config", "--json", **variables, XDG_RUNTIME_DIR=str(tmp_path / "runtime"))
    assert json.loads(runtime.stdout)["places"]["daemon"] == str(tmp_path / "runtime" / "headspace" / "daemon.json")


def test_the_log_does_not_count_changed_files(daemon: RunningDaemon) -> None:
    """The library that watches files reports each change; the log of the daemon has no entry for it."""
    transcripts = daemon.home / ".claude" / "projects" / "p"
    transcripts.mkdir(parents=True, exist_ok=True)
    seen = daemon.get("/hook/status").json()["sources"]["transcripts"]["detail"]
    (transcripts / "0c8f9f9e-0000-4000-8000-000000000000.jsonl").write_text('{"type": "summary"}\n')
    wait_until(lambda: daemon.get("/hook/status").json()["sources"]["transcripts"]["detail"] != seen, "the file")
    assert "change detected" not in run_headspace(daemon.home, "logs").stdout
