"""Brings what any daemon announced to the readers of this one, where several share a journal.

Announcements are read from the journal, in their order, and never handed over directly: what this daemon has just
committed may stand behind something that another one committed before, and which nobody here has seen yet. It reads on
when it is told that there is news, and every few seconds without being told.
"""

import asyncio
from collections.abc import Callable, Sequence

from claude_headspace.background import Loop
from claude_headspace.errors import JournalUnavailable
from claude_headspace.ports import Reader, StreamMessage
from claude_headspace.surfaces.live.stream import Broadcaster

LOOK_SECONDS = 2.0
PAGE = 500


class Follower(Loop):
    """Reads on."""

    def __init__(
        self, reader: Reader, broadcaster: Broadcaster, publish: Callable[[Sequence[StreamMessage]], None]
    ) -> None:
        super().__init__()
        self._reader = reader
        self._broadcaster = broadcaster
        self._publish = publish
        self._bell = asyncio.Event()

    async def stop(self) -> None:
        """Bring what is there, and follow no more."""
        await super().stop()
        await self._try()

    def heard(self) -> None:
        """There may be news."""
        self._bell.set()

    async def _run(self) -> None:
        while True:
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._bell.wait()
            except TimeoutError:
                pass
            self._bell.clear()
            await self._try()

    async def _try(self) -> None:
        try:
            await self._read_on()
            self.failure = None
        except JournalUnavailable as error:
            self.failure = error.message

    async def _read_on(self) -> None:
        while messages := await asyncio.to_thread(self._reader.stream, self._broadcaster.newest, PAGE):
            self._publish(messages)
