"""The spool: every event is processed once and in order, also after a crash."""

import asyncio
import json
import os
import socket
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
MAX_PAYLOAD_BYTES = 100_000


async def no_repository(directory: str | None) -> Observations:
    """Every directory is its own project."""
    return Observations(project_root=directory)


async def until(condition: Callable[[], object]) -> None:
    """Wait until a condition holds, with a limit that only a hang reaches."""
    for _ in range(60_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise TimeoutError


class SpoolWithJournal:
    """A spool with a journal."""

    def __init__(self, folder: Path, journal: TemporaryJournal | None = None) -> None:
        self.folder = folder
        self.spool = Spool(folder)
        self.journal = journal or TemporaryJournal()
        self.processed: list[Envelope] = []
        self.error: Exception | None = None
        self.refusals: list[str] = []
        self.clock = ManualClock()

    def put(self, name: str, event: str = "Stop", payload: str = '{"session_id": "one"}', **notes: str) -> Path:
        """Put a file into the spool, as the hook script does."""
        path = self.folder / name
        path.write_text(json.dumps({"event": event, **notes}) + "\n" + payload + "\n")
        return path

    def run(self, test: Callable[[SpoolReader], Awaitable[None]]) -> None:
        """Run a test with a running engine."""

        async def main() -> None:
            names = iter(f"agent-{number}" for number in range(1_000))
            engine = engine_over(self.journal, names.__next__)

            async def process(received: Received) -> bool:
                if self.error is not None:
                    raise self.error
                await engine.submit(received.envelope, event=received.event)
                self.processed.append(received.envelope)
                return True

            receiver = HookReceiver("laptop", self.clock, no_repository)
            engine.start()
            await test(SpoolReader(self.spool, receiver, process, self.clock, MAX_PAYLOAD_BYTES, self))
            await engine.stop()

        asyncio.run(main())

    def stored(self, name: str, _seconds: float) -> None:
        """Count a stored hook."""
        assert name in self.names

    def refused(self, code: str) -> None:
        """Count a refused hook."""
        self.refusals.append(code)

    def drain(self) -> None:
        """Drain the spool once."""
        self.run(lambda spool: spool.drain())

    @property
    def names(self) -> list[str]:
        """The names of the processed events, in order."""
        return [envelope.name for envelope in self.processed]

    @property
    def rejected(self) -> list[str]:
        """The names of the rejected files."""
        folder = self.folder / "rejected"
        return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.fixture
def spooled(tmp_path: Path) -> SpoolWithJournal:
    """An empty spool."""
    return SpoolWithJournal(tmp_path)


def test_an_empty_spool(spooled: SpoolWithJournal) -> None:
    """Nothing is processed. A missing directory counts as empty."""
    spooled.drain()
    spooled.folder.rmdir()
    spooled.drain()
    assert spooled.processed == []


def test_a_file_becomes_an_event(spooled: SpoolWithJournal) -> None:
    """Payload and notes are used as over HTTP, and the fire time is that of the hook script."""
    spooled.put(
        f"{FIRED:.6f}-1-1.json",
        "PreToolUse",
        '{"session_id": "one",  "tool_name": "Bash"}',
        **{"fired-at": f"{FIRED:.6f}", "delivery-id": "d1", "client-pid": "4711", "tmux-pane": "%3", "wrapper-id": "w"},
    )
    spooled.drain()
    [envelope] = spooled.processed
    assert envelope.name == "PreToolUse"
    assert envelope.payload == b'{"session_id": "one",  "tool_name": "Bash"}'
    assert envelope.fired_at == round(FIRED * SECOND)
    assert envelope.received_at == START
    assert envelope.delivery_id == "d1"
    context = envelope.observations
    assert (context.client_pid, context.tmux_pane, context.wrapper_id, context.tmux_session) == (4711, "%3", "w", None)
    assert list(spooled.folder.iterdir()) == []


def test_events_are_processed_in_the_order_in_which_they_fired(spooled: SpoolWithJournal) -> None:
    """By the time in the file name, or else by the modification time."""
    for name, event in (("3.5-9-1.json", "Third"), ("1.25-7-1.json", "First"), ("2.125-8-1.json", "Second")):
        spooled.put(name, event)
    os.utime(spooled.put("0-1-1.json", "Between"), (3, 3))
    spooled.drain()
    assert spooled.names == ["First", "Second", "Between", "Third"]


def test_without_a_fire_time_the_modification_time_counts(spooled: SpoolWithJournal) -> None:
    """An old bash has no precise clock."""
    os.utime(spooled.put("0-1-1.json"), (FIRED, FIRED))
    spooled.drain()
    assert abs(spooled.processed[0].fired_at - FIRED * SECOND) < 10


def test_a_file_that_was_not_removed_before_a_crash_is_one_event(spooled: SpoolWithJournal) -> None:
    """Read again after a restart, it has the same delivery id."""
    path = spooled.put("1.5-1-1.json", **{"delivery-id": "d1"})
    text = path.read_text()
    spooled.drain()
    path.write_text(text)
    again = SpoolWithJournal(spooled.folder, spooled.journal)
    again.drain()
    assert len(spooled.journal.events()) == 1
    assert list(spooled.folder.iterdir()) == []


def test_without_a_delivery_id_the_file_name_counts(spooled: SpoolWithJournal) -> None:
    """No file counts twice."""
    path = spooled.put("1.5-1-1.json")
    text = path.read_text()
    spooled.drain()
    path.write_text(text)
    spooled.drain()
    assert len(spooled.journal.events()) == 1


def test_files_stay_while_the_journal_is_unavailable(spooled: SpoolWithJournal) -> None:
    """Nothing is lost or rejected; the files are processed when the database is available again."""
    spooled.put("1.5-1-1.json", "First")
    spooled.put("2.5-1-1.json", "Second")
    spooled.error = JournalUnavailable("journal_unavailable", "The disk is full.", "Make spooled.")
    failures: list[str | None] = []

    async def test(spool: SpoolReader) -> None:
        await spool.drain()
        failures.append(spool.failure)
        spooled.error = None
        await spool.drain()
        failures.append(spool.failure)

    spooled.run(test)
    assert failures == ["The disk is full.", None]
    assert spooled.names == ["First", "Second"]
    assert spooled.rejected == []


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
        b'{"event": "Stop"}\n{"session_id": "' + b"x" * MAX_PAYLOAD_BYTES * 2 + b'"}\n',
        b"\xff\xfe\n\0\n",
    ],
)
def test_a_file_that_cannot_be_decoded_is_rejected(spooled: SpoolWithJournal, content: bytes) -> None:
    """It is kept in `rejected/`, counted, and does not stop later files."""
    bad = spooled.folder / "1.0-1-1.json"
    bad.write_bytes(content)
    spooled.put("2.0-1-1.json", "Good")
    spooled.drain()
    assert spooled.names == ["Good"]
    assert spooled.rejected == ["1.0-1-1.json"]
    assert (spooled.folder / "rejected" / bad.name).read_bytes() == content
    assert spooled.refusals == ["spool"]
    assert stat.S_IMODE((spooled.folder / "rejected").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "payload", ['{"sessionID": "one"}', '{"session_id": 7}', '{"session_id": "a\\u0000b"}', '{"cwd": ["x"]}', "[1]"]
)
def test_an_event_of_a_client_without_a_session_is_stored(spooled: SpoolWithJournal, payload: str) -> None:
    """It keeps its client, belongs to no agent, and is counted as not understood."""
    spooled.put("1.0-1-1.json", "BeforeTool", payload, client="gemini")
    spooled.drain()
    assert (spooled.names, spooled.rejected, spooled.refusals) == (["BeforeTool"], [], [])
    assert spooled.journal.agents(ended_after=0) == []
    assert spooled.journal.counts().anomalies_by_client == {"gemini": 1}
    [stored] = spooled.journal.events()
    assert (stored.agent_id, stored.envelope.payload) == ("", payload.encode())


