"""The spool: everything in it is taken once, in order, whatever lies there and whenever the daemon dies."""

import asyncio
import json
import os
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from claude_headspace.errors import JournalUnavailable
from claude_headspace.inputs.receive.receiver import HookReceiver
from claude_headspace.inputs.receive.spool import (
    ABANDONED_AFTER,
    MAX_REJECTED,
    Spool,
    SpoolReader,
    list_files,
    read_file,
)
from claude_headspace.kernel.envelope import SECOND, Envelope, Observations
from claude_headspace.ports import Received
from claude_headspace.testing import START, ManualClock
from tests.engines import engine_over
from tests.journals import TemporaryJournal

FIRED = START / SECOND - 100
LARGEST = 100_000


async def nowhere(directory: str | None) -> Observations:
    """A machine where every directory is its own project."""
    return Observations(project_root=directory)


async def until(condition: Callable[[], object]) -> None:
    """Ask until it is so, within a limit that only a hang reaches."""
    for _ in range(60_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise TimeoutError


class Room:
    """A spool with a journal behind it."""

    def __init__(self, folder: Path, journal: TemporaryJournal | None = None) -> None:
        self.folder = folder
        self.spool = Spool(folder)
        self.journal = journal or TemporaryJournal()
        self.taken: list[Envelope] = []
        self.trouble: Exception | None = None
        self.refusals: list[str] = []
        self.clock = ManualClock()

    def put(self, name: str, event: str = "Stop", payload: str = '{"session_id": "one"}', **notes: str) -> Path:
        """Put a file into the spool, as the shim does."""
        path = self.folder / name
        path.write_text(json.dumps({"event": event, **notes}) + "\n" + payload + "\n")
        return path

    def play(self, story: Callable[[SpoolReader], Awaitable[None]]) -> None:
        """Tell a story of a spool whose engine runs."""

        async def run() -> None:
            names = iter(f"agent-{number}" for number in range(1_000))
            engine = engine_over(self.journal, names.__next__)

            async def process(received: Received) -> bool:
                if self.trouble is not None:
                    raise self.trouble
                await engine.submit(received.envelope, event=received.event)
                self.taken.append(received.envelope)
                return True

            receiver = HookReceiver("laptop", self.clock, nowhere)
            engine.start()
            await story(SpoolReader(self.spool, receiver, process, self.clock, LARGEST, self))
            await engine.stop()

        asyncio.run(run())

    def stored(self, name: str, _seconds: float) -> None:
        """Count a stored hook."""
        assert name in self.names

    def refused(self, code: str) -> None:
        """Count a refused hook."""
        self.refusals.append(code)

    def drain(self) -> None:
        """Empty the spool once."""
        self.play(lambda spool: spool.drain())

    @property
    def names(self) -> list[str]:
        """What was taken, in order."""
        return [envelope.name for envelope in self.taken]

    @property
    def rejected(self) -> list[str]:
        """What was set aside."""
        folder = self.folder / "rejected"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.fixture
def room(tmp_path: Path) -> Room:
    """An empty spool."""
    return Room(tmp_path)


def test_an_empty_spool_is_no_news(room: Room) -> None:
    """Nothing there, nothing taken; a folder that is missing is an empty one."""
    room.drain()
    room.folder.rmdir()
    room.drain()
    assert room.taken == []


def test_what_was_told_becomes_an_event(room: Room) -> None:
    """Payload and notes arrive as over HTTP, and the time is the shim's."""
    room.put(
        f"{FIRED:.6f}-1-1.json",
        "PreToolUse",
        '{"session_id": "one",  "tool_name": "Bash"}',
        **{"fired-at": f"{FIRED:.6f}", "delivery-id": "d1", "client-pid": "4711", "tmux-pane": "%3", "wrapper-id": "w"},
    )
    room.drain()
    [envelope] = room.taken
    assert envelope.name == "PreToolUse"
    assert envelope.payload == b'{"session_id": "one",  "tool_name": "Bash"}'
    assert envelope.fired_at == round(FIRED * SECOND)
    assert envelope.received_at == START
    assert envelope.delivery_id == "d1"
    context = envelope.observations
    assert (context.client_pid, context.tmux_pane, context.wrapper_id, context.tmux_session) == (4711, "%3", "w", None)
    assert list(room.folder.iterdir()) == []


def test_events_come_in_the_order_in_which_they_fired(room: Room) -> None:
    """Names with a time sort by it, those without by the time of their file."""
    for name, event in (("3.5-9-1.json", "Third"), ("1.25-7-1.json", "First"), ("2.125-8-1.json", "Second")):
        room.put(name, event)
    os.utime(room.put("0-1-1.json", "Between"), (3, 3))
    room.drain()
    assert room.names == ["First", "Second", "Between", "Third"]


def test_an_old_bash_tells_the_time_by_its_file(room: Room) -> None:
    """Without a time in the notes, the event fired when its file was written."""
    os.utime(room.put("0-1-1.json"), (FIRED, FIRED))
    room.drain()
    assert abs(room.taken[0].fired_at - FIRED * SECOND) < 10


def test_an_event_is_taken_once_though_the_daemon_died_before_it_removed_the_file(room: Room) -> None:
    """The same file a second time, after a restart, is the same delivery."""
    path = room.put("1.5-1-1.json", **{"delivery-id": "d1"})
    text = path.read_text()
    room.drain()
    path.write_text(text)
    again = Room(room.folder, room.journal)
    again.drain()
    assert len(room.journal.events()) == 1
    assert list(room.folder.iterdir()) == []


def test_a_file_without_a_delivery_id_is_known_by_its_name(room: Room) -> None:
    """Nothing in the spool can count twice."""
    path = room.put("1.5-1-1.json")
    text = path.read_text()
    room.drain()
    path.write_text(text)
    room.drain()
    assert len(room.journal.events()) == 1


def test_files_stay_while_the_journal_cannot_be_written(room: Room) -> None:
    """Nothing is lost or set aside because the database is away; it is taken when it is back."""
    room.put("1.5-1-1.json", "First")
    room.put("2.5-1-1.json", "Second")
    room.trouble = JournalUnavailable("journal_unavailable", "The disk is full.", "Make room.")
    told: list[str | None] = []

    async def story(spool: SpoolReader) -> None:
        await spool.drain()
        told.append(spool.failure)
        room.trouble = None
        await spool.drain()
        told.append(spool.failure)

    room.play(story)
    assert told == ["The disk is full.", None]
    assert room.names == ["First", "Second"]
    assert room.rejected == []


@pytest.mark.parametrize(
    "content",
    [
        b"no notes\n{}\n",
        b'["a list"]\n{}\n',
        b'{"event": 7}\n{"session_id": "one"}\n',
        b'{"event": "Stop"}\nno json\n',
        b'{"event": "Stop"}\n{"no": "session"}\n',
        b'{"event": "../etc"}\n{"session_id": "one"}\n',
        b'{"notes": "without an event"}\n{"session_id": "one"}\n',
        b'{"event": "Stop"}\n{"session_id": "' + b"x" * LARGEST * 2 + b'"}\n',
        b"\xff\xfe\n\0\n",
    ],
)
def test_what_cannot_be_understood_is_set_aside(room: Room, content: bytes) -> None:
    """It is kept for a person to look at, counted, and does not stop what comes after it."""
    bad = room.folder / "1.0-1-1.json"
    bad.write_bytes(content)
    room.put("2.0-1-1.json", "Good")
    room.drain()
    assert room.names == ["Good"]
    assert room.rejected == ["1.0-1-1.json"]
    assert (room.folder / "rejected" / bad.name).read_bytes() == content
    assert room.refusals == ["spool"]
    assert stat.S_IMODE((room.folder / "rejected").stat().st_mode) == 0o700


def test_broken_text_is_repaired_because_nobody_sends_it_again(room: Room) -> None:
    """Halves of characters and bytes that are no text become the sign for that, and the journal says so."""
    content = b'{"event": "Stop"}\n{"session_id": "one", "a": "\\ud83d", "b": "\xff"}\n'
    (room.folder / "1.0-1-1.json").write_bytes(content)
    room.drain()
    assert json.loads(room.taken[0].payload) == {"session_id": "one", "a": "\ufffd", "b": "\ufffd"}
    [stored] = room.journal.events()
    assert stored.anomaly == "the text was broken and has been repaired"


def test_a_file_that_is_being_written_is_left_alone(room: Room) -> None:
    """What has no end yet is taken when it has; after a minute its writer is gone and it is set aside."""
    path = room.folder / "1.0-1-1.json"
    path.write_bytes(b'{"event": "Stop"}\n{"session_id": "one"')
    os.utime(path, (START / SECOND, START / SECOND))
    room.drain()
    assert (room.names, room.rejected, path.exists()) == ([], [], True)
    with path.open("ab") as file:
        file.write(b"}\n")
    room.drain()
    assert room.names == ["Stop"]

    path.write_bytes(b'{"event": "Stop"}\n{"session_id": "one"')
    os.utime(path, (START / SECOND, START / SECOND))
    room.clock.now += ABANDONED_AFTER + SECOND
    room.drain()
    assert (room.names, room.rejected) == (["Stop"], [path.name])


def test_links_pipes_and_folders_are_not_opened(room: Room, tmp_path: Path) -> None:
    """Only plain files are events; a pipe does not make anybody wait."""
    secret = tmp_path.parent / "secret"
    secret.write_text('{"event": "Stop"}\n{"session_id": "one"}\n')
    (room.folder / "1.0-1-1.json").symlink_to(secret)
    os.mkfifo(room.folder / "2.0-1-1.json")
    room.drain()
    assert room.taken == []
    assert room.rejected == ["1.0-1-1.json", "2.0-1-1.json"]
    assert secret.exists()


def test_many_files_are_taken_in_order(room: Room) -> None:
    """A thousand events of a long pause come in one after the other."""
    for number in range(1_000):
        room.put(f"{number + 0.5}-1-1.json", f"Event{number}")
    room.drain()
    assert room.names == [f"Event{number}" for number in range(1_000)]


def test_what_is_set_aside_does_not_grow_without_end(room: Room) -> None:
    """Of those that could not be read the newest thousand are kept."""
    folder = room.folder / "rejected"
    folder.mkdir()
    for number in range(MAX_REJECTED):
        (folder / f"{number:04}.json").touch()
    (room.folder / "9999.5-1-1.json").write_text("bad\nbad\n")
    room.drain()
    assert len(room.rejected) == MAX_REJECTED
    assert "0000.json" not in room.rejected
    assert "9999.5-1-1.json" in room.rejected


def test_a_full_spool_is_opened_when_it_is_empty(room: Room) -> None:
    """The mark goes with the last event, and what was lost stays counted."""
    room.put("1.5-1-1.json")
    (room.folder / "full").touch()
    (room.folder / "lost").write_text("...")

    async def story(spool: SpoolReader) -> None:
        await spool.drain()
        assert spool.counts().lost == 3
        assert "3 lost" in spool.health()[2]

    room.play(story)
    assert not (room.folder / "full").exists()


def test_it_tells_how_it_is_doing(room: Room) -> None:
    """Depth, what was set aside, what was taken and when."""
    room.put("1.5-1-1.json")
    (room.folder / "2.5-1-1.json").write_text("bad\nbad\n")

    async def story(spool: SpoolReader) -> None:
        assert spool.counts()[:2] == (2, 0)
        assert spool.health() == (False, None, "2 waiting")
        await spool.drain()
        assert spool.counts() == (0, 1, 0, 1, START)
        assert spool.health() == (False, None, "empty, 1 set aside")

    room.play(story)


def test_it_is_woken_by_what_is_put_in(room: Room) -> None:
    """A running spool takes what was there, and then what comes, without being asked."""

    async def story(spool: SpoolReader) -> None:
        room.put("1.5-1-1.json", "Before")
        spool.start()
        await spool.first_drain(60)
        assert room.names == ["Before"]
        room.put("2.5-1-1.json", "After")
        await until(lambda: len(room.taken) == 2)
        assert spool.running
        await spool.stop()
        assert not spool.running

    room.play(story)
    assert room.names == ["Before", "After"]


def test_a_failure_of_one_round_does_not_end_it(room: Room) -> None:
    """Whatever goes wrong is told and tried again."""
    room.put("1.5-1-1.json")
    room.trouble = RuntimeError("no idea")

    async def story(spool: SpoolReader) -> None:
        spool.start()
        await until(lambda: spool.failure)
        assert spool.failure == "no idea"
        room.trouble = None
        await until(lambda: room.taken)
        await spool.stop()

    room.play(story)
    assert room.names == ["Stop"]


def test_order_and_reading_forgive_files_that_vanish(tmp_path: Path) -> None:
    """Another hand may have taken a file meanwhile."""
    assert list_files(tmp_path / "nowhere") == []
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "gone.json", LARGEST, START)


def test_whoever_asks_does_not_overtake_what_was_told(room: Room) -> None:
    """What lies in the spool when a hook asks is taken first; with nothing there nobody waits."""

    async def story(spool: SpoolReader) -> None:
        spool.start()
        await spool.first_drain(60)
        await room.spool.wait_until_drained()
        room.put("1.5-1-1.json", "Told")
        await room.spool.wait_until_drained(60)
        assert room.names == ["Told"]
        await spool.stop()

    room.play(story)
