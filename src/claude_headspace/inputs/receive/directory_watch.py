"""Reports new files in one directory: immediately on Linux and macOS, never on other systems.

The reader of the directory also polls. If watching is not possible (another system, a network file system, no watches
left), files are only found later. `watch.files.FileWatch` collects changes for 50 ms, which is too long for hooks.
"""

import asyncio
import ctypes
import os
import select
import sys
from contextlib import suppress
from pathlib import Path

CLOSE_WRITE, MOVED_TO = 0x8, 0x80
"""The inotify events: a file was written and closed, or moved here. Not removals: the reader removes files itself."""


class DirectoryWatch:
    """Watches one directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.changed = asyncio.Event()
        """Set if there was a change since the last wait."""
        self._handles: list[int] = []
        self.is_watching = False

    def start(self) -> None:
        """Start watching, if the system supports it."""
        with suppress(OSError, AttributeError):
            descriptor = self._open_inotify() if sys.platform == "linux" else self._open_kqueue()
            asyncio.get_running_loop().add_reader(descriptor, self._on_event, descriptor)
            self.is_watching = True

    async def wait(self, seconds: float) -> None:
        """Wait for a change, but not longer than this."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.changed.wait(), seconds)
        self.changed.clear()

    def stop(self) -> None:
        """Stop watching."""
        if self.is_watching:
            asyncio.get_running_loop().remove_reader(self._handles[-1])
        while self._handles:
            os.close(self._handles.pop())
        self.is_watching = False

    def _on_event(self, descriptor: int) -> None:
        if sys.platform == "linux":
            with suppress(OSError):
                os.read(descriptor, 65_536)
        self.changed.set()

    def _open_inotify(self) -> int:
        library = ctypes.CDLL(None, use_errno=True)
        descriptor: int = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if descriptor < 0:
            raise OSError(ctypes.get_errno(), "inotify is not available")
        self._handles.append(descriptor)
        if library.inotify_add_watch(descriptor, os.fsencode(self._directory), CLOSE_WRITE | MOVED_TO) < 0:
            raise OSError(ctypes.get_errno(), "the directory cannot be watched")
        return descriptor

    def _open_kqueue(self) -> int:
        """For macOS. The event clears itself, so nothing has to be read."""
        directory = os.open(self._directory, os.O_RDONLY | os.O_CLOEXEC)
        self._handles.append(directory)
        queue = select.kqueue()  # type: ignore[attr-defined,unused-ignore]  # exists only on BSD systems
        change = select.kevent(  # type: ignore[attr-defined,unused-ignore]
            directory,
            filter=select.KQ_FILTER_VNODE,  # type: ignore[attr-defined,unused-ignore]
            flags=select.KQ_EV_ADD | select.KQ_EV_CLEAR,  # type: ignore[attr-defined,unused-ignore]
            fflags=select.KQ_NOTE_WRITE,  # type: ignore[attr-defined,unused-ignore]
        )
        queue.control([change], 0)
        self._queue = queue
        return int(queue.fileno())
