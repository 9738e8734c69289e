"""The session registry: entries count while the client that wrote them runs."""

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
from claude_headspace.clients.registry_entry import Activity
from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.facts import ClientReported
from claude_headspace.kernel.wait.request import Ask
from tests.inputs.watched_config_dir import WatchedConfigDir, prompt
from tests.journals import TemporaryJournal
from tests.kernel.story import envelope

Play = Callable[[WatchedConfigDir], Awaitable[None]]
RECORDED = Path(__file__).parents[2] / "replay" / "registry"


def read(home: Path, play: Play, journal: TemporaryJournal | None = None) -> WatchedConfigDir:
    """Run a test with running sources, then verify the projections against the log."""

    async def main() -> WatchedConfigDir:
        async with WatchedConfigDir(home, journal) as watched:
            await play(watched)
        return watched

    done = asyncio.run(main())
    assert list(done.journal.verify()) == []
    return done


@pytest.fixture
def client() -> "Iterator[subprocess.Popen[bytes]]":
    """A process that plays the client."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.json")), ids=lambda path: str(path.stem))
def test_recorded_entries_are_decoded(path: Path) -> None:
    """Status, dialog and headless flag, on both recorded versions."""
    raw = path.read_bytes()
    event = decode(envelope("RegistryEntry", 1, raw, origin=Origin.REGISTRY))
    recorded = json.loads(raw)
    waits = {"permission prompt": "permission", "input needed": "question", "dialog open": "dialog"}
    asked = recorded.get("waitingFor")
    ask = Ask(waits[asked], asked) if asked else None
    assert event.fact == ClientReported(recorded.get("status", ""), ask, headless="headless" in path.name)
    assert (event.meta.session_id, event.anomaly) == (recorded["sessionId"], None)
    entry = read_entry(b'{"pid":1,"sessionId":"s","startedAt":2,"status":"idle","statusUpdatedAt":3}')
    assert entry is not None
    assert (entry.at, entry.activity) == (3_000, Activity.IDLE)


def test_an_interrupt_is_detected_at_once(tmp_path: Path) -> None:
    """Esc fires no hook. The registry shows idle 100 ms later."""

    async def play(watched: WatchedConfigDir) -> None:
        await watched.hook("UserPromptSubmit", "s1", prompt="Fix it", ago=2)
        watched.register("s1", "busy")
        await watched.until(lambda: watched.stored("registry"))
        watched.register("s1", "idle")
        assert await watched.until(lambda: watched.state("s1") == "idle") < 2

    watched = read(tmp_path, play)
    agent = watched.agent("s1")
    assert agent is not None
    assert agent.evidence is not None
    assert (agent.evidence.source, agent.evidence.confidence, agent.pid) == ("registry", "medium", os.getpid())


def test_entries_that_repeat_hooks_are_not_stored(tmp_path: Path) -> None:
    """The client updates its entry after every hook; nothing in it is new."""

    async def play(watched: WatchedConfigDir) -> None:
        for name, status in (("SessionStart", "idle"), ("UserPromptSubmit", "busy"), ("Stop", "idle")):
            await watched.hook(name, "s1", prompt="Fix it", last_assistant_message="Done.", pid=os.getpid())
            watched.register("s1", status)
            await watched.settle()

    assert read(tmp_path, play).stored("registry") == []


def test_an_entry_becomes_new_when_a_late_hook_arrives(tmp_path: Path) -> None:
    """Idle was read before an older prompt arrived: the prompt does not leave the agent working."""

    async def play(watched: WatchedConfigDir) -> None:
        await watched.hook("SessionStart", "s1", pid=os.getpid(), ago=5)
        watched.register("s1", "idle")
        await watched.settle()
        await watched.hook("UserPromptSubmit", "s1", prompt="Fix it", pid=os.getpid(), ago=3)
        assert watched.state("s1") == "working"
        await watched.until(lambda: watched.state("s1") == "idle")

    read(tmp_path, play)


def test_a_short_idle_time_between_two_turns_is_ignored(tmp_path: Path) -> None:
    """The client is idle for some milliseconds before it starts a queued turn."""

    async def play(watched: WatchedConfigDir) -> None:
        await watched.hook("UserPromptSubmit", "s1", prompt="Fix it", pid=os.getpid(), ago=2)
        watched.register("s1", "idle")
        await asyncio.sleep(0.03)
        watched.register("s1", "busy")
        await watched.settle()
        assert watched.state("s1") == "working"

    assert read(tmp_path, play).stored("registry") == []


def test_a_short_busy_time_of_an_idle_client_is_ignored(tmp_path: Path) -> None:
    """`/clear` and `/exit` keep it busy without a hook. Only busy for longer counts as work."""

    async def play(watched: WatchedConfigDir) -> None:
        await watched.hook("SessionStart", "s1", source="startup", pid=os.getpid(), ago=2)
        watched.register("s1", "busy")
        await asyncio.sleep(0.5)
        assert watched.state("s1") == "idle"
        await watched.until(lambda: watched.state("s1") == "working", "for lasting work")

    read(tmp_path, play)


def test_a_queued_prompt_allows_a_longer_idle_time(tmp_path: Path) -> None:
    """A client that is slow to start a queued prompt is not idle."""

    async def play(watched: WatchedConfigDir) -> None:
        await watched.hook("UserPromptSubmit", "s1", prompt="Fix it", prompt_id="p1", pid=os.getpid(), ago=2)
        await watched.hook("UserPromptSubmit", "s1", prompt="Two", prompt_id="p1", pid=os.getpid(), ago=1)
        watched.register("s1", "idle")
        await asyncio.sleep(0.4)
        assert watched.state("s1") == "working"
        await watched.until(lambda: watched.state("s1") == "idle", "for a lasting idle state")

    read(tmp_path, play)


@pytest.mark.parametrize(
    ("waiting_for", "kind"), [("permission prompt", "permission"), ("input needed", "question"), ("new", None)]
)
def test_a_dialog_without_a_hook_is_detected(tmp_path: Path, waiting_for: str, kind: str | None) -> None:
    """A daemon that starts later finds open waits. A dialog that the user opened is no wait."""

    async def play(watched: WatchedConfigDir) -> None:
        watched.register("s1", "waiting", waitingFor=waiting_for)
        await watched.until(lambda: watched.agent("s1") is not None)

    agent = read(tmp_path, play).agent("s1")
    assert agent is not None
    assert agent.waiting_for == kind


def test_a_session_without_hooks_is_stored_after_a_second(tmp_path: Path) -> None:
    """Right after a resume the client writes a temporary session id, which is never stored."""

    async def play(watched: WatchedConfigDir) -> None:
        watched.register("temporary", "idle")
        await asyncio.sleep(0.2)
        watched.register("real", "idle")
        await watched.until(lambda: watched.agents)
        await watched.settle()

    watched = read(tmp_path, play)
    assert [agent.session and agent.session.client_id for agent in watched.agents] == ["real"]
    agent = watched.agent("real")
    assert agent is not None
    assert (agent.state, agent.pid, agent.project.root) == ("idle", os.getpid(), "/home/dev/app")


def test_a_cleared_session_stays_the_same_agent(tmp_path: Path) -> None:
    """The same process with another session is the same agent, also without hooks."""

    async def play(watched: WatchedConfigDir) -> None:
        await watched.hook("SessionStart", "s1", pid=os.getpid(), ago=5)
        watched.register("s1", "idle")
        await watched.settle()
        watched.register("s2", "idle")
        watched.session("s2").write(prompt("Fresh"))
        await watched.until(lambda: watched.turn_texts("s2") == ["Fresh"])

    assert len(read(tmp_path, play).agents) == 1


def test_a_client_started_by_a_program_is_headless(tmp_path: Path) -> None:
    """Its entrypoint shows that no person uses it."""

    async def play(watched: WatchedConfigDir) -> None:
        await watched.hook("UserPromptSubmit", "s1", prompt="Fix it")
        watched.register("s1", "busy", entrypoint="sdk-cli")
        await watched.until(lambda: (agent := watched.agent("s1")) is not None and agent.mode == "headless")

    read(tmp_path, play)


def test_a_client_started_by_an_agent_is_its_child(tmp_path: Path, client: "subprocess.Popen[bytes]") -> None:
    """A descendant of an agent's process is a child and does not change the state of its parent."""

    async def play(watched: WatchedConfigDir) -> None:
        parent = await watched.hook("UserPromptSubmit", "parent", prompt="Fix it", pid=os.getpid())
        watched.register("child", "busy", pid=client.pid, entrypoint="sdk-cli")
        await watched.until(lambda: watched.agent("child") is not None)
        child = watched.agent("child")
        assert child is not None
        assert (child.parent_id, child.mode) == (parent.id, "headless")
        watched.register("child", "idle", pid=client.pid)
        await watched.until(lambda: watched.state("child") == "idle")
        assert watched.state("parent") == "working"

    read(tmp_path, play)


