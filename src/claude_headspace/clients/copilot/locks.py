"""The lock files and logs of Copilot CLI: which process has a session open.

`session-state/<session id>/inuse.<pid>.lock` exists while a client has the session open, from its start. With a new
conversation (`/clear`) it moves to the new session. A client that was killed leaves it behind. It has no status. The
directory of the session is in `workspace.yaml` beside it.

A session that is continued is locked only with its first prompt. Until then its id is in the log of the process,
`logs/process-<start in milliseconds>-<pid>.log`.
"""

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from claude_headspace.clients.copilot.transcript_files import SESSIONS
from claude_headspace.clients.copilot.wire import WireLock
from claude_headspace.clients.files import open_regular_file
from claude_headspace.clients.registry_entry import Activity, RegistryEntry
from claude_headspace.kernel.envelope import SECOND, Micros

MAX_WORKSPACE_BYTES = 16 * 1024

LOGS = "logs"
MAX_LOG_BYTES = 256 * 1024
"""How much of a log is read: its beginning, where the client names the session that it opens."""

_LOCK = re.compile(r"inuse\.([1-9][0-9]{0,9})\.lock")
_LOG = re.compile(r"process-([0-9]{1,15})-([1-9][0-9]{0,9})\.log")
_OPENED = re.compile(rb"^[^\n]* Registering foreground session: ([0-9A-Za-z][0-9A-Za-z_-]{0,99})$", re.MULTILINE)
_CWD = re.compile(rb"^cwd: (.+)$", re.MULTILINE)


def directory(config_dir: Path) -> Path:
    """The directory of sessions."""
    return config_dir / SESSIONS


def session_directories(config_dir: Path) -> Iterator[tuple[str, int]]:
    """The directories of all sessions, with the times at which a file was last added or removed."""
    with suppress(OSError), os.scandir(directory(config_dir)) as found:
        for entry in found:
            with suppress(OSError):
                if entry.is_dir(follow_symlinks=False):
                    yield entry.path, entry.stat(follow_symlinks=False).st_mtime_ns


def locks_in(path: str) -> Iterator[tuple[int, Micros]]:
    """The processes that have locked the session of a directory, and when."""
    with suppress(OSError), os.scandir(path) as found:
        for entry in found:
            if (name := _LOCK.fullmatch(entry.name)) is not None:
                with suppress(OSError):
                    yield int(name.group(1)), entry.stat(follow_symlinks=False).st_mtime_ns // 1000


def logs_in(config_dir: Path) -> Iterator[tuple[str, int, Micros]]:
    """The logs of all processes: the path, the process, and when it started."""
    with suppress(OSError), os.scandir(config_dir / LOGS) as found:
        for entry in found:
            if (name := _LOG.fullmatch(entry.name)) is not None:
                yield entry.path, int(name.group(2)), int(name.group(1)) * 1000


def session_in_log(path: str) -> str | None:
    """The directory of the session that a process opened last, as its log tells; None if there is none."""
    try:
        with open_regular_file(path) as handle:
            opened = _OPENED.findall(os.read(handle, MAX_LOG_BYTES))
    except OSError:
        return None
    folder = directory(Path(path).parents[1]) / opened[-1].decode() if opened else None
    return str(folder) if folder is not None and folder.is_dir() else None


def entry_of(path: str, pid: int, at: Micros) -> tuple[RegistryEntry, bytes]:
    """The entry of a lock, and the content that is stored for it."""
    lock = WireLock(Path(path).name, _cwd_of(path), pid)
    entry = RegistryEntry(
        pid=pid,
        session_id=lock.session_id,
        cwd=lock.cwd,
        activity=Activity.UNKNOWN,
        started_at=at,
        at=at,
        delivery_id=f"lock:{pid}:{at // SECOND}:{lock.session_id}",
    )
    return entry, msgspec.json.encode(lock)


def _cwd_of(path: str) -> str | None:
    """The directory in which a session runs; None if it is not known, or quoted."""
    try:
        with open_regular_file(str(Path(path) / "workspace.yaml")) as handle:
            found = _CWD.search(os.read(handle, MAX_WORKSPACE_BYTES))
    except OSError:
        return None
    cwd = found.group(1).decode("utf-8", "replace").strip() if found else ""
    return cwd if cwd.startswith(os.sep) else None
