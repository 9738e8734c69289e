"""Watches directories that clients write to, and opens files there safely.

Rules
- A path may come from any payload. Only regular files below a known root, with all links resolved, are opened.
- If the system cannot watch, `failure` says why and every few seconds a change is reported without a path.
"""

import asyncio
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import structlog
from watchfiles import awatch

from claude_headspace.background import Loop

log = structlog.get_logger(__name__)

STEP_MS = 50
DEBOUNCE_MS = 100
"""A change is reported after a step without further changes, at the latest after this time."""
RECHECK_MS = 5_000
MISSING_RECHECK_MS = 500
"""How often to check whether the directories were replaced, and whether missing ones were created."""
RETRY_SECONDS = 2.0
"""How often to retry, and to report a change without a path, while watching fails."""


def resolve_below(path: str, roots: Iterable[Path]) -> str | None:
    """The path with all links resolved, or None if it is not below one of the resolved roots."""
    if "\0" in path or not path.startswith(os.sep):
        return None
    try:
        real = os.path.realpath(path)
        is_below = any(Path(real).is_relative_to(os.path.realpath(root)) for root in roots)
    except OSError:
        return None
    return real if is_below else None


class FileWatch(Loop):
    """Reports changed paths below some directories. An empty set means that any path may have changed."""

    def __init__(
        self, directories: Callable[[], Sequence[Path]], on_change: Callable[[set[str]], None], *, recursive: bool
    ) -> None:
        super().__init__()
        self._directories = directories
        self._on_change = on_change
        self._recursive = recursive
        self._has_started = False
        self.watching = 0
        """The number of watched directories."""

    async def _run(self) -> None:
        while True:
            existing = _inodes(self._directories())
            self.watching = len(existing)
            try:
                await self._watch(existing)
                self.failure = None
            except (OSError, RuntimeError) as error:  # no more watches, or a directory was removed
                self.failure = str(error)
                log.warning("directory_watch_failed", error=self.failure)
                self._on_change(set())
                await asyncio.sleep(RETRY_SECONDS)

    async def _watch(self, existing: dict[Path, int]) -> None:
        """Watch until a directory is created, removed or replaced."""
        if existing or not self._has_started:
            self._has_started = True
            self._on_change(set())
        recheck_ms = RECHECK_MS if len(existing) == len(self._directories()) else MISSING_RECHECK_MS
        if not existing:
            await asyncio.sleep(recheck_ms / 1000)
            return
        async for changes in awatch(
            *existing,
            watch_filter=None,
            debounce=DEBOUNCE_MS,
            step=STEP_MS,
            rust_timeout=recheck_ms,
            yield_on_timeout=True,
            recursive=self._recursive,
            ignore_permission_denied=True,
        ):
            self.failure = None
            if changes:
                self._on_change({path for _, path in changes})
            elif _inodes(self._directories()) != existing:
                return


def _inodes(directories: Iterable[Path]) -> dict[Path, int]:
    """The existing directories, with the inode that shows whether one was replaced."""
    found = {}
    for directory in directories:
        try:
            status = directory.stat()
        except OSError:
            continue
        if stat.S_ISDIR(status.st_mode):
            found[directory] = status.st_ino
    return found
