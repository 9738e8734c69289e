"""The session registry: what clients say of themselves, believed while they live."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from claude_headspace.clients.claude_code.locations import is_entry
from claude_headspace.clients.claude_code.registry import read_entry
from claude_headspace.clients.decode import decode
from claude_headspace.clients.readings import Activity
from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.facts import ClientReported
from claude_headspace.kernel.wait_request import Ask
from tests.inputs.files import Reading, prompt
from tests.journals import TemporaryJournal
from tests.kernel.story import envelope as sealed

Play = Callable[[Reading], Awaitable[None]]
RECORDED = Path(__file__).parents[2] / "replay" / "registry"


def read(home: Path, play: Play, journal: TemporaryJournal | None = None) -> Reading:
    """Play with a running reader, and check that everything that is shown follows from the log."""

    async def main() -> Reading:
        async with Reading(home, journal) as reading:
            await play(reading)
        return reading

    done = asyncio.run(main())
    assert list(done.journal.verify()) == []
    return done


@pytest.fixture
def client() -> "Iterator[subprocess.Popen[bytes]]":
    """A process that could be a client."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.json")), ids=lambda path: str(path.stem))
def test_recorded_entries_are_understood(path: Path) -> None:
    """Status, what is waited for, and whether a program started it, on both versions."""
    raw = path.read_bytes()
    event = decode(sealed("RegistryEntry", 1, raw, origin=Origin.REGISTRY))
    told = json.loads(raw)
    waits = {"permission prompt": "permission", "input needed": "question", "dialog open": "dialog"}
    asked = told.get("waitingFor")
    ask = Ask(waits[asked], asked) if asked else None
    assert event.fact == ClientReported(told.get("status", ""), ask, headless="headless" in path.name)
    assert (event.meta.session_id, event.anomaly) == (told["sessionId"], None)
    entry = read_entry(b'{"pid":1,"sessionId":"s","startedAt":2,"status":"idle","statusUpdatedAt":3}')
    assert entry is not None
    assert (entry.at, entry.activity) == (3_000, Activity.IDLE)


def test_an_interrupt_is_seen_at_once(tmp_path: Path) -> None:
    """An Esc fires no hook: the registry says idle a tenth of a second later."""

    async def play(reading: Reading) -> None:
        await reading.hook("UserPromptSubmit", "s1", prompt="Fix it", ago=2)
        reading.registers("s1", "busy")
        await reading.until(lambda: reading.stored("registry"))
        reading.registers("s1", "idle")
        assert await reading.until(lambda: reading.state("s1") == "idle") < 2

    reading = read(tmp_path, play)
    agent = reading.agent("s1")
    assert agent is not None
    assert agent.evidence is not None
    assert (agent.evidence.source, agent.evidence.confidence, agent.pid) == ("registry", "medium", os.getpid())


def test_what_hooks_told_is_not_told_again(tmp_path: Path) -> None:
    """The entry follows every hook; only the process is news."""

    async def play(reading: Reading) -> None:
        for name, status in (("SessionStart", "idle"), ("UserPromptSubmit", "busy"), ("Stop", "idle")):
            await reading.hook(name, "s1", prompt="Fix it", last_assistant_message="Done.", pid=os.getpid())
            reading.registers("s1", status)
            await reading.settled()

    assert read(tmp_path, play).stored("registry") == []


def test_an_entry_becomes_news_when_a_late_hook_arrives(tmp_path: Path) -> None:
    """Idle was seen before the prompt that it ended was told: the prompt does not bring the work back."""

    async def play(reading: Reading) -> None:
        await reading.hook("SessionStart", "s1", pid=os.getpid(), ago=5)
        reading.registers("s1", "idle")
        await reading.settled()
        await reading.hook("UserPromptSubmit", "s1", prompt="Fix it", pid=os.getpid(), ago=3)
        assert reading.state("s1") == "working"
        await reading.until(lambda: reading.state("s1") == "idle")

    read(tmp_path, play)


def test_a_moment_of_rest_between_two_turns_is_no_end(tmp_path: Path) -> None:
    """Before a queued prompt or finished work is taken up the client is idle for some milliseconds."""

    async def play(reading: Reading) -> None:
        await reading.hook("UserPromptSubmit", "s1", prompt="Fix it", pid=os.getpid(), ago=2)
        reading.registers("s1", "idle")
        await asyncio.sleep(0.03)
        reading.registers("s1", "busy")
        await reading.settled()
        assert reading.state("s1") == "working"

    assert read(tmp_path, play).stored("registry") == []