def test_a_rejected_file_keeps_its_client(spooled: SpoolWithJournal) -> None:
    """The numbers of rejected events say whose they are. A file without a client counts for Claude Code."""
    (spooled.folder / "1.0-1-1.json").write_bytes(b'{"event": "BeforeTool", "client": "gemini"}\nno json\n')
    (spooled.folder / "1.0-1-2.json").write_bytes(b"no notes\n{}\n")

    async def main(spool: SpoolReader) -> None:
        await spool.drain()
        assert spool.counts().rejected_by_client == {"gemini": 1, "claude-code": 1}

    spooled.run(main)


def test_broken_text_is_repaired(spooled: SpoolWithJournal) -> None:
    """Lone surrogates and invalid UTF-8 are replaced, and the event records that."""
    content = b'{"event": "Stop"}\n{"session_id": "one", "a": "\\ud83d", "b": "\xff"}\n'
    (spooled.folder / "1.0-1-1.json").write_bytes(content)
    spooled.drain()
    assert json.loads(spooled.processed[0].payload) == {"session_id": "one", "a": "\ufffd", "b": "\ufffd"}
    [stored] = spooled.journal.events()
    assert stored.anomaly == "the text was broken and has been repaired"


def test_an_incomplete_file_waits(spooled: SpoolWithJournal) -> None:
    """It is processed when it is complete, and rejected after a minute."""
    path = spooled.folder / "1.0-1-1.json"
    path.write_bytes(b'{"event": "Stop"}\n{"session_id": "one"')
    os.utime(path, (START / SECOND, START / SECOND))
    spooled.drain()
    assert (spooled.names, spooled.rejected, path.exists()) == ([], [], True)
    with path.open("ab") as file:
        file.write(b"}\n")
    spooled.drain()
    assert spooled.names == ["Stop"]

    path.write_bytes(b'{"event": "Stop"}\n{"session_id": "one"')
    os.utime(path, (START / SECOND, START / SECOND))
    spooled.clock.now += ABANDONED_AFTER + SECOND
    spooled.drain()
    assert (spooled.names, spooled.rejected) == (["Stop"], [path.name])


