"""Files that others write: found by watching, opened with care.

A path may come from anybody's payload, so nothing is opened that does not lie below a known root when all links are
resolved, and nothing but regular files. Watching is what makes things fast; where it does not work, `failure` says so
and whoever is concerned is asked to look for himself, every few seconds.
"""

import asyncio
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import structlog
from watchfiles import awatch

from claude_headspace.background import Loop

log = structlog.get_logger(__name__)

STEP_MS = 50
DEBOUNCE_MS = 100
"""A change is told when nothing else has changed for a step, at the latest after this time."""
RECHECK_MS = 5_000
MISSING_RECHECK_MS = 500
"""How often it is checked whether the places are still the same, and whether those that are missing have appeared."""
RETRY_SECONDS = 2.0
"""How often others are asked to look while nothing can be watched."""


def resolve_below(path: str, roots: Iterable[Path]) -> str | None:
    """The path with all links resolved, if it lies below one of the roots (resolved as well)."""
    if "\0" in path or not path.startswith(os.sep):
        return None
    try:
        real = os.path.realpath(path)
        inside = any(Path(real).is_relative_to(os.path.realpath(root)) for root in roots)
    except OSError:
        return None
    return real if inside else None


@contextmanager
def open_regular_file(path: str) -> Iterator[int]:
    """A regular file, open for reading; never waits for a pipe, never follows a link that was put there meanwhile."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(f"{path} is no regular file")
        yield handle
    finally:
        os.close(handle)


class FileWatch(Loop):
    """Tells which paths changed below some places; an empty set means: anything may have."""

    def __init__(
        self, directories: Callable[[], Sequence[Path]], on_change: Callable[[set[str]], None], *, recursive: bool
    ) -> None:
        super().__init__()
        self._directories = directories
        self._on_change = on_change
        self._recursive = recursive
        self._has_started = False
        self.watching = 0

    async def _run(self) -> None:
        while True:
            there = _inodes(self._directories())
            self.watching = len(there)
            try:
                await self._watch(there)
                self.failure = None
            except (OSError, RuntimeError) as error:  # no more watches, or a place that vanished while we began
                self.failure = str(error)
                log.warning("cannot_watch", error=self.failure)
                self._on_change(set())
                await asyncio.sleep(RETRY_SECONDS)

    async def _watch(self, there: dict[Path, int]) -> None:
        """Watch until the places are others."""
        if there or not self._has_started:
            self._has_started = True
            self._on_change(set())
        patience = RECHECK_MS if len(there) == len(self._directories()) else MISSING_RECHECK_MS
        if not there:
            await asyncio.sleep(patience / 1000)
            return
        async for changes in awatch(
            *there,
            watch_filter=None,
            debounce=DEBOUNCE_MS,
            step=STEP_MS,
            rust_timeout=patience,
            yield_on_timeout=True,
            recursive=self._recursive,
            ignore_permission_denied=True,
        ):
            self.failure = None
            if changes:
                self._on_change({path for _, path in changes})
            elif _inodes(self._directories()) != there:
                return


def _inodes(places: Iterable[Path]) -> dict[Path, int]:
    """The directories that exist; one that was made anew is another."""
    found = {}
    for place in places:
        try:
            known = place.stat()
        except OSError:
            continue
        if stat.S_ISDIR(known.st_mode):
            found[place] = known.st_ino
    return found