# --- broken and stale entries -----------------------------------------------------------------------------------------


def test_an_entry_that_is_being_written_is_read_again(tmp_path: Path) -> None:
    """Entries are not written atomically: the file may be empty or incomplete."""

    async def play(watched: WatchedConfigDir) -> None:
        await watched.hook("UserPromptSubmit", "s1", prompt="Fix it", ago=2)
        path = watched.register("s1", "idle")
        content = path.read_bytes()
        path.write_bytes(b"")
        await asyncio.sleep(0.1)
        path.write_bytes(content[:40])
        await asyncio.sleep(0.1)
        path.write_bytes(content)
        await watched.until(lambda: watched.state("s1") == "idle")

    read(tmp_path, play)


def test_entries_of_ended_processes_are_ignored(tmp_path: Path, client: "subprocess.Popen[bytes]") -> None:
    """A killed client leaves its entry. A process that reuses the pid did not write it."""

    async def play(watched: WatchedConfigDir) -> None:
        watched.register("other", "busy", startedAt=1)
        stale = watched.register("gone", "busy", pid=client.pid)
        client.kill()
        client.wait()
        stale.touch()
        (stale.parent / "4711.json").write_text('{"pid": "x"}')
        (stale.parent / "4712.json").write_text("[]")
        await asyncio.sleep(1.5)

    assert read(tmp_path, play).agents == []


