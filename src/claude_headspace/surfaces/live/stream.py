"""The event stream: all committed changes as server-sent events, in commit order.

Every reader has its own position and reads from there: from a buffer of recent messages, or from the journal if it is
further behind. A slow reader does not slow down the others and misses nothing. If the journal no longer contains the
messages after a reader's position, the reader receives a `gap` event.

What is not in the journal, such as the health of the guards, is announced: a message without a sequence number, of
which every reader receives the latest.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from itertools import takewhile

import msgspec

from claude_headspace.errors import JournalUnavailable
from claude_headspace.ports import Reader, StreamMessage

BUFFER_SIZE = 4_096
PAGE_SIZE = 500
CONNECTED = b"retry: 1000\n: connected\n\n"
HEARTBEAT = b": heartbeat\n\n"


class StreamFilter(msgspec.Struct, frozen=True):
    """The messages that a reader wants. An empty filter matches all."""

    types: frozenset[str] = frozenset()
    agent_id: str | None = None
    project_id: str | None = None

    def matches(self, message: StreamMessage) -> bool:
        """Whether the filter includes a message."""
        return (
            (not self.types or message.type in self.types)
            and self.agent_id in (None, message.agent_id)
            and self.project_id in (None, message.project_id)
        )

    def includes(self, kind: str) -> bool:
        """Whether the filter includes announcements of a type, which are about no agent."""
        return (not self.types or kind in self.types) and self.agent_id is None and self.project_id is None


def frame(message: StreamMessage) -> bytes:
    """A message as a server-sent event."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (message.seq, message.type.encode(), message.data)


def _gap(after: int, oldest: int, reason: str) -> bytes:
    data = msgspec.json.encode({"after": after, "resumes_at": oldest, "reason": reason})
    return b"id: %d\nevent: gap\ndata: %s\n\n" % (max(oldest - 1, 0), data)


def _news(before: dict[str, bytes], after: dict[str, bytes], matching: StreamFilter) -> bytes:
    """The announcements that a reader has not received."""
    return b"".join(text for kind, text in after.items() if before.get(kind) != text and matching.includes(kind))


class EventStream:
    """Buffers recent messages and serves the readers."""

    def __init__(
        self,
        reader: Reader,
        heartbeat_seconds: Callable[[], float],
        last_seq: int | None = None,
        *,
        is_shared: bool = False,
    ) -> None:
        self._reader = reader
        self._is_shared = is_shared
        self._heartbeat_seconds = heartbeat_seconds
        self._buffer: deque[StreamMessage] = deque(maxlen=BUFFER_SIZE)
        self._has_started = last_seq is not None
        self._buffer_starts_after = self._newest = last_seq or 0
        self._announced: dict[str, bytes] = {}
        """The latest announcement of every type, as a server-sent event."""
        self._waiting: set[asyncio.Future[None]] = set()
        self._closed = False
        self.readers = 0

    @property
    def newest(self) -> int:
        """The sequence number of the newest published message."""
        return self._newest

    def start(self, last_seq: int) -> None:
        """The journal is available. Messages after this sequence number are new."""
        self._has_started = True
        self._buffer_starts_after = self._newest = last_seq

    async def newest_in_journal(self) -> int:
        """The newest sequence number. In a shared journal it may be higher than that of our newest message."""
        if not self._has_started:
            raise JournalUnavailable(
                "journal_unavailable", "The database is not available yet.", "`headspace status` shows the reason."
            )
        if not self._is_shared:
            return self._newest
        return max(self._newest, (await asyncio.to_thread(self._reader.stream_bounds))[1])

    def publish(self, messages: Sequence[StreamMessage]) -> None:
        """Add committed messages and wake the readers."""
        buffered = len(self._buffer)
        overflow = buffered + len(messages) - BUFFER_SIZE
        if overflow > 0:
            dropped = self._buffer[overflow - 1] if overflow <= buffered else messages[overflow - buffered - 1]
            self._buffer_starts_after = dropped.seq
        self._buffer.extend(messages)
        self._newest = messages[-1].seq
        if self._waiting:
            self._wake_readers()

    def announce(self, kind: str, data: bytes) -> None:
        """Send a message that is not in the journal to all readers, also to later ones."""
        self._announced = {**self._announced, kind: b"event: %s\ndata: %s\n\n" % (kind.encode(), data)}
        self._wake_readers()

    def close(self) -> None:
        """End every stream."""
        self._closed = True
        self._wake_readers()

    def _wake_readers(self) -> None:
        """The set is replaced first: `close` may be called by a signal handler while this method runs."""
        waiting, self._waiting = self._waiting, set()
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def read(self, matching: StreamFilter, after: int | None, newest: int | None = None) -> AsyncIterator[bytes]:
        """The messages after a position, by default after the newest, with heartbeats while there are none."""
        self.readers += 1
        position = (self._newest if newest is None else newest) if after is None else after
        try:
            yield CONNECTED
            if after is not None:
                position, gap = await self._check_position(after)
                if gap:
                    yield gap
            sent_at, closed, announced = time.monotonic(), False, dict[str, bytes]()
            while not closed:
                newest, closed = self._newest, self._closed  # messages before the end are sent before it
                messages = await self._messages_after(position)
                frames = b"".join(frame(message) for message in messages if matching.matches(message))
                if announced is not self._announced:
                    frames += _news(announced, self._announced, matching)
                    announced = self._announced
                position = messages[-1].seq if messages else position
                until_heartbeat = sent_at + self._heartbeat_seconds() - time.monotonic()
                if frames or until_heartbeat <= 0:
                    yield frames or HEARTBEAT
                    sent_at = time.monotonic()
                elif not messages and not closed:
                    await self._wait_for_messages(newest, announced, until_heartbeat)
        finally:
            self.readers -= 1

    async def _check_position(self, after: int) -> tuple[int, bytes | None]:
        """The position to read from, and the `gap` event if messages after the reader's position are missing."""
        oldest, newest = await asyncio.to_thread(self._reader.stream_bounds)
        newest = max(newest, self._newest)
        if after > newest:
            if after <= await asyncio.to_thread(self._reader.last_seq):
                return after, None  # the newest events have no message
            return newest, _gap(after, newest + 1, "this sequence number does not exist")
        oldest = oldest or newest + 1
        if 0 < after < min(oldest - 1, newest):
            return oldest - 1, _gap(after, oldest, "the messages in between were pruned")
        return after, None

    async def _messages_after(self, position: int) -> list[StreamMessage]:
        if position >= self._newest:
            return []
        if position >= self._buffer_starts_after:
            newest_first = takewhile(lambda message: message.seq > position, reversed(self._buffer))
            return list(newest_first)[::-1]
        return await asyncio.to_thread(self._reader.stream, position, PAGE_SIZE)

    async def _wait_for_messages(self, newest: int, announced: dict[str, bytes], seconds: float) -> None:
        """Wait for messages after these, for some seconds at most."""
        if self._newest != newest or self._announced is not announced or self._closed:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            async with asyncio.timeout(seconds):
                await future
        except TimeoutError:
            return
        finally:
            self._waiting.discard(future)
