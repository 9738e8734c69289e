"""The stream: server-sent events of everything that was committed, in its order.

Nobody is pushed at: every reader has a position and reads on from there, out of a ring of recent announcements, or out
of the journal when it is further behind. So a slow reader costs nobody else anything and misses nothing. When even the
journal does not reach back far enough the reader is told with a `gap` event.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence

import msgspec

from claude_headspace.errors import JournalUnavailable
from claude_headspace.ports import Reader, StreamMessage

RING = 4_096
PAGE = 500
CONNECTED = b"retry: 1000\n: connected\n\n"
HEARTBEAT = b": heartbeat\n\n"


class Wanted(msgspec.Struct, frozen=True):
    """What a reader wants to hear of; empty means everything."""

    types: frozenset[str] = frozenset()
    agent_id: str | None = None
    project_id: str | None = None

    def matches(self, message: StreamMessage) -> bool:
        """Whether an announcement is wanted."""
        return (
            (not self.types or message.type in self.types)
            and self.agent_id in (None, message.agent_id)
            and self.project_id in (None, message.project_id)
        )


def frame(message: StreamMessage) -> bytes:
    """An announcement as SSE writes it."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (message.seq, message.type.encode(), message.data)


def _gap(after: int, oldest: int, reason: str) -> bytes:
    data = msgspec.json.encode({"after": after, "resumes_at": oldest, "reason": reason})
    return b"id: %d\nevent: gap\ndata: %s\n\n" % (max(oldest - 1, 0), data)


class Broadcaster:
    """Holds the ring and wakes the readers."""

    def __init__(
        self,
        reader: Reader,
        heartbeat: Callable[[], float],
        last_seq: int | None = None,
        *,
        is_shared: bool = False,
    ) -> None:
        self._reader = reader
        self._is_shared = is_shared
        self._heartbeat = heartbeat
        self._ring: deque[StreamMessage] = deque(maxlen=RING)
        self._has_begun = last_seq is not None
        self._ring_starts_after = self._newest = last_seq or 0
        self._waiting: set[asyncio.Future[None]] = set()
        self._closed = False
        self.readers = 0

    @property
    def newest(self) -> int:
        """The number of the last announcement that is known here."""
        return self._newest

    def begin(self, last_seq: int) -> None:
        """The journal is there: what comes after this number is news."""
        self._has_begun = True
        self._ring_starts_after = self._newest = last_seq

    async def now(self) -> int:
        """After which number everything is news: where others announce too, the journal knows more than we do."""
        if not self._has_begun:
            raise JournalUnavailable(
                "journal_unavailable", "The database has not been reached yet.", "`headspace status` tells why."
            )
        if not self._is_shared:
            return self._newest
        return max(self._newest, (await asyncio.to_thread(self._reader.stream_bounds))[1])

    def publish(self, messages: Sequence[StreamMessage]) -> None:
        """Take in what was committed, and wake everybody who waits for it."""
        overflow = len(self._ring) + len(messages) - RING
        if overflow > 0:
            last_out = (
                self._ring[overflow - 1] if overflow <= len(self._ring) else messages[overflow - len(self._ring) - 1]
            )
            self._ring_starts_after = last_out.seq
        self._ring.extend(messages)
        self._newest = messages[-1].seq
        self._wake()

    def close(self) -> None:
        """End every stream: the daemon stops."""
        self._closed = True
        self._wake()

    def _wake(self) -> None:
        """The set is taken out whole: the signal that closes may come while news are being told."""
        waiting, self._waiting = self._waiting, set()
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def read(self, wanted: Wanted, after: int | None, now: int | None = None) -> AsyncIterator[bytes]:
        """What is announced after a position (None: from now on), and heartbeats in silence."""
        self.readers += 1
        position = (self._newest if now is None else now) if after is None else after
        try:
            yield CONNECTED
            if after is not None:
                position, notice = await self._check_position(after)
                if notice:
                    yield notice
            sent_at, ending = time.monotonic(), False
            while not ending:
                known, ending = self._newest, self._closed  # what was announced before the end is told before it
                messages = await self._after(position)
                frames = b"".join(frame(message) for message in messages if wanted.matches(message))
                position = messages[-1].seq if messages else position
                patience = sent_at + self._heartbeat() - time.monotonic()
                if frames or patience <= 0:
                    yield frames or HEARTBEAT
                    sent_at = time.monotonic()
                elif not messages and not ending:
                    await self._news(known, patience)
        finally:
            self.readers -= 1

    async def _check_position(self, after: int) -> tuple[int, bytes | None]:
        """Where to read on, and what to tell a reader who cannot have everything after its position."""
        oldest, newest = await asyncio.to_thread(self._reader.stream_bounds)
        newest = max(newest, self._newest)
        if after > newest:
            return newest, _gap(after, newest + 1, "that number was never given here")
        oldest = oldest or newest + 1
        if 0 < after < min(oldest - 1, newest):
            return oldest - 1, _gap(after, oldest, "what came between is no longer kept")
        return after, None

    async def _after(self, position: int) -> list[StreamMessage]:
        if position >= self._newest:
            return []
        if position >= self._ring_starts_after:
            behind = []
            for message in reversed(self._ring):
                if message.seq <= position:
                    break
                behind.append(message)
            behind.reverse()
            return behind
        return await asyncio.to_thread(self._reader.stream, position, PAGE)

    async def _news(self, known: int, patience: float) -> None:
        """Wait until there is more than was known, but not longer than a reader may be left in silence."""
        if self._newest != known or self._closed:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            async with asyncio.timeout(patience):
                await future
        except TimeoutError:
            return
        finally:
            self._waiting.discard(future)