def test_other_files_in_the_registry_are_ignored() -> None:
    """Only `<pid>.json` is an entry."""
    assert is_entry(Path("/sessions/4711.json"))
    for name in ("4711.a6159b.key", "4711.json.tmp", "x.json", "\u0664\u0667.json", ".json"):
        assert not is_entry(Path("/sessions") / name)


def test_the_same_entry_after_a_restart_is_the_same_event(tmp_path: Path) -> None:
    """It has the same delivery id."""
    journal = TemporaryJournal()

    async def play(watched: WatchedConfigDir) -> None:
        if not journal.agents():
            watched.register("s1", "busy")
        await watched.until(lambda: watched.state("s1") == "working")
        await asyncio.sleep(1.3)

    read(tmp_path, play, journal)
    assert len(read(tmp_path, play, journal).stored("registry")) == 1


# --- ended clients ----------------------------------------------------------------------------------------------------


def test_a_killed_client_is_reported_at_once(tmp_path: Path, client: "subprocess.Popen[bytes]") -> None:
    """Its entry still exists, so no SessionEnd will arrive: the agent ends within two seconds."""

    async def play(watched: WatchedConfigDir) -> None:
        await watched.hook("UserPromptSubmit", "s1", prompt="Fix it", pid=client.pid)
        watched.register("s1", "busy", pid=client.pid)
        await watched.settle()
        client.kill()
        assert await watched.until(lambda: watched.state("s1") == "ended") < 5

    watched = read(tmp_path, play)
    agent = watched.agent("s1")
    assert agent is not None
    assert [(command.text, command.outcome) for command in watched.journal.commands(agent.id)] == [
        ("Fix it", "interrupted")
    ]


def test_the_exit_reason_of_a_normal_exit_is_stored(tmp_path: Path, client: "subprocess.Popen[bytes]") -> None:
    """The client removes its entry, and its SessionEnd arrives a second later with the reason."""

    async def play(watched: WatchedConfigDir) -> None:
        await watched.hook("SessionStart", "s1", pid=client.pid)
        path = watched.register("s1", "idle", pid=client.pid)
        await watched.settle()
        path.unlink()
        client.kill()
        client.wait()
        await asyncio.sleep(1.1)
        assert watched.state("s1") == "idle"
        await watched.hook("SessionEnd", "s1", reason="prompt_input_exit", pid=client.pid)
        await asyncio.sleep(2)

    watched = read(tmp_path, play)
    agent = watched.agent("s1")
    assert agent is not None
    assert agent.end_reason == "prompt_input_exit"
    assert watched.stored("process") == []


def test_a_new_client_resumes_an_ended_agent(tmp_path: Path, client: "subprocess.Popen[bytes]") -> None:
    """A resumed session without hooks: the client started after the agent ended."""

    async def play(watched: WatchedConfigDir) -> None:
        await watched.hook("SessionStart", "s1", ago=3_600)
        await watched.hook("SessionEnd", "s1", reason="other", ago=3_500)
        assert watched.state("s1") == "ended"
        watched.register("s1", "idle", pid=client.pid)
        await watched.until(lambda: watched.state("s1") == "idle")

    read(tmp_path, play)
