"""The daemon of a home, as others find it: who holds its lock, and where it said that it can be reached.

The lock is the truth, since the system lets go of it whatever happens to its holder; `daemon.json` is only believed
while somebody holds the lock. So a file that a killed daemon left behind sends nobody, and no token, to a stranger.
"""

import contextlib
import fcntl
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from claude_headspace.config import Paths
from claude_headspace.errors import AlreadyRunning


class KilledDaemon(NamedTuple):
    """A daemon that did not end by itself."""

    pid: int
    last_seen: float
    """Its last sign of life, in seconds since 1970."""


class DaemonInfo(msgspec.Struct, frozen=True):
    """Where the running daemon can be reached."""

    url: str
    pid: int
    version: str
    started_at: str
    code: str = ""
    """What tells its code from another of the same version."""
    machine: str = ""
    """The name that its agents carry."""
    database: str = ""
    """Where its journal is, without a password. It stands here and not in `/hook/status`, which needs no token."""


def code_fingerprint() -> str:
    """Recognises the code that this process was started from."""
    root = Path(__file__).resolve().parents[2]
    files = sorted(root.rglob("*.py"))
    marks = [
        f"{path.relative_to(root)} {found.st_size} {found.st_mtime_ns}" for path in files if (found := path.stat())
    ]
    return hashlib.blake2b("\n".join(marks).encode(), digest_size=8).hexdigest()


def find_daemon(places: Paths) -> DaemonInfo | None:
    """The daemon that runs and can be reached, if any."""
    return read_daemon_file(places.daemon_file) if is_locked(places.lock_file) else None


def read_daemon_file(path: Path) -> DaemonInfo | None:
    """Where the daemon said it can be reached."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=DaemonInfo)
    except (OSError, msgspec.DecodeError):
        return None


def is_locked(lock_file: Path) -> bool:
    """Whether somebody holds the lock."""
    try:
        handle = os.open(lock_file, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(handle)


def find_killed_daemon(places: Paths) -> KilledDaemon | None:
    """The daemon that was killed, if the last one was: those that end by themselves take their file away."""
    if (info := read_daemon_file(places.daemon_file)) is None:
        return None
    signs = (places.daemon_file, places.log_file, places.status_file, places.database.with_name("headspace.db-wal"))
    return KilledDaemon(info.pid, max(path.stat().st_mtime for path in signs if path.exists()))


@contextlib.contextmanager
def daemon_lock(places: Paths) -> Iterator[KilledDaemon | None]:
    """Hold the home's lock, with what one that was killed left behind; whoever comes second is pointed to the first."""
    handle = os.open(places.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        running = read_daemon_file(places.daemon_file)
        where = f"at {running.url} (pid {running.pid})" if running else "and is just starting"
        raise AlreadyRunning(
            "already_running", f"Headspace runs already, {where}.", "Use it as it is, or stop it with `headspace down`."
        ) from error
    else:
        killed = find_killed_daemon(places)
        places.daemon_file.unlink(missing_ok=True)
        yield killed
    finally:
        os.close(handle)
