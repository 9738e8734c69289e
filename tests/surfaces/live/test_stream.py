"""The event stream: all committed messages, in order, to every reader, however slow or late."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from itertools import count
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import asdict

from claude_headspace.journal import schema
from claude_headspace.journal.rows import insert_rows
from claude_headspace.kernel.hooks import PROBE
from claude_headspace.kernel.react import STREAM_TYPES
from claude_headspace.ports import StreamMessage
from claude_headspace.surfaces.live.stream import BUFFER_SIZE, PAGE_SIZE, EventStream, StreamFilter, frame
from claude_headspace.testing import START, hook
from tests.engines import engine_over
from tests.journals import TemporaryJournal
from tests.support import RunningDaemon, Stream, running_daemon, wait_until

_numbers = count(1)
EVERYTHING = StreamFilter()


# --- the stream alone -------------------------------------------------------------------------------------------------


class PrunableJournal(TemporaryJournal):
    """A journal that can drop old messages, as pruning does."""

    def drop_before(self, before: int) -> None:
        """Drop the messages before a number."""
        with self.transaction() as batch:
            batch.connection.execute(schema.stream.delete().where(schema.stream.c.seq < before))

    def append(self, messages: Sequence[StreamMessage]) -> None:
        """Store messages."""
        with self.transaction() as batch:
            insert_rows(
                batch.connection, schema.stream, [asdict(each) | {"data": each.data.decode()} for each in messages]
            )


class StreamTest:
    """A stream over a journal, and an engine that publishes to it."""

    def __init__(self, heartbeat: float = 60) -> None:
        self.journal = PrunableJournal()
        self.stream = EventStream(self.journal, lambda: heartbeat, 0)
        self.engine = engine_over(self.journal, iter(map(str, count())).__next__, self.stream.publish)
        self.sent = 0

    async def publish(self, times: int = 1, session: str = "session-1") -> None:
        """Publish a number of events."""
        await asyncio.gather(*(self._submit(session) for _ in range(times)))

    async def _submit(self, session: str) -> None:
        self.sent += 1
        await self.engine.submit(hook("Notification", START + self.sent, session_id=session, cwd=f"/{session}"))

    def published(self) -> list[int]:
        """The sequence numbers of all published messages."""
        return [message.seq for message in self.journal.stream(0, 1_000_000)]

    def restarted(self, heartbeat: float = 60) -> EventStream:
        """The stream of the next daemon on the same journal."""
        return EventStream(self.journal, lambda: heartbeat, self.journal.counts().last_seq)


def run(play: Callable[[StreamTest], Awaitable[None]], heartbeat: float = 60) -> None:
    """Run a test with a running engine."""

    async def main() -> None:
        test = StreamTest(heartbeat)
        test.engine.start()
        async with asyncio.timeout(60):
            await play(test)
            await test.engine.stop()

    asyncio.run(main())


class StreamReader:
    """Reads a stream and parses it."""

    def __init__(self, broadcaster: EventStream, matching: StreamFilter = EVERYTHING, after: int | None = None) -> None:
        self._source: AsyncIterator[bytes] = broadcaster.read(matching, after)
        self._text = ""

    async def start(self) -> "StreamReader":
        """Connect."""
        assert await self.block() == "retry: 1000\n: connected"
        return self

    async def block(self) -> str:
        """The lines before the next empty line."""
        while "\n\n" not in self._text:
            self._text += (await anext(self._source)).decode()
        block, _, self._text = self._text.partition("\n\n")
        return block

    async def ids(self, number: int) -> list[int]:
        """The sequence numbers of the next events."""
        found: list[int] = []
        while len(found) < number:
            if match := re.match(r"id: (\d+)\nevent: (?!gap)", await self.block()):
                found.append(int(match[1]))
        return found

    async def ended(self) -> bool:
        """Whether the stream ends now."""
        return await anext(self._source, None) is None


def test_frame() -> None:
    """Id, event and data, one line each."""
    message = StreamMessage(7, "state_changed", "agent", "project", b'{"text":"two\\nlines"}')
    assert frame(message) == b'id: 7\nevent: state_changed\ndata: {"text":"two\\nlines"}\n\n'


def test_without_a_position_a_stream_starts_now() -> None:
    """The reader receives only later messages."""

    async def play(test: StreamTest) -> None:
        await test.publish(5)
        reader = await StreamReader(test.stream).start()
        await test.publish(3)
        assert await reader.ids(3) == test.published()[-3:]

    run(play)


def test_resume() -> None:
    """With a position nothing is missed and nothing is repeated."""

    async def play(test: StreamTest) -> None:
        await test.publish(20)
        everything = test.published()
        reader = await StreamReader(test.stream, after=everything[4]).start()
        await test.publish(5)
        everything = test.published()
        assert await reader.ids(len(everything) - 5) == everything[5:]

    run(play)


def test_position_zero_is_the_beginning() -> None:
    """All messages are replayed."""

    async def play(test: StreamTest) -> None:
        await test.publish(10)
        reader = await StreamReader(test.stream, after=0).start()
        assert await reader.ids(10) == test.published()

    run(play)


def test_a_reader_may_be_further_behind_than_the_buffer() -> None:
    """Older messages are read from the journal, in pages."""

    async def play(test: StreamTest) -> None:
        await test.publish(BUFFER_SIZE + 3 * PAGE_SIZE + 7)
        everything = test.published()
        assert len(everything) > BUFFER_SIZE
        reader = await StreamReader(test.stream, after=everything[0]).start()
        assert await reader.ids(len(everything) - 1) == everything[1:]
        await test.publish(2)
        assert await reader.ids(2) == test.published()[-2:]

    run(play)


def test_a_batch_may_be_larger_than_the_buffer() -> None:
    """The buffer has its end, and readers get its start from the journal."""

    async def play(test: StreamTest) -> None:
        await test.publish()
        reader = await StreamReader(test.stream).start()
        first = test.published()[-1]
        many = [StreamMessage(first + n, "agent_updated", "a", "p", b"{}") for n in range(1, BUFFER_SIZE + 100)]
        test.journal.append(many)
        test.stream.publish(many)
        assert await reader.ids(len(many)) == [message.seq for message in many]

    run(play)


def test_a_slow_reader_misses_nothing() -> None:
    """It does not slow down the others, and receives everything when it continues."""

    async def play(test: StreamTest) -> None:
        slow = await StreamReader(test.stream).start()
        fast = await StreamReader(test.stream).start()
        received: list[int] = []
        for _ in range(10):
            await test.publish(700)
            received += await fast.ids(700)
        everything = test.published()
        assert received == everything
        assert await slow.ids(len(everything)) == everything

    run(play)


def test_a_restart_causes_no_gap() -> None:
    """The next daemon replays the messages of the last one."""

    async def play(test: StreamTest) -> None:
        await test.publish(30)
        everything = test.published()
        reader = await StreamReader(test.restarted(), after=everything[9]).start()
        assert await reader.ids(20) == everything[10:]

    run(play)


@pytest.mark.parametrize("ahead", [1, 1_000_000])
def test_an_unknown_position_is_a_gap(ahead: int) -> None:
    """Then the reader receives new messages."""

    async def play(test: StreamTest) -> None:
        await test.publish(3)
        last = test.published()[-1]
        reader = await StreamReader(test.stream, after=last + ahead).start()
        block = await reader.block()
        assert block.startswith(f"id: {last}\nevent: gap\n")
        assert f'"after":{last + ahead},"resumes_at":{last + 1}' in block
        await test.publish()
        assert await reader.ids(1) == test.published()[-1:]

    run(play)


def test_an_event_without_a_message_is_no_gap() -> None:
    """A reader may start after the newest event, also if that is only a test event."""

    async def play(test: StreamTest) -> None:
        await test.publish(3)
        await test.engine.submit(hook(PROBE, START + 50))
        newest = test.journal.last_seq()
        assert newest > test.published()[-1]
        reader = await StreamReader(test.stream, after=newest).start()
        await test.publish()
        assert (await reader.block()).startswith(f"id: {test.published()[-1]}\nevent: agent_updated\n")

    run(play)


def test_pruned_messages_are_a_gap() -> None:
    """The gap contains the position at which the stream resumes."""

    async def play(test: StreamTest) -> None:
        await test.publish(30)
        everything = test.published()
        test.journal.drop_before(everything[20])
        reader = await StreamReader(test.restarted(), after=everything[3]).start()
        block = await reader.block()
        assert block.startswith(f"id: {everything[20] - 1}\nevent: gap\n")
        assert f'"resumes_at":{everything[20]}' in block
        assert await reader.ids(10) == everything[20:]

    run(play)


def test_an_empty_stream_is_a_gap() -> None:
    """Unless the reader has the newest position."""

    async def play(test: StreamTest) -> None:
        await test.publish(5)
        everything = test.published()
        test.journal.drop_before(everything[-1] + 1)
        late = await StreamReader(test.restarted(), after=everything[1]).start()
        assert "event: gap" in await late.block()
        up_to_date = await StreamReader(test.restarted(0.01), after=everything[-1]).start()
        assert await up_to_date.block() == ": heartbeat"

    run(play)


def test_filters_do_not_suppress_gaps() -> None:
    """A reader of one type must know that messages are missing."""

    async def play(test: StreamTest) -> None:
        await test.publish(3)
        matching = StreamFilter(types=frozenset({"turn_created"}))
        reader = await StreamReader(test.stream, matching, after=999).start()
        assert "event: gap" in await reader.block()

    run(play)


def test_heartbeats() -> None:
    """They are sent while there are no messages."""

    async def play(test: StreamTest) -> None:
        reader = await StreamReader(test.stream).start()
        assert [await reader.block() for _ in range(3)] == [": heartbeat"] * 3

    run(play, heartbeat=0.01)


def test_filtered_messages_do_not_delay_heartbeats() -> None:
    """A reader whose filter excludes all messages gets heartbeats."""

    async def play(test: StreamTest) -> None:
        reader = await StreamReader(test.stream, StreamFilter(agent_id="nobody")).start()
        talking = asyncio.create_task(keep_talking(test))
        assert await reader.block() == ": heartbeat"
        talking.cancel()
        await asyncio.gather(talking, return_exceptions=True)

    async def keep_talking(test: StreamTest) -> None:
        while True:
            await test.publish()

    run(play, heartbeat=0.05)


def test_announcements_reach_current_and_later_readers() -> None:
    """Every reader receives the latest once, without a sequence number, unless it asks for something else."""

    async def play(test: StreamTest) -> None:
        reader = await StreamReader(test.stream).start()
        of_one_agent = await StreamReader(test.stream, StreamFilter(agent_id="a")).start()
        test.stream.announce("guards_changed", b"1")
        assert await reader.block() == "event: guards_changed\ndata: 1"
        test.stream.announce("guards_changed", b"2")
        assert await reader.block() == "event: guards_changed\ndata: 2"
        later = await StreamReader(test.stream).start()
        assert await later.block() == "event: guards_changed\ndata: 2"
        await test.publish()
        assert (await reader.ids(1), await later.ids(1)) == (test.published(), test.published())
        test.stream.close()
        assert await of_one_agent.ended()

    run(play)


def test_messages_before_the_end_are_sent() -> None:
    """A reader that is behind receives them before its stream ends."""

    async def play(test: StreamTest) -> None:
        reader = await StreamReader(test.stream).start()
        await test.publish(3)
        test.stream.close()
        assert await reader.ids(3) == test.published()
        assert await reader.ended()

    run(play)


def test_streams_end_when_the_daemon_stops() -> None:
    """Waiting readers, readers that are behind, and new readers."""

    async def play(test: StreamTest) -> None:
        waiting = await StreamReader(test.stream).start()
        ending = asyncio.create_task(waiting.ended())
        await asyncio.sleep(0)
        assert test.stream.readers == 1
        test.stream.close()
        assert await ending
        assert await (await StreamReader(test.stream).start()).ended()
        assert test.stream.readers == 0

    run(play)


@pytest.mark.parametrize(
    ("matching", "received"),
    [
        (StreamFilter(), [1, 2, 3, 4]),
        (StreamFilter(types=frozenset({"state_changed"})), [1, 3]),
        (StreamFilter(types=frozenset({"state_changed", "turn_created"})), [1, 2, 3]),
        (StreamFilter(agent_id="a"), [1, 2]),
        (StreamFilter(project_id="p"), [1, 3]),
        (StreamFilter(types=frozenset({"state_changed"}), agent_id="b", project_id="p"), [3]),
        (StreamFilter(agent_id="nobody"), []),
    ],
)
def test_filters(matching: StreamFilter, received: list[int]) -> None:
    """Types, agent and project, alone and combined."""
    messages = [
        StreamMessage(1, "state_changed", "a", "p", b""),
        StreamMessage(2, "turn_created", "a", "q", b""),
        StreamMessage(3, "state_changed", "b", "p", b""),
        StreamMessage(4, "wait_opened", "b", "q", b""),
    ]
    assert [message.seq for message in messages if matching.matches(message)] == received


# --- a running daemon -------------------------------------------------------------------------------------------------


def fire(daemon: RunningDaemon, session: str, event: str, **fields: object) -> dict[str, str]:
    """Send a hook; the reply."""
    reply = daemon.post(event, {"session_id": session, "cwd": f"/projects/{session}", **fields})
    assert reply.status == 200, reply.body
    answer: dict[str, str] = reply.json()
    return answer


def new_session() -> str:
    """A new session id."""
    return f"stream-{next(_numbers)}"


def test_events_of_a_turn(daemon: RunningDaemon) -> None:
    """Each change has its own event, in order, with increasing numbers."""
    session = new_session()
    ask = {"tool_name": "ExitPlanMode", "tool_input": {"plan": "1. Do it."}, "tool_use_id": "plan"}
    with daemon.stream() as stream:
        agent_id = fire(daemon, session, "session-start")["agent_id"]
        fire(daemon, session, "user-prompt-submit", prompt="Plan it.")
        fire(daemon, session, "pre-tool-use", **ask)
        fire(daemon, session, "post-tool-use", **ask)
        fire(daemon, session, "stop", last_assistant_message="I planned it.")
        fire(daemon, session, "session-end", reason="other")
        messages = stream.until(lambda message: message.type == "agent_ended")
    assert [message.type for message in messages] == [
        "agent_created",
        "state_changed",
        "turn_created",
        "state_changed",
        "turn_created",
        "wait_opened",
        "state_changed",
        "turn_created",
        "wait_closed",
        "state_changed",
        "turn_created",
        "state_changed",
        "agent_ended",
    ]
    numbers = [message.id or 0 for message in messages]
    assert numbers == sorted(set(numbers))
    assert {message.data["agent_id"] for message in messages} == {agent_id}
    assert {message.type for message in messages} <= set(STREAM_TYPES)
    with daemon.stream(last_event_id=numbers[0] - 1) as again:
        replayed = again.until(lambda message: message.id == numbers[-1])
    assert replayed == messages, "what is replayed is what was said"


def test_the_header_takes_precedence_over_the_url(daemon: RunningDaemon) -> None:
    """A browser that reconnects repeats the original URL."""
    session = new_session()
    fire(daemon, session, "session-start")
    with daemon.stream(last_event_id=0) as stream:
        first = stream.next()
    fire(daemon, session, "user-prompt-submit", prompt="Go.")
    last = daemon.status["last_seq"]
    headers = {**daemon.credentials("read"), "Last-Event-ID": str(last - 1)}
    with Stream(daemon.port, "/api/events/stream?last_event_id=0", headers) as stream:
        assert stream.next().id == last
    with Stream(daemon.port, "/api/events/stream?last_event_id=0", daemon.credentials("read")) as stream:
        assert stream.next() == first


def test_filters_in_the_url(daemon: RunningDaemon) -> None:
    """Readers receive only matching messages."""
    mine, other = new_session(), new_session()
    agent_id = fire(daemon, mine, "session-start")["agent_id"]
    project_id = daemon.agent(agent_id)["project"]["id"]
    fire(daemon, other, "session-start")
    with (
        daemon.stream(agent_id=agent_id) as of_agent,
        daemon.stream(project_id=project_id) as of_project,
        daemon.stream(types="turn_created,turn_updated") as of_types,
    ):
        for session in (other, mine):
            fire(daemon, session, "user-prompt-submit", prompt=f"Go, {session}.")
        for stream in (of_agent, of_project):
            assert stream.next().data["agent_id"] == agent_id
            assert stream.next().data["text"] == f"Go, {mine}."
        assert [of_types.next().data["text"] for _ in range(2)] == [f"Go, {other}.", f"Go, {mine}."]


def test_a_disconnected_reader_is_removed(daemon: RunningDaemon) -> None:
    """Closed connections use no resources."""

    def readers() -> str:
        return str(daemon.get("/health", scope=None).json()["parts"]["stream"]["detail"])

    wait_until(lambda: readers() == "0 readers", "the end of the readers of other tests")
    with contextlib.ExitStack() as streams:
        for _ in range(5):
            streams.enter_context(daemon.stream())
        assert readers() == "5 readers"
    wait_until(lambda: readers() == "0 readers", "the end of all readers")


def test_heartbeats_of_a_running_daemon(tmp_path: Path) -> None:
    """The interval is a setting."""
    with running_daemon(tmp_path, heartbeat_seconds=0.05) as daemon, daemon.stream() as stream:
        assert [stream.comment() for _ in range(3)] == ["heartbeat"] * 3


def test_a_blocked_reader_does_not_block_others(tmp_path: Path) -> None:
    """Hooks are answered and other readers receive messages; later the blocked reader receives them, too."""
    text = "x" * 20_000
    with running_daemon(tmp_path) as daemon:
        with daemon.stream() as blocked, daemon.stream() as reader, daemon.client() as client:
            for number in range(400):
                body = {"session_id": "one", "cwd": "/projects/one", "prompt": f"{number} {text}"}
                assert client.post("user-prompt-submit", body).status == 200
            last = daemon.status["last_seq"]
            received = reader.until(lambda message: message.id == last)
            assert blocked.until(lambda message: message.id == last) == received
        assert daemon.stop() == 0


def test_a_blocked_reader_does_not_delay_the_stop(tmp_path: Path) -> None:
    """Even with a full buffer."""
    text = "x" * 50_000
    with running_daemon(tmp_path) as daemon:
        with daemon.stream(), daemon.client() as client:
            for number in range(300):
                body = {"session_id": "one", "cwd": "/projects/one", "prompt": f"{number} {text}"}
                assert client.post("user-prompt-submit", body).status == 200
            assert daemon.stop() == 0
        assert not (tmp_path / "headspace.db-wal").exists()
        assert not (tmp_path / "run" / "daemon.json").exists()


def test_every_type_can_be_filtered(daemon: RunningDaemon) -> None:
    """The types of the stream are the types of the filter."""
    with daemon.stream(types=",".join(STREAM_TYPES)) as stream:
        fire(daemon, new_session(), "session-start")
        assert stream.next().type == "agent_created"


def test_data_is_one_line_of_json(daemon: RunningDaemon) -> None:
    """Line breaks and separators in a text never break a message."""
    session, text = new_session(), "one\ntwo\r\nthree\u2028four\x85five"
    fire(daemon, session, "session-start")
    with daemon.stream(types="turn_created") as stream:
        fire(daemon, session, "user-prompt-submit", prompt=text)
        assert stream.next().data["text"] == text
    assert b"\n" not in msgspec.json.encode({"text": text})