def test_a_client_that_rests_is_not_at_work_for_a_moment(tmp_path: Path) -> None:
    """`/clear` and `/exit` keep it busy, and no hook tells of work; what lasts is believed."""

    async def play(reading: Reading) -> None:
        await reading.hook("SessionStart", "s1", source="startup", pid=os.getpid(), ago=2)
        reading.registers("s1", "busy")
        await asyncio.sleep(0.5)
        assert reading.state("s1") == "idle"
        await reading.until(lambda: reading.state("s1") == "working", "for work that lasts")

    read(tmp_path, play)


def test_a_longer_rest_is_a_moment_where_something_waits(tmp_path: Path) -> None:
    """A prompt is known to be queued: a client that is slow to take it up does not rest."""

    async def play(reading: Reading) -> None:
        await reading.hook("UserPromptSubmit", "s1", prompt="Fix it", prompt_id="p1", pid=os.getpid(), ago=2)
        await reading.hook("UserPromptSubmit", "s1", prompt="Two", prompt_id="p1", pid=os.getpid(), ago=1)
        reading.registers("s1", "idle")
        await asyncio.sleep(0.4)
        assert reading.state("s1") == "working"
        await reading.until(lambda: reading.state("s1") == "idle", "for a rest that lasts")

    read(tmp_path, play)


@pytest.mark.parametrize(
    ("waiting_for", "kind"), [("permission prompt", "permission"), ("input needed", "question"), ("new", None)]
)
def test_a_dialog_of_which_no_hook_told_is_seen(tmp_path: Path, waiting_for: str, kind: str | None) -> None:
    """A daemon that comes later finds who waits; a dialog that the human opened himself needs nobody."""

    async def play(reading: Reading) -> None:
        reading.registers("s1", "waiting", waitingFor=waiting_for)
        await reading.until(lambda: reading.agent("s1") is not None)

    agent = read(tmp_path, play).agent("s1")
    assert agent is not None
    assert agent.waiting_for == kind


def test_a_session_without_hooks_is_seen_after_a_second(tmp_path: Path) -> None:
    """It is tracked with less confidence; right after a resume the client writes an id that it made up."""

    async def play(reading: Reading) -> None:
        reading.registers("made-up", "idle")
        await asyncio.sleep(0.2)
        reading.registers("real", "idle")
        await reading.until(lambda: reading.agents)
        await reading.settled()

    reading = read(tmp_path, play)
    assert [agent.session and agent.session.client_id for agent in reading.agents] == ["real"]
    agent = reading.agent("real")
    assert agent is not None
    assert (agent.state, agent.pid, agent.project.root) == ("idle", os.getpid(), "/home/dev/app")


def test_a_cleared_session_stays_the_same_agent(tmp_path: Path) -> None:
    """The same process with another session is the same agent, also when no hook told of it."""

    async def play(reading: Reading) -> None:
        await reading.hook("SessionStart", "s1", pid=os.getpid(), ago=5)
        reading.registers("s1", "idle")
        await reading.settled()
        reading.registers("s2", "idle")
        reading.session("s2").says(prompt("Fresh"))
        await reading.until(lambda: reading.said("s2") == ["Fresh"])

    assert len(read(tmp_path, play).agents) == 1


def test_a_program_that_starts_a_client_makes_it_headless(tmp_path: Path) -> None:
    """Nobody sits in front of it."""

    async def play(reading: Reading) -> None:
        await reading.hook("UserPromptSubmit", "s1", prompt="Fix it")
        reading.registers("s1", "busy", entrypoint="sdk-cli")
        await reading.until(lambda: (agent := reading.agent("s1")) is not None and agent.mode == "headless")

    read(tmp_path, play)


def test_a_nested_client_is_a_child(tmp_path: Path, client: "subprocess.Popen[bytes]") -> None:
    """Who descends from an agent's client is its child and never disturbs it."""

    async def play(reading: Reading) -> None:
        parent = await reading.hook("UserPromptSubmit", "parent", prompt="Fix it", pid=os.getpid())
        reading.registers("child", "busy", pid=client.pid, entrypoint="sdk-cli")
        await reading.until(lambda: reading.agent("child") is not None)
        child = reading.agent("child")
        assert child is not None
        assert (child.parent_id, child.mode) == (parent.id, "headless")
        reading.registers("child", "idle", pid=client.pid)
        await reading.until(lambda: reading.state("child") == "idle")
        assert reading.state("parent") == "working"

    read(tmp_path, play)


