"""The stream: everything that was committed, in its order, to every reader, however slow and however late."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from itertools import count
from pathlib import Path

import msgspec
import pytest

from claude_headspace.journal import rows, schema
from claude_headspace.journal.bulk_insert import insert_rows
from claude_headspace.kernel.react import STREAM_TYPES
from claude_headspace.ports import StreamMessage
from claude_headspace.surfaces.live.stream import BUFFER_SIZE, PAGE_SIZE, EventStream, StreamFilter, frame
from claude_headspace.testing import START, hook
from tests.engines import engine_over
from tests.journals import TemporaryJournal
from tests.support import RunningDaemon, Stream, running_daemon, wait_until

_numbers = count(1)
EVERYTHING = StreamFilter()


# --- the broadcaster alone --------------------------------------------------------------------------------------------


class Kept(TemporaryJournal):
    """A journal of which old announcements can be thrown away, as retention does."""

    def forget_before(self, before: int) -> None:
        """Forget the announcements before a number."""
        with self.transaction() as batch:
            batch.connection.execute(schema.stream.delete().where(schema.stream.c.seq < before))

    def append(self, messages: Sequence[StreamMessage]) -> None:
        """Store announcements."""
        with self.transaction() as batch:
            insert_rows(batch.connection, schema.stream, [rows.stream_row(message) for message in messages])


class Station:
    """A broadcaster over a journal, and somebody who has news."""

    def __init__(self, heartbeat: float = 60) -> None:
        self.journal = Kept()
        self.broadcaster = EventStream(self.journal, lambda: heartbeat, 0)
        self.engine = engine_over(self.journal, iter(map(str, count())).__next__, self.broadcaster.publish)
        self.sent = 0

    async def tell(self, times: int = 1, session: str = "session-1") -> None:
        """Let so many events happen."""
        await asyncio.gather(*(self._submit(session) for _ in range(times)))

    async def _submit(self, session: str) -> None:
        self.sent += 1
        await self.engine.submit(hook("Notification", START + self.sent, session_id=session, cwd=f"/{session}"))

    def announced(self) -> list[int]:
        """The numbers of everything that was announced."""
        return [message.seq for message in self.journal.stream(0, 1_000_000)]

    def restarted(self, heartbeat: float = 60) -> EventStream:
        """The broadcaster of the next daemon on the same journal."""
        return EventStream(self.journal, lambda: heartbeat, self.journal.counts().last_seq)


def on_air(play: Callable[[Station], Awaitable[None]], heartbeat: float = 60) -> None:
    """Play with a running station."""

    async def main() -> None:
        station = Station(heartbeat)
        station.engine.start()
        async with asyncio.timeout(60):
            await play(station)
            await station.engine.stop()

    asyncio.run(main())


class Listener:
    """Reads a stream and takes it apart."""

    def __init__(self, broadcaster: EventStream, wanted: StreamFilter = EVERYTHING, after: int | None = None) -> None:
        self._source: AsyncIterator[bytes] = broadcaster.read(wanted, after)
        self._text = ""

    async def start(self) -> "Listener":
        """Connect."""
        assert await self.block() == "retry: 1000\n: connected"
        return self

    async def block(self) -> str:
        """What stands before the next empty line."""
        while "\n\n" not in self._text:
            self._text += (await anext(self._source)).decode()
        block, _, self._text = self._text.partition("\n\n")
        return block

    async def ids(self, number: int) -> list[int]:
        """The numbers of the next so many events."""
        found: list[int] = []
        while len(found) < number:
            if match := re.match(r"id: (\d+)\nevent: (?!gap)", await self.block()):
                found.append(int(match[1]))
        return found

    async def ended(self) -> bool:
        """Whether the stream ends now."""
        return await anext(self._source, None) is None


def test_an_announcement_is_written_as_browsers_read_it() -> None:
    """Number, name and data, one line each."""
    message = StreamMessage(7, "state_changed", "agent", "project", b'{"text":"two\\nlines"}')
    assert frame(message) == b'id: 7\nevent: state_changed\ndata: {"text":"two\\nlines"}\n\n'


def test_a_reader_hears_what_comes_after_it_began() -> None:
    """Without a position a stream begins now."""

    async def play(station: Station) -> None:
        await station.tell(5)
        listener = await Listener(station.broadcaster).start()
        await station.tell(3)
        assert await listener.ids(3) == station.announced()[-3:]

    on_air(play)


def test_a_reader_comes_back_where_it_was() -> None:
    """With a position nothing is missed and nothing comes twice."""

    async def play(station: Station) -> None:
        await station.tell(20)
        everything = station.announced()
        listener = await Listener(station.broadcaster, after=everything[4]).start()
        await station.tell(5)
        everything = station.announced()
        assert await listener.ids(len(everything) - 5) == everything[5:]

    on_air(play)


def test_zero_is_the_beginning() -> None:
    """Position 0 replays everything that there is."""

    async def play(station: Station) -> None:
        await station.tell(10)
        listener = await Listener(station.broadcaster, after=0).start()
        assert await listener.ids(10) == station.announced()

    on_air(play)


def test_a_reader_may_be_further_behind_than_the_ring() -> None:
    """What is no longer in memory is read from the journal, in pages, and goes over into what is."""

    async def play(station: Station) -> None:
        await station.tell(BUFFER_SIZE + 3 * PAGE_SIZE + 7)
        everything = station.announced()
        assert len(everything) > BUFFER_SIZE
        listener = await Listener(station.broadcaster, after=everything[0]).start()
        assert await listener.ids(len(everything) - 1) == everything[1:]
        await station.tell(2)
        assert await listener.ids(2) == station.announced()[-2:]

    on_air(play)


def test_a_batch_may_be_larger_than_the_ring() -> None:
    """Then the ring holds its end, and readers get its beginning from the journal."""

    async def play(station: Station) -> None:
        await station.tell()
        listener = await Listener(station.broadcaster).start()
        first = station.announced()[-1]
        many = [StreamMessage(first + n, "agent_updated", "a", "p", b"{}") for n in range(1, BUFFER_SIZE + 100)]
        station.journal.append(many)
        station.broadcaster.publish(many)
        assert await listener.ids(len(many)) == [message.seq for message in many]

    on_air(play)


def test_a_slow_reader_misses_nothing() -> None:
    """Who does not read for a long time costs the others nothing, and finds everything when it goes on."""

    async def play(station: Station) -> None:
        slow = await Listener(station.broadcaster).start()
        fast = await Listener(station.broadcaster).start()
        heard: list[int] = []
        for _ in range(10):
            await station.tell(700)
            heard += await fast.ids(700)
        everything = station.announced()
        assert heard == everything
        assert await slow.ids(len(everything)) == everything

    on_air(play)


def test_the_next_daemon_replays_what_the_last_one_announced() -> None:
    """A restart is no gap."""

    async def play(station: Station) -> None:
        await station.tell(30)
        everything = station.announced()
        listener = await Listener(station.restarted(), after=everything[9]).start()
        assert await listener.ids(20) == everything[10:]

    on_air(play)


@pytest.mark.parametrize("ahead", [1, 1_000_000])
def test_a_number_that_was_never_given_is_a_gap(ahead: int) -> None:
    """A reader of another home is told so, and then hears what is new."""

    async def play(station: Station) -> None:
        await station.tell(3)
        last = station.announced()[-1]
        listener = await Listener(station.broadcaster, after=last + ahead).start()
        block = await listener.block()
        assert block.startswith(f"id: {last}\nevent: gap\n")
        assert f'"after":{last + ahead},"resumes_at":{last + 1}' in block
        await station.tell()
        assert await listener.ids(1) == station.announced()[-1:]

    on_air(play)


def test_what_is_no_longer_kept_is_a_gap() -> None:
    """A reader that was away too long is told from where on it hears again."""

    async def play(station: Station) -> None:
        await station.tell(30)
        everything = station.announced()
        station.journal.forget_before(everything[20])
        listener = await Listener(station.restarted(), after=everything[3]).start()
        block = await listener.block()
        assert block.startswith(f"id: {everything[20] - 1}\nevent: gap\n")
        assert f'"resumes_at":{everything[20]}' in block
        assert await listener.ids(10) == everything[20:]

    on_air(play)


def test_when_nothing_is_kept_that_is_a_gap_too() -> None:
    """Not even an empty stream is silent about what is missing; who has the last number misses nothing."""

    async def play(station: Station) -> None:
        await station.tell(5)
        everything = station.announced()
        station.journal.forget_before(everything[-1] + 1)
        late = await Listener(station.restarted(), after=everything[1]).start()
        assert "event: gap" in await late.block()
        up_to_date = await Listener(station.restarted(0.01), after=everything[-1]).start()
        assert await up_to_date.block() == ": heartbeat"

    on_air(play)


def test_a_gap_is_told_whatever_the_filter() -> None:
    """Who wants to hear only of turns must know that some are missing."""

    async def play(station: Station) -> None:
        await station.tell(3)
        wanted = StreamFilter(types=frozenset({"turn_created"}))
        listener = await Listener(station.broadcaster, wanted, after=999).start()
        assert "event: gap" in await listener.block()

    on_air(play)


def test_silence_is_broken_by_heartbeats() -> None:
    """A reader knows that the line is alive."""

    async def play(station: Station) -> None:
        listener = await Listener(station.broadcaster).start()
        assert [await listener.block() for _ in range(3)] == [": heartbeat"] * 3

    on_air(play, heartbeat=0.01)


def test_news_for_others_do_not_keep_heartbeats_back() -> None:
    """A reader whose filter lets nothing through hears that the line is alive all the same."""

    async def play(station: Station) -> None:
        listener = await Listener(station.broadcaster, StreamFilter(agent_id="nobody")).start()
        talking = asyncio.create_task(keep_talking(station))
        assert await listener.block() == ": heartbeat"
        talking.cancel()
        await asyncio.gather(talking, return_exceptions=True)

    async def keep_talking(station: Station) -> None:
        while True:
            await station.tell()

    on_air(play, heartbeat=0.05)


def test_what_was_announced_before_the_end_is_told_before_it() -> None:
    """A reader that did not come to hear it yet hears it before its stream ends."""

    async def play(station: Station) -> None:
        listener = await Listener(station.broadcaster).start()
        await station.tell(3)
        station.broadcaster.close()
        assert await listener.ids(3) == station.announced()
        assert await listener.ended()

    on_air(play)


def test_streams_end_when_the_daemon_stops() -> None:
    """Those who wait, those who have something to read, and those who come later."""

    async def play(station: Station) -> None:
        waiting = await Listener(station.broadcaster).start()
        ending = asyncio.create_task(waiting.ended())
        await asyncio.sleep(0)
        assert station.broadcaster.readers == 1
        station.broadcaster.close()
        assert await ending
        assert await (await Listener(station.broadcaster).start()).ended()
        assert station.broadcaster.readers == 0

    on_air(play)


@pytest.mark.parametrize(
    ("wanted", "heard"),
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
def test_filters_pick_what_is_wanted(wanted: StreamFilter, heard: list[int]) -> None:
    """Types, agent and project, alone and together."""
    messages = [
        StreamMessage(1, "state_changed", "a", "p", b""),
        StreamMessage(2, "turn_created", "a", "q", b""),
        StreamMessage(3, "state_changed", "b", "p", b""),
        StreamMessage(4, "wait_opened", "b", "q", b""),
    ]
    assert [message.seq for message in messages if wanted.matches(message)] == heard


# --- a real daemon ----------------------------------------------------------------------------------------------------


def fire(daemon: RunningDaemon, session: str, event: str, **fields: object) -> dict[str, str]:
    """Send a hook; the reply."""
    reply = daemon.post(event, {"session_id": session, "cwd": f"/projects/{session}", **fields})
    assert reply.status == 200, reply.body
    answer: dict[str, str] = reply.json()
    return answer


def new_session() -> str:
    """A session that nobody had before."""
    return f"stream-{next(_numbers)}"


def test_a_whole_turn_is_told_by_name(daemon: RunningDaemon) -> None:
    """Each thing that happens has its own event, in the order in which it happened, with rising numbers."""
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


def test_the_number_in_the_header_is_newer_than_the_one_in_the_address(daemon: RunningDaemon) -> None:
    """A browser that reconnects repeats its first address; what it heard since must not come again."""
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


def test_filters_of_the_address(daemon: RunningDaemon) -> None:
    """Readers hear only of what they asked for."""
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


def test_a_reader_that_leaves_is_forgotten(daemon: RunningDaemon) -> None:
    """Streams that are hung up cost nothing."""

    def readers() -> str:
        return str(daemon.get("/health", scope=None).json()["parts"]["stream"]["detail"])

    wait_until(lambda: readers() == "0 readers", "the end of the readers of other tests")
    with contextlib.ExitStack() as streams:
        for _ in range(5):
            streams.enter_context(daemon.stream())
        assert readers() == "5 readers"
    wait_until(lambda: readers() == "0 readers", "the end of all readers")


def test_a_real_daemon_beats_its_heart(tmp_path: Path) -> None:
    """The pause between heartbeats is a setting."""
    with running_daemon(tmp_path, heartbeat_seconds=0.05) as daemon, daemon.stream() as stream:
        assert [stream.comment() for _ in range(3)] == ["heartbeat"] * 3


def test_a_reader_that_does_not_read_holds_nobody_up(tmp_path: Path) -> None:
    """While one reader sleeps with a full buffer, hooks are answered and others hear; then it hears everything too."""
    text = "x" * 20_000
    with running_daemon(tmp_path) as daemon:
        with daemon.stream() as sleeper, daemon.stream() as listener, daemon.client() as client:
            for number in range(400):
                body = {"session_id": "one", "cwd": "/projects/one", "prompt": f"{number} {text}"}
                assert client.post("user-prompt-submit", body).status == 200
            last = daemon.status["last_seq"]
            heard = listener.until(lambda message: message.id == last)
            assert sleeper.until(lambda message: message.id == last) == heard
        assert daemon.stop() == 0


def test_a_stop_does_not_wait_for_a_reader_that_does_not_read(tmp_path: Path) -> None:
    """Even a reader with a full buffer cannot keep the daemon from stopping cleanly."""
    text = "x" * 50_000
    with running_daemon(tmp_path) as daemon:
        with daemon.stream(), daemon.client() as client:
            for number in range(300):
                body = {"session_id": "one", "cwd": "/projects/one", "prompt": f"{number} {text}"}
                assert client.post("user-prompt-submit", body).status == 200
            assert daemon.stop() == 0
        assert not (tmp_path / "headspace.db-wal").exists()
        assert not (tmp_path / "run" / "daemon.json").exists()


def test_every_type_is_known_to_the_filter(daemon: RunningDaemon) -> None:
    """The names that the stream uses are the names that may be asked for."""
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