def test_links_pipes_and_folders_are_not_opened(spooled: SpoolWithJournal, tmp_path: Path) -> None:
    """Only regular files are events; a pipe does not block."""
    secret = tmp_path.parent / "secret"
    secret.write_text('{"event": "Stop"}\n{"session_id": "one"}\n')
    (spooled.folder / "1.0-1-1.json").symlink_to(secret)
    os.mkfifo(spooled.folder / "2.0-1-1.json")
    spooled.drain()
    assert spooled.processed == []
    assert spooled.rejected == ["1.0-1-1.json", "2.0-1-1.json"]
    assert secret.exists()


def test_entries_that_are_not_files_are_quarantined(spooled: SpoolWithJournal) -> None:
    """Directories, pipes, sockets and links block no event, also if `rejected` has entries of the same name."""
    names = [spooled.folder / f"{number}.0-1-1.json" for number in range(4)]
    names[0].mkdir()
    os.mkfifo(names[1])
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(names[2]))
    names[3].symlink_to("/")
    (spooled.folder / "other name").mkdir()
    locked = spooled.folder / "4.0-1-1.json"
    (locked / "inner").mkdir(parents=True)
    locked.chmod(0o000)
    (spooled.folder / "rejected" / "0.0-1-1.json" / "inner").mkdir(parents=True)
    spooled.put("9.0-1-1.json", "Good")

    async def test(spool: SpoolReader) -> None:
        await spool.drain()
        assert spool.failure is None
        assert (spool.counts().depth, spool.counts().quarantined) == (0, 7)
        assert "7 quarantined" in spool.health()[2]

    spooled.run(test)
    assert spooled.names == ["Good"]
    assert [path.name for path in spooled.folder.iterdir()] == ["rejected"]


@pytest.mark.parametrize("name", ["rejected", "full", "lost"])
def test_own_names_of_the_wrong_kind_block_nothing(spooled: SpoolWithJournal, name: str) -> None:
    """A pipe instead of the directory for rejected files, directories instead of marks."""
    path = spooled.folder / name
    os.mkfifo(path) if name == "rejected" else path.mkdir()
    (spooled.folder / "1.0-1-1.json").write_text("bad\nbad\n")
    spooled.put("2.0-1-1.json", "Good")

    async def test(spool: SpoolReader) -> None:
        await spool.drain()
        assert (spool.failure, spool.counts().lost) == (None, 0)

    spooled.run(test)
    assert spooled.names == ["Good"]
    assert "1.0-1-1.json" in spooled.rejected
    assert not (spooled.folder / "full").exists()