# --- files that lie ---------------------------------------------------------------------------------------------------


def test_an_entry_that_is_being_written_is_read_again(tmp_path: Path) -> None:
    """It is not written atomically: empty and half files happen."""

    async def play(reading: Reading) -> None:
        await reading.hook("UserPromptSubmit", "s1", prompt="Fix it", ago=2)
        path = reading.registers("s1", "idle")
        whole = path.read_bytes()
        path.write_bytes(b"")
        await asyncio.sleep(0.1)
        path.write_bytes(whole[:40])
        await asyncio.sleep(0.1)
        path.write_bytes(whole)
        await reading.until(lambda: reading.state("s1") == "idle")

    read(tmp_path, play)


def test_entries_of_the_dead_are_ignored(tmp_path: Path, client: "subprocess.Popen[bytes]") -> None:
    """A killed client leaves its entry; another process of the same number did not write it."""

    async def play(reading: Reading) -> None:
        reading.registers("other", "busy", startedAt=1)
        gone = reading.registers("gone", "busy", pid=client.pid)
        client.kill()
        client.wait()
        gone.touch()
        (gone.parent / "4711.json").write_text('{"pid": "x"}')
        (gone.parent / "4712.json").write_text("[]")
        await asyncio.sleep(1.5)

    assert read(tmp_path, play).agents == []


def test_keys_beside_the_entries_are_nobodys_business() -> None:
    """Only `<pid>.json` is opened."""
    assert is_entry(Path("/sessions/4711.json"))
    for name in ("4711.a6159b.key", "4711.json.tmp", "x.json", "\u0664\u0667.json", ".json"):
        assert not is_entry(Path("/sessions") / name)


def test_the_same_entry_after_a_restart_is_the_same_event(tmp_path: Path) -> None:
    """What was told is not told again."""
    journal = TemporaryJournal()

    async def play(reading: Reading) -> None:
        if not journal.agents():
            reading.registers("s1", "busy")
        await reading.until(lambda: reading.state("s1") == "working")
        await asyncio.sleep(1.3)

    read(tmp_path, play, journal)
    assert len(read(tmp_path, play, journal).stored("registry")) == 1


# --- ends -------------------------------------------------------------------------------------------------------------


def test_a_killed_client_is_missed_at_once(tmp_path: Path, client: "subprocess.Popen[bytes]") -> None:
    """Its entry is still there, so no SessionEnd will come: the agent ends within two seconds."""

    async def play(reading: Reading) -> None:
        await reading.hook("UserPromptSubmit", "s1", prompt="Fix it", pid=client.pid)
        reading.registers("s1", "busy", pid=client.pid)
        await reading.settled()
        client.kill()
        assert await reading.until(lambda: reading.state("s1") == "ended") < 5

    reading = read(tmp_path, play)
    agent = reading.agent("s1")
    assert agent is not None
    assert [(command.text, command.outcome) for command in reading.journal.commands(agent.id)] == [
        ("Fix it", "interrupted")
    ]


def test_a_client_that_ends_by_itself_has_the_last_word(tmp_path: Path, client: "subprocess.Popen[bytes]") -> None:
    """It removes its entry, and its SessionEnd comes a second later: that reason is kept."""

    async def play(reading: Reading) -> None:
        await reading.hook("SessionStart", "s1", pid=client.pid)
        path = reading.registers("s1", "idle", pid=client.pid)
        await reading.settled()
        path.unlink()
        client.kill()
        client.wait()
        await asyncio.sleep(1.1)
        assert reading.state("s1") == "idle"
        await reading.hook("SessionEnd", "s1", reason="prompt_input_exit", pid=client.pid)
        await asyncio.sleep(2)

    reading = read(tmp_path, play)
    agent = reading.agent("s1")
    assert agent is not None
    assert agent.end_reason == "prompt_input_exit"
    assert reading.stored("process") == []


def test_a_new_client_brings_an_ended_agent_back(tmp_path: Path, client: "subprocess.Popen[bytes]") -> None:
    """A resumed session without hooks: the client began after the agent's end."""

    async def play(reading: Reading) -> None:
        await reading.hook("SessionStart", "s1", ago=3_600)
        await reading.hook("SessionEnd", "s1", reason="other", ago=3_500)
        assert reading.state("s1") == "ended"
        reading.registers("s1", "idle", pid=client.pid)
        await reading.until(lambda: reading.state("s1") == "idle")

    read(tmp_path, play)
