"""The daemon in the background: started so that it outlives the terminal, and replaced when its code is another.

Rules
- One `headspace up` at a time: whoever comes second waits, and finds what the first one did.
- A daemon of other code is asked to stop before the new one starts. Hooks feel nothing of it: what they tell meanwhile
  waits in the spool, and what they ask is told.
- The old one is never killed: one that does not stop is an error that says how to end it.
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
"""How long a start may take: a large journal that another version wrote is made anew first."""
SLOW_SECONDS = 5.0
"""After how long whoever waits is told so."""
STOP_SECONDS = 10.0
_POLL_SECONDS = 0.05


@contextlib.contextmanager
def up_lock(home: Paths, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Keep others from doing the same at the same time; `waiting` is called if somebody does."""
    handle = os.open(home.runtime / "up.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def is_current(daemon: DaemonInfo) -> bool:
    """Whether a daemon runs the code that we are."""
    return (daemon.version, daemon.code) == (__version__, code_fingerprint())


# --- starting ---


def start(home: Paths, slow: Callable[[], None] = lambda: None) -> DaemonInfo:
    """Start a daemon that goes on when we end, and wait until it answers; `slow` is called once if that takes long."""
    printed = home.state / "daemon.out"
    with os.fdopen(os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "claude_headspace", "serve"],
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        return wait_until_running(home, lambda: process.poll() is None, slow)
    except HeadspaceError as error:
        words = printed.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        if not words:
            raise
        raise HeadspaceError("daemon_failed", words[0], " ".join(words[1:]) or error.hint) from error


def wait_until_running(
    home: Paths,
    goes_on: Callable[[], bool] = lambda: True,
    slow: Callable[[], None] = lambda: None,
    limit: float = START_SECONDS,
) -> DaemonInfo:
    """Wait until a daemon answers, as long as there is hope; `slow` is called once if that takes long."""
    began, told = time.monotonic(), False
    while goes_on() and time.monotonic() < began + limit:
        daemon = find_daemon(home)
        if daemon is not None and _answers(home):
            return daemon
        if not told and time.monotonic() > began + SLOW_SECONDS:
            told = True
            slow()
        time.sleep(_POLL_SECONDS)
    raise HeadspaceError(
        "daemon_failed", "The daemon did not start.", "See `headspace logs`, or run `headspace serve`."
    )


def _answers(home: Paths) -> bool:
    try:
        return bool(ApiClient.local(home).health())
    except HeadspaceError:
        return False


# --- stopping ---


def stop(home: Paths) -> DaemonInfo | None:
    """Ask the daemon to stop, and wait until it is gone; None if there was none."""
    if not is_locked(home.lock_file):
        return None
    daemon = find_daemon(home)
    if daemon is None:
        raise HeadspaceError("daemon_starting", "Headspace is just starting.", "Try again in a moment.")
    _end(daemon.pid)
    wait_until_stopped(home, daemon.pid)
    return daemon


def _end(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    except PermissionError as error:
        raise HeadspaceError(
            "not_yours", f"The daemon (pid {pid}) belongs to another user.", "Stop it as that user."
        ) from error


def wait_until_stopped(home: Paths, pid: int, limit: float = STOP_SECONDS) -> None:
    """Wait until nobody holds the lock; after the limit that is an error."""
    deadline = time.monotonic() + limit
    while is_locked(home.lock_file):
        if time.monotonic() > deadline:
            raise HeadspaceError(
                "does_not_stop",
                f"The daemon (pid {pid}) has not stopped after {limit:.0f} s.",
                f"See `headspace logs`. `kill -9 {pid}` ends it at once; what it acknowledged is stored.",
            )
        time.sleep(_POLL_SECONDS)
