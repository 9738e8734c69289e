"""Finds the project location of a directory: its project root and the branch that is checked out.

A hook waits for this, so the I/O is bounded: a few `stat` calls and one or two small files, with a cache and a time
limit. Only `.git` and `HEAD` are opened, and only if they are regular files.
"""

import asyncio
import os
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from claude_headspace.kernel.envelope import Observations

CACHE_SECONDS = 5.0
TIMEOUT_SECONDS = 0.2
MAX_CACHED = 2_000
MAX_HEAD_BYTES = 4_096

_UNKNOWN = Observations()


class ProjectLocator:
    """Locates projects in a thread, with a cache and a time limit."""

    def __init__(self) -> None:
        self._cache: dict[str, tuple[float, Observations]] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="projects")

    async def __call__(self, directory: str | None) -> Observations:
        """The project root and the branch; the last known ones if the disk does not answer in time."""
        if not directory or "\0" in directory or not directory.startswith("/"):
            return Observations(project_root=directory) if directory else _UNKNOWN
        now = time.monotonic()
        cached = self._cache.get(directory)
        if cached is not None and cached[0] > now:
            return cached[1]
        return await self._find(directory, now, cached[1] if cached else Observations(project_root=directory))

    async def _find(self, directory: str, now: float, fallback: Observations) -> Observations:
        search = asyncio.get_running_loop().run_in_executor(self._thread, locate_project, directory)
        try:
            found = await asyncio.wait_for(search, TIMEOUT_SECONDS)
        except TimeoutError:
            found = fallback
        if len(self._cache) >= MAX_CACHED:
            self._cache.clear()
        self._cache[directory] = (now + CACHE_SECONDS, found)
        return found

    def close(self) -> None:
        """Stop the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def locate_project(directory: str) -> Observations:
    """The location of the nearest repository. Without a repository the directory is its own project."""
    start = Path(os.path.normpath(directory))
    for folder in (start, *start.parents):
        git = folder / ".git"
        try:
            mode = git.stat().st_mode
        except (OSError, ValueError):
            continue
        if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
            return Observations(project_root=str(folder), branch=_branch(git, is_file=stat.S_ISREG(mode)))
    return Observations(project_root=str(start))


def _branch(git: Path, *, is_file: bool) -> str | None:
    """The branch, or the start of the commit hash. In a worktree `.git` is a file that points to a directory."""
    if is_file:
        pointer = _read_small_file(git) or ""
        if not pointer.startswith("gitdir: "):
            return None
        git = git.parent / pointer.removeprefix("gitdir: ").strip()
    head = (_read_small_file(git / "HEAD") or "").strip()
    return head.removeprefix("ref: refs/heads/")[:200] if head.startswith("ref: refs/heads/") else head[:12] or None


def _read_small_file(path: Path) -> str | None:
    """The text of a regular file, up to a limit. Never blocks on a pipe."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        return os.read(handle, MAX_HEAD_BYTES).decode("utf-8", "replace")
    except OSError:
        return None
    finally:
        os.close(handle)
