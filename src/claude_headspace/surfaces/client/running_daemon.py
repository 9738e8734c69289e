"""Finds the running daemon: through its lock, and through `daemon.json`, which contains its address.

The lock decides, because the operating system releases it when the daemon ends for any reason. `daemon.json` is used
only while the lock is held. So a file of a killed daemon never sends a token to another program on the same port.

The lock is on a file and on the state directory. A removed file can be created again and locked by another daemon; the
directory cannot be removed without everything in it.
"""

import contextlib
import fcntl
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from claude_headspace.config import Paths, withdraw_file
from claude_headspace.errors import AlreadyRunning

LOCK_ATTEMPTS, LOCK_PAUSE_SECONDS = 5, 0.02


class KilledDaemon(NamedTuple):
    """A daemon that was killed or crashed."""

    pid: int
    last_seen: float
    """The time of its last activity, in seconds since 1970."""


class DaemonInfo(msgspec.Struct, frozen=True):
    """The content of `daemon.json`."""

    url: str
    pid: int
    version: str
    started_at: str
    code: str = ""
    """The fingerprint of its code."""
    machine: str = ""
    """The host name of its agents."""
    database: str = ""
    """The address of its database, without a password. Not part of `/hook/status`, which needs no token."""


def code_fingerprint() -> str:
    """A fingerprint of the code of this installation."""
    root = Path(__file__).resolve().parents[2]
    files = sorted(root.rglob("*.py"))
    entries = [
        f"{path.relative_to(root)} {found.st_size} {found.st_mtime_ns}" for path in files if (found := path.stat())
    ]
    return hashlib.blake2b("\n".join(entries).encode(), digest_size=8).hexdigest()


def find_daemon(paths: Paths) -> DaemonInfo | None:
    """The running daemon, if any."""
    return read_daemon_file(paths.daemon_file) if is_locked(paths) else None


def read_daemon_file(path: Path) -> DaemonInfo | None:
    """Read `daemon.json`; None if it is missing or invalid."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=DaemonInfo)
    except (OSError, msgspec.DecodeError):
        return None


def is_locked(paths: Paths) -> bool:
    """Whether a daemon holds the lock."""
    return any(_is_held(path) for path in (paths.lock_file, paths.state))


def _is_held(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system that cannot lock directories
        return False
    else:
        return False
    finally:
        os.close(handle)


def find_killed_daemon(paths: Paths) -> KilledDaemon | None:
    """The last daemon, if it was killed. A daemon that stops normally removes its file."""
    if (info := read_daemon_file(paths.daemon_file)) is None:
        return None
    files = (paths.daemon_file, paths.log_file, paths.status_file, paths.database.with_name("headspace.db-wal"))
    return KilledDaemon(info.pid, max(path.stat().st_mtime for path in files if path.exists()))


@contextlib.contextmanager
def daemon_lock(paths: Paths) -> Iterator[KilledDaemon | None]:
    """Hold the lock of the daemon, or raise `AlreadyRunning`. Yields the previous daemon if it was killed."""
    with contextlib.ExitStack() as handles:
        if not (_lock(paths.lock_file, os.O_RDWR | os.O_CREAT, handles) and _lock(paths.state, os.O_RDONLY, handles)):
            running = read_daemon_file(paths.daemon_file)
            where = f"at {running.url} (pid {running.pid})" if running else "and is starting"
            raise AlreadyRunning(
                "already_running",
                f"Headspace is already running, {where}.",
                "Use it, or stop it with `headspace down`.",
            )
        killed = find_killed_daemon(paths)
        withdraw_file(paths.daemon_file)
        yield killed


def _lock(path: Path, flags: int, handles: contextlib.ExitStack) -> bool:
    """Lock a file or a directory until the handles are closed. Waits a moment for commands that only check the lock."""
    handle = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    handles.callback(os.close, handle)
    for _ in range(LOCK_ATTEMPTS):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(LOCK_PAUSE_SECONDS)
        except OSError:
            return path.is_dir()  # a file system that cannot lock directories
        else:
            return True
    return False
