"""Publishes the stream messages of all daemons that share a journal to the readers of this daemon.

Messages are read from the journal, in its order, and never passed on directly: another daemon may have committed
messages before ours that were not published here yet. The follower reads when a commit is announced, and every few
seconds without an announcement.
"""

import asyncio
from collections.abc import Callable, Sequence

from claude_headspace.background import Loop
from claude_headspace.errors import JournalUnavailable
from claude_headspace.ports import Reader, StreamMessage
from claude_headspace.surfaces.live.stream import EventStream

POLL_SECONDS = 2.0
PAGE_SIZE = 500


class StreamFollower(Loop):
    """Reads new messages from a shared journal."""

    def __init__(self, reader: Reader, stream: EventStream, publish: Callable[[Sequence[StreamMessage]], None]) -> None:
        super().__init__()
        self._reader = reader
        self._stream = stream
        self._publish = publish
        self._requested = asyncio.Event()

    async def stop(self) -> None:
        """Publish what is left, then stop."""
        await super().stop()
        await self._try_to_read()

    def read_soon(self) -> None:
        """Request a read: a daemon has committed."""
        self._requested.set()

    async def _run(self) -> None:
        while True:
            try:
                async with asyncio.timeout(POLL_SECONDS):
                    await self._requested.wait()
            except TimeoutError:
                pass
            self._requested.clear()
            await self._try_to_read()

    async def _try_to_read(self) -> None:
        try:
            await self._read_new()
            self.failure = None
        except JournalUnavailable as error:
            self.failure = error.message

    async def _read_new(self) -> None:
        while messages := await asyncio.to_thread(self._reader.stream, self._stream.newest, PAGE_SIZE):
            self._publish(messages)
