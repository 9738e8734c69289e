"""The commands `up` and `down`."""

import json
import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_headspace import __version__
from claude_headspace.config import Paths, find_paths
from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.client.running_daemon import DaemonInfo, code_fingerprint, find_daemon
from claude_headspace.surfaces.launch import background_daemon as background
from tests.support import AWAY, LIMIT_SECONDS, environment, wait_until
from tests.surfaces.cli.conftest import run_headspace

PACKAGE = Path(background.__file__).resolve().parents[2]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """A home without Headspace; its daemon is stopped at the end."""
    place = tmp_path / "home"
    place.mkdir()
    yield place
    run_headspace(place, "down")
    assert find_daemon(paths(place)) is None


def paths(home: Path) -> Paths:
    """The paths of the home."""
    return find_paths({"HEADSPACE_HOME": str(home)})


def running(home: Path) -> DaemonInfo:
    """The running daemon."""
    found = find_daemon(paths(home))
    assert found is not None
    return found


def test_a_first_run(home: Path) -> None:
    """Starts the daemon, installs the hooks, and prints how to undo it."""
    done = run_headspace(home, "up", "--yes", "--no-open")
    assert (done.returncode, done.stderr) == (0, "")
    daemon = running(home)
    assert f"Headspace is running at {daemon.url}" in done.stdout
    assert "installed in" in done.stdout
    assert "`headspace down`, `headspace uninstall`" in done.stdout
    assert (home / ".claude/hooks/notify-headspace.sh").exists()
    assert os.getsid(daemon.pid) == daemon.pid, "it outlives the terminal"
    assert run_headspace(home, "doctor").returncode == 0


def test_up_without_a_database(home: Path) -> None:
    """The daemon runs and receives hooks; the output says what it waits for."""
    (home / "config.toml").write_text(f'database = "{AWAY}"')
    done = run_headspace(home, "up", "--yes", "--no-open")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"Headspace is running at {running(home).url}" in done.stdout
    assert "waiting   for the database: " in done.stdout
    assert "refused" in done.stdout
    assert "events are stored in the spool" in done.stdout


def test_up_is_idempotent(home: Path) -> None:
    """Daemon and settings stay the same."""
    run_headspace(home, "up", "--yes", "--no-open")
    before, settings = running(home), (home / ".claude/settings.json").read_bytes()
    done = run_headspace(home, "up", "--yes", "--no-open")
    assert "already running" in done.stdout
    assert "up to date" in done.stdout
    assert running(home) == before
    assert (home / ".claude/settings.json").read_bytes() == settings


def test_without_a_terminal_no_hooks_are_installed(home: Path) -> None:
    """Everything else works."""
    done = run_headspace(home, "up", "--no-open")
    assert done.returncode == 0
    assert "confirmation needs a terminal" in done.stdout
    assert not (home / ".claude").exists()
    assert running(home)


def test_an_occupied_port(home: Path) -> None:
    """The error names the option that chooses another port. `--port` stores it, and restarts a running daemon."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_server(("127.0.0.1", 0)) as other:
        taken, free = listener.getsockname()[1], other.getsockname()[1]
        done = run_headspace(home, "up", "--no-hooks", "--no-open", "--port", str(taken), HEADSPACE_PORT="")
        assert done.returncode == 1
        assert f"cannot listen on 127.0.0.1:{taken}" in done.stderr
        assert "`headspace up --port 5056`" in done.stderr
        other.close()
        done = run_headspace(home, "up", "--no-hooks", "--no-open", "--port", str(free), HEADSPACE_PORT="")
        assert f"Headspace is running at http://127.0.0.1:{free}" in done.stdout, done.stderr
        assert f"port = {free}\n" in (home / "config.toml").read_text()
    done = run_headspace(home, "up", "--no-hooks", "--no-open", "--port", str(taken), HEADSPACE_PORT="")
    assert f"Headspace is running at http://127.0.0.1:{taken}" in done.stdout, done.stderr


def test_the_environment_and_the_option_must_agree(home: Path) -> None:
    """Otherwise the stored port would have no effect."""
    done = run_headspace(home, "up", "--no-hooks", "--no-open", "--port", "5056", HEADSPACE_PORT="5057")
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, "HEADSPACE_PORT is 5057 in the environment.")


def test_no_hooks(home: Path) -> None:
    """`--no-hooks` changes no settings, also with `--yes`."""
    done = run_headspace(home, "up", "--yes", "--no-hooks", "--no-open")
    assert "not changed" in done.stdout
    assert not (home / ".claude").exists()


@pytest.mark.parametrize(("typed", "installed"), [("y\n", True), ("n\n", False)])
def test_the_user_is_asked(home: Path, typed: str, installed: bool) -> None:
    """The question names the file; the daemon runs after both answers."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "claude_headspace", "up", "--no-open"],
        env=environment(home),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        os.write(ours, typed.encode())
        out, _ = process.communicate(timeout=LIMIT_SECONDS)
    os.close(ours)
    os.close(theirs)
    assert f"Install the hooks of Headspace in {home}/.claude/settings.json?" in out
    assert (home / ".claude/settings.json").exists() is installed
    assert running(home)


