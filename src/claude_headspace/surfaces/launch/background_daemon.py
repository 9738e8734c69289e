"""Starts the daemon in the background, so that it outlives the terminal, and replaces one that runs other code.

Rules
- Only one `headspace up` runs at a time. A second one waits for the first.
- A daemon that runs other code is asked to stop before the new one starts. Hooks store their events in the spool while
  no daemon runs.
- The old daemon is never killed. If it does not stop, the error says how to end it.
"""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from claude_headspace import __version__
from claude_headspace.config import Paths
from claude_headspace.errors import HeadspaceError
from claude_headspace.surfaces.client.api_client import ApiClient
from claude_headspace.surfaces.client.running_daemon import DaemonInfo, code_fingerprint, find_daemon, is_locked

START_SECONDS = 900.0
"""How long a start may take. After an upgrade the projections of a large journal are rebuilt first."""
SLOW_SECONDS = 5.0
"""After how long `on_slow` is called."""
STOP_SECONDS = 10.0
_POLL_SECONDS = 0.05


@contextlib.contextmanager
def up_lock(paths: Paths, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the lock of `headspace up`. `on_wait` is called if another process holds it."""
    handle = os.open(paths.runtime / "up.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def is_current(daemon: DaemonInfo) -> bool:
    """Whether a daemon runs the same code as this process."""
    return (daemon.version, daemon.code) == (__version__, code_fingerprint())


# --- starting ---


def start(paths: Paths, on_slow: Callable[[], None] = lambda: None) -> DaemonInfo:
    """Start a daemon that outlives this process, and wait until it answers. A long start calls `on_slow` once."""
    output_file = paths.state / "daemon.out"
    with os.fdopen(os.open(output_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "claude_headspace", "serve"],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        return wait_until_running(paths, lambda: process.poll() is None, on_slow)
    except HeadspaceError as error:
        lines = output_file.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        if not lines:
            raise
        raise HeadspaceError("daemon_failed", lines[0], " ".join(lines[1:]) or error.hint) from error


def wait_until_running(
    paths: Paths,
    is_alive: Callable[[], bool] = lambda: True,
    on_slow: Callable[[], None] = lambda: None,
    limit: float = START_SECONDS,
) -> DaemonInfo:
    """Wait until a daemon answers, while `is_alive` and until the limit. `on_slow` is called once if it takes long."""
    started_at, is_slow = time.monotonic(), False
    while is_alive() and time.monotonic() < started_at + limit:
        daemon = find_daemon(paths)
        if daemon is not None and _answers(paths):
            return daemon
        if not is_slow and time.monotonic() > started_at + SLOW_SECONDS:
            is_slow = True
            on_slow()
        time.sleep(_POLL_SECONDS)
    raise HeadspaceError(
        "daemon_failed", "The daemon did not start.", "See `headspace logs`, or run `headspace serve`."
    )


def _answers(paths: Paths) -> bool:
    try:
        return bool(ApiClient.local(paths).health())
    except HeadspaceError:
        return False


# --- stopping ---


def stop(paths: Paths) -> DaemonInfo | None:
    """Ask the daemon to stop, and wait until it has. None if no daemon runs."""
    if not is_locked(paths):
        return None
    daemon = find_daemon(paths)
    if daemon is None:
        raise HeadspaceError("daemon_starting", "Headspace is starting.", "Try again in a few seconds.")
    _terminate(daemon.pid)
    wait_until_stopped(paths, daemon.pid)
    return daemon


def _terminate(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    except PermissionError as error:
        raise HeadspaceError(
            "not_yours", f"The daemon (pid {pid}) belongs to another user.", "Stop it as that user."
        ) from error


def wait_until_stopped(paths: Paths, pid: int, limit: float = STOP_SECONDS) -> None:
    """Wait until the lock of the daemon is free. Raises an error after the limit."""
    deadline = time.monotonic() + limit
    while is_locked(paths):
        if time.monotonic() > deadline:
            raise HeadspaceError(
                "does_not_stop",
                f"The daemon (pid {pid}) has not stopped after {limit:.0f} s.",
                f"See `headspace logs`. `kill -9 {pid}` ends it immediately; acknowledged events are stored.",
            )
        time.sleep(_POLL_SECONDS)
