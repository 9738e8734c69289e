"""Rings when a file has been put into a directory: at once on Linux and macOS, never elsewhere.

Whoever waits looks for himself after a while too, so a bell that cannot ring (another system, a network file system, no
watches left) costs only time. `files.FileWatch` watches whole trees; it gathers changes for 50 ms first, which is too
long for hooks.
"""

import asyncio
import ctypes
import os
import select
import sys
from contextlib import suppress
from pathlib import Path

CLOSE_WRITE, MOVED_TO = 0x8, 0x80
"""What inotify tells of: a file was written and closed, or moved here. Not that one was removed: we do that."""


class Doorbell:
    """Rings for one directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._rung = asyncio.Event()
        self._handles: list[int] = []
        self.works = False

    def hang(self) -> None:
        """Begin to listen, where the system can tell."""
        with suppress(OSError, AttributeError):
            descriptor = self._inotify() if sys.platform == "linux" else self._kqueue()
            asyncio.get_running_loop().add_reader(descriptor, self._ring, descriptor)
            self.works = True

    async def wait(self, seconds: float) -> None:
        """Wait until it rings, or until the time is over."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._rung.wait(), seconds)
        self._rung.clear()

    @property
    def has_rung(self) -> bool:
        """Whether it has rung since somebody waited for it."""
        return self._rung.is_set()

    def take_down(self) -> None:
        """Stop listening."""
        if self.works:
            asyncio.get_running_loop().remove_reader(self._handles[-1])
        while self._handles:
            os.close(self._handles.pop())
        self.works = False

    def _ring(self, descriptor: int) -> None:
        if sys.platform == "linux":
            with suppress(OSError):
                os.read(descriptor, 65_536)
        self._rung.set()

    def _inotify(self) -> int:
        library = ctypes.CDLL(None, use_errno=True)
        descriptor: int = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if descriptor < 0:
            raise OSError(ctypes.get_errno(), "no inotify")
        self._handles.append(descriptor)
        if library.inotify_add_watch(descriptor, os.fsencode(self._directory), CLOSE_WRITE | MOVED_TO) < 0:
            raise OSError(ctypes.get_errno(), "cannot watch")
        return descriptor

    def _kqueue(self) -> int:
        """On macOS: the directory changed. The event clears itself, so nothing has to be read."""
        directory = os.open(self._directory, os.O_RDONLY | os.O_CLOEXEC)
        self._handles.append(directory)
        queue = select.kqueue()  # type: ignore[attr-defined,unused-ignore]  # only there on BSDs
        change = select.kevent(  # type: ignore[attr-defined,unused-ignore]
            directory,
            filter=select.KQ_FILTER_VNODE,  # type: ignore[attr-defined,unused-ignore]
            flags=select.KQ_EV_ADD | select.KQ_EV_CLEAR,  # type: ignore[attr-defined,unused-ignore]
            fflags=select.KQ_NOTE_WRITE,  # type: ignore[attr-defined,unused-ignore]
        )
        queue.control([change], 0)
        self._queue = queue
        return int(queue.fileno())