def test_earlier_sessions_are_counted(home: Path) -> None:
    """The output names the command that imports them."""
    folder = home / ".claude/projects/-home-dev-shop"
    folder.mkdir(parents=True)
    line = {"type": "user", "uuid": "u1", "sessionId": "old", "cwd": "/home/dev/shop", "message": {"content": "Hello"}}
    (folder / "old.jsonl").write_text(json.dumps({**line, "timestamp": "2026-01-01T10:00:00Z"}) + "\n")
    os.utime(folder / "old.jsonl", (1_767_261_600, 1_767_261_600))
    done = run_headspace(home, "up", "--yes", "--no-open")
    assert "Found 1 transcript of earlier sessions" in done.stdout or "1 transcript" in done.stdout
    assert "`headspace import`" in done.stdout


def test_two_at_the_same_time(home: Path) -> None:
    """The second waits for the first and starts nothing."""
    results: list[subprocess.CompletedProcess[str]] = []
    threads = [
        threading.Thread(target=lambda: results.append(run_headspace(home, "up", "--yes", "--no-open")))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT_SECONDS)
    assert [done.returncode for done in results] == [0, 0, 0], [done.stderr for done in results]
    assert len([done for done in results if "started, in the background" in done.stdout]) == 1


def test_a_daemon_with_other_code_is_replaced(home: Path, tmp_path: Path) -> None:
    """The old one has ended, and the new one has the new version."""
    run_headspace(home, "up", "--yes", "--no-open")
    before = running(home)
    newer = copy_of_the_code(tmp_path / "newer", "99.0")
    done = run_headspace(home, "up", "--yes", "--no-open", PYTHONPATH=str(newer))
    after = running(home)
    assert f"replaced version {__version__}" in done.stdout
    assert (after.version, after.pid == before.pid) == ("99.0", False)
    wait_until(lambda: not is_running(before.pid), "the end of the old daemon")


def copy_of_the_code(folder: Path, version: str) -> Path:
    """The same program as another version, first on the path."""
    shutil.copytree(PACKAGE, folder / "claude_headspace", ignore=shutil.ignore_patterns("__pycache__"))
    start = folder / "claude_headspace" / "__init__.py"
    start.write_text(start.read_text().replace(__version__, version))
    return folder


def is_running(pid: int) -> bool:
    """Whether a process runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_daemon_that_cannot_start_is_an_error(home: Path) -> None:
    """The error of the daemon is shown."""
    other = home.parent / "other"
    other.mkdir()
    run_headspace(other, "up", "--no-open")
    port = running(other).url.rpartition(":")[2]
    done = run_headspace(home, "up", "--no-open", HEADSPACE_PORT=port)
    run_headspace(other, "down")
    assert done.returncode == 1
    assert f"cannot listen on 127.0.0.1:{port}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_daemon_that_does_not_stop_is_not_replaced(home: Path) -> None:
    """It is an error, and nothing is killed."""
    run_headspace(home, "up", "--no-open")
    daemon = running(home)
    assert background.is_current(daemon)
    assert not background.is_current(DaemonInfo(daemon.url, daemon.pid, "0.0", daemon.started_at, code_fingerprint()))
    assert not background.is_current(DaemonInfo(daemon.url, daemon.pid, daemon.version, daemon.started_at, "other"))
    os.kill(daemon.pid, signal.SIGSTOP)
    try:
        with pytest.raises(HeadspaceError, match="has not stopped"):
            background.wait_until_stopped(paths(home), daemon.pid, limit=0.2)
    finally:
        os.kill(daemon.pid, signal.SIGCONT)


def test_up_does_not_sign_agents_in(home: Path) -> None:
    """An agent could answer its own questions."""
    done = run_headspace(home, "up", "--no-hooks", CLAUDECODE="1", DISPLAY=":0", BROWSER="/bin/echo")
    assert done.returncode == 0
    assert "signin" not in done.stdout
