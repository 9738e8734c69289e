"""Lock files as a session registry, with real processes."""

import asyncio
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from claude_headspace.engine.changes import ChangePublisher
from claude_headspace.inputs.watch import lock_registry
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.client_processes import ProcessAncestry
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.inputs.watch.lock_registry import LockRegistry
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Envelope, Micros, Observations
from tests.engines import engine_over
from tests.journals import TemporaryJournal

LIMIT_SECONDS = 30.0
pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Locks count soon."""
    monkeypatch.setattr(lock_registry, "NEW_SESSION_SECONDS", 0.05)
    monkeypatch.setattr(lock_registry, "INTERVAL_SECONDS", 0.05)


@pytest.fixture
def client() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that is a client."""
    env = {"PATH": os.environ["PATH"], "TMUX": "/tmp/tmux-0/default,1,0", "TMUX_PANE": "%7"}
    with subprocess.Popen(["sleep", "600"], env=env) as process:
        yield process
        process.kill()


class Watched:
    """A running registry, and the agents that it reports."""

    def __init__(self, config_dir: Path) -> None:
        self.config_dir = config_dir
        self.journal = TemporaryJournal()
        changes = ChangePublisher()
        self.engine = engine_over(self.journal, changes=changes)
        cache = AgentCache("laptop")
        changes.on_agent(cache.update)
        envelopes = EnvelopeBuilder("laptop", _clock, _no_repository, client="copilot")
        self.ancestry = ProcessAncestry()
        self.registry = LockRegistry(lambda: (config_dir,), cache, self._submit, envelopes, self.ancestry)

    async def _submit(self, envelope: Envelope, agent_id: str | None) -> Agent:
        return (await self.engine.submit(envelope, agent_id)).agent

    async def __aenter__(self) -> "Watched":
        self.engine.start()
        self.registry.start()
        await asyncio.wait_for(self.registry.first_check(), LIMIT_SECONDS)
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.registry.stop()
        await self.engine.stop()
        self.ancestry.close()

    def lock(self, session: str, pid: int) -> Path:
        """A client locks a session."""
        folder = self.config_dir / "session-state" / session
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "workspace.yaml").write_text(f"id: {session}\ncwd: /home/dev/app\nbranch: main\n")
        path = folder / f"inuse.{pid}.lock"
        path.write_text(str(pid))
        return path

    def log(self, session: str, pid: int, started_at: float) -> None:
        """A client opens a session without locking it: its log tells."""
        path = self.config_dir / "logs" / f"process-{started_at * 1000:.0f}-{pid}.log"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            "2026-11-16T18:20:39.445Z [INFO] Starting Copilot CLI: 1.0.102\n"
            f"2026-11-16T18:20:39.467Z [INFO] Registering foreground session: {session}\n"
            "2026-11-16T18:20:39.963Z [INFO] Login status unknown\n"
        )

    def agents(self) -> list[Agent]:
        """All agents."""
        return self.journal.agents(ended_after=0)

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for a condition."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while not condition():
            assert time.monotonic() < deadline, self.agents()
            await asyncio.sleep(0.02)


async def _no_repository(_cwd: str | None) -> Observations:
    return Observations()


def _clock() -> Micros:
    return time.time_ns() // 1000


async def test_a_locked_session_is_an_idle_agent(tmp_path: Path, client: "subprocess.Popen[bytes]") -> None:
    """It is shown before its first prompt, with its process, its pane and its directory."""
    async with Watched(tmp_path) as watched:
        assert not watched.registry.exists()
        watched.lock("s1", client.pid)
        await watched.until(watched.agents)
        [agent] = watched.agents()
        assert (agent.client, agent.state, agent.pid, agent.cwd) == ("copilot", "idle", client.pid, "/home/dev/app")
        assert agent.tmux_pane == "%7"
        assert agent.evidence is not None
        assert agent.evidence.why == "the client has a session open"
        found = watched.registry.find_client("s1")
        assert found is not None
        assert found.client_pid == client.pid
        assert (watched.registry.exists(), watched.registry.summary) == (True, "1 client")
        assert not watched.registry.shows_dialog("s1")


async def test_a_lock_that_moves_is_a_new_session_of_the_agent(
    tmp_path: Path, client: "subprocess.Popen[bytes]"
) -> None:
    """The client began a new conversation."""
    async with Watched(tmp_path) as watched:
        first = watched.lock("s1", client.pid)
        await watched.until(watched.agents)
        first.unlink()
        watched.lock("s2", client.pid)
        await watched.until(lambda: [each.session.client_id for each in watched.agents() if each.session] == ["s2"])
        assert watched.registry.find_client("s1") is None


async def test_a_killed_client_leaves_its_lock(tmp_path: Path, client: "subprocess.Popen[bytes]") -> None:
    """The lock no longer counts, and tells that the client was killed."""
    async with Watched(tmp_path) as watched:
        watched.lock("s1", client.pid)
        await watched.until(watched.agents)
        client.kill()
        client.wait()
        await watched.until(lambda: not watched.registry.processes())
        assert watched.registry.find_client("s1") is None
        assert watched.registry.was_killed(client.pid)
        assert not watched.registry.was_killed(os.getpid())


async def test_an_old_lock_with_the_pid_of_another_process_does_not_count(
    tmp_path: Path, client: "subprocess.Popen[bytes]"
) -> None:
    """The process started after the lock was written."""
    watched = Watched(tmp_path)
    os.utime(watched.lock("s1", client.pid), (1, 1))
    async with watched:
        await watched.registry.check()
        await asyncio.sleep(0.2)
        assert (watched.agents(), watched.registry.processes()) == ([], [])


async def test_two_clients(tmp_path: Path, client: "subprocess.Popen[bytes]") -> None:
    """Each is an agent. Other files are no locks."""
    async with Watched(tmp_path) as watched:
        watched.lock("s1", client.pid)
        other = await asyncio.create_subprocess_exec("sleep", "600")
        watched.lock("s2", other.pid)
        (tmp_path / "session-state" / "s2" / "inuse.x.lock").write_text("x")
        await watched.until(lambda: len(watched.agents()) == 2)
        other.kill()
        await other.wait()


async def test_a_continued_session_is_idle_before_its_first_prompt(
    tmp_path: Path, client: "subprocess.Popen[bytes]"
) -> None:
    """It has no lock yet, but its log names it. The pid of an older log does not count."""
    watched = Watched(tmp_path)
    watched.lock("s1", client.pid).unlink()
    watched.lock("s2", client.pid).unlink()
    watched.log("s2", client.pid, 1.0)
    watched.log("s1", client.pid, time.time())
    async with watched:
        await watched.until(watched.agents)
        [agent] = watched.agents()
        assert agent.session is not None
        assert (agent.session.client_id, agent.state, agent.tmux_pane) == ("s1", "idle", "%7")
        watched.lock("s1", client.pid)
        await watched.until(lambda: watched.registry.find_client("s1"))
        assert len(watched.agents()) == 1