def test_many_files_are_processed_in_order(spooled: SpoolWithJournal) -> None:
    """A thousand events, in several batches."""
    for number in range(1_000):
        spooled.put(f"{number + 0.5}-1-1.json", f"Event{number}")
    spooled.drain()
    assert spooled.names == [f"Event{number}" for number in range(1_000)]


def test_the_number_of_rejected_files_is_limited(spooled: SpoolWithJournal) -> None:
    """The newest thousand are kept."""
    folder = spooled.folder / "rejected"
    folder.mkdir()
    for number in range(MAX_REJECTED):
        (folder / f"{number:04}.json").touch()
    (spooled.folder / "9999.5-1-1.json").write_text("bad\nbad\n")
    spooled.drain()
    assert len(spooled.rejected) == MAX_REJECTED
    assert "0000.json" not in spooled.rejected
    assert "9999.5-1-1.json" in spooled.rejected


def test_a_full_spool_is_used_again_when_it_is_empty(spooled: SpoolWithJournal) -> None:
    """The mark is removed, and the lost events stay counted."""
    spooled.put("1.5-1-1.json")
    (spooled.folder / "full").touch()
    (spooled.folder / "lost").write_text("...")

    async def test(spool: SpoolReader) -> None:
        await spool.drain()
        assert spool.counts().lost == 3
        assert "3 lost" in spool.health()[2]

    spooled.run(test)
    assert not (spooled.folder / "full").exists()


def test_counts_and_health(spooled: SpoolWithJournal) -> None:
    """Waiting, rejected and processed events, and when the last one was processed."""
    spooled.put("1.5-1-1.json")
    (spooled.folder / "2.5-1-1.json").write_text("bad\nbad\n")

    async def test(spool: SpoolReader) -> None:
        assert spool.counts()[:2] == (2, 0)
        assert spool.health() == (False, None, "2 waiting")
        await spool.drain()
        assert spool.counts() == (0, 1, 0, 1, START, 0, {"claude-code": 1})
        assert spool.health() == (False, None, "empty, 1 rejected")

    spooled.run(test)


def test_a_new_file_is_processed_at_once(spooled: SpoolWithJournal) -> None:
    """A running reader processes existing files, then new ones."""

    async def test(spool: SpoolReader) -> None:
        spooled.put("1.5-1-1.json", "Before")
        spool.start()
        await spool.first_drain(60)
        assert spooled.names == ["Before"]
        spooled.put("2.5-1-1.json", "After")
        await until(lambda: len(spooled.processed) == 2)
        assert spool.running
        await spool.stop()
        assert not spool.running

    spooled.run(test)
    assert spooled.names == ["Before", "After"]


def test_a_failed_round_is_retried(spooled: SpoolWithJournal) -> None:
    """The failure is reported until a round succeeds."""
    spooled.put("1.5-1-1.json")
    spooled.error = RuntimeError("unexpected")

    async def test(spool: SpoolReader) -> None:
        spool.start()
        await until(lambda: spool.failure)
        assert spool.failure == "unexpected"
        spooled.error = None
        await until(lambda: spooled.processed)
        await spool.stop()

    spooled.run(test)
    assert spooled.names == ["Stop"]


def test_files_may_be_removed_at_any_time(tmp_path: Path) -> None:
    """Listing and reading handle missing files."""
    assert list_files(tmp_path / "nowhere") == []
    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "gone.json", MAX_PAYLOAD_BYTES, START)


def test_a_hook_that_asks_does_not_overtake_spooled_events(spooled: SpoolWithJournal) -> None:
    """Events in the spool are processed first. With an empty spool there is no wait."""

    async def test(spool: SpoolReader) -> None:
        spool.start()
        await spool.first_drain(60)
        await spooled.spool.wait_until_drained()
        spooled.put("1.5-1-1.json", "Reported")
        await spooled.spool.wait_until_drained(60)
        assert spooled.names == ["Reported"]
        await spool.stop()

    spooled.run(test)
