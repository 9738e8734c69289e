"""Finds the instruction files of a path: in its directory and in every parent directory up to the project root.

A hook waits for this, so the I/O is bounded: some `stat` calls in a thread, with a cache and a time limit.
"""

import asyncio
import os
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FILE_NAMES = ("CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".claude/CLAUDE.md", ".directives/AGENTS.md")
MAX_DEPTH = 40
CACHE_SECONDS = 5.0
MAX_CACHED = 1_000
TIMEOUT_SECONDS = 0.2


class InstructionFileFinder:
    """Finds instruction files in a thread, with a cache and a time limit."""

    def __init__(self) -> None:
        self._cache: dict[tuple[str, str], tuple[float, tuple[str, ...]]] = {}
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="instructions")

    async def __call__(self, path: str, root: str) -> tuple[str, ...]:
        """The instruction files of a path in a project, nearest first; none if the disk does not answer in time."""
        if not path.startswith("/") or "\0" in path:
            return ()
        key, now = (path.rpartition("/")[0], root), time.monotonic()
        cached = self._cache.get(key)
        if cached is not None and cached[0] > now:
            return cached[1]
        search = asyncio.get_running_loop().run_in_executor(self._thread, find_instruction_files, [path], root)
        try:
            found = await asyncio.wait_for(search, TIMEOUT_SECONDS)
        except TimeoutError:
            return ()
        if len(self._cache) >= MAX_CACHED:
            self._cache.clear()
        self._cache[key] = (now + CACHE_SECONDS, found)
        return found

    def close(self) -> None:
        """Stop the thread."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def find_instruction_files(paths: Iterable[str], root: str) -> tuple[str, ...]:
    """The instruction files of some paths in a project, nearest to each path first."""
    found: dict[str, None] = {}
    for path in paths:
        for folder in _parents_up_to(Path(os.path.normpath(path)), Path(os.path.normpath(root))):
            found.update(dict.fromkeys(str(folder / name) for name in FILE_NAMES if _is_file(folder / name)))
    return tuple(found)


def _parents_up_to(path: Path, root: Path) -> list[Path]:
    """The directories from a path up to its project root; none if the path is outside the project."""
    start = path if path.is_dir() else path.parent
    if start != root and root not in start.parents:
        return []
    folders = [start, *start.parents]
    return folders[: folders.index(root) + 1][:MAX_DEPTH]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
