"""What belongs to a directory: the root of its project and the branch that is checked out.

Bounded I/O on the way of a hook: a few `stat`s and one small file, remembered for some seconds, never more than a
moment's wait. Nothing but `.git/HEAD` is opened, and only if it is a small regular file.
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
    """Looks directories up, and remembers for a while."""

    def __init__(self) -> None:
        self._cache: dict[str, tuple[float, Observations]] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="surroundings")

    async def __call__(self, directory: str | None) -> Observations:
        """The surroundings of a directory; unknown if the disk does not answer in time."""
        if not directory or "\0" in directory or not directory.startswith("/"):
            return Observations(project_root=directory) if directory else _UNKNOWN
        now = time.monotonic()
        known = self._cache.get(directory)
        if known is not None and known[0] > now:
            return known[1]
        return await self._find(directory, now, known[1] if known else Observations(project_root=directory))

    async def _find(self, directory: str, now: float, fallback: Observations) -> Observations:
        looking = asyncio.get_running_loop().run_in_executor(self._thread, locate_project, directory)
        try:
            found = await asyncio.wait_for(looking, TIMEOUT_SECONDS)
        except TimeoutError:
            found = fallback
        if len(self._cache) >= MAX_CACHED:
            self._cache.clear()
        self._cache[directory] = (now + CACHE_SECONDS, found)
        return found

    def close(self) -> None:
        """Stop looking."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def locate_project(directory: str) -> Observations:
    """The nearest repository above a directory; without one the directory is its own project."""
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
    """The branch that is checked out; a worktree's `.git` is a file that points to its own directory."""
    if is_file:
        pointer = _read_small_file(git) or ""
        if not pointer.startswith("gitdir: "):
            return None
        git = git.parent / pointer.removeprefix("gitdir: ").strip()
    head = (_read_small_file(git / "HEAD") or "").strip()
    return head.removeprefix("ref: refs/heads/")[:200] if head.startswith("ref: refs/heads/") else head[:12] or None


def _read_small_file(path: Path) -> str | None:
    """The text of a small regular file; never waits for a pipe."""
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
