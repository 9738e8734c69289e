"""The session registry of Codex: which agents exist, what they do, and when they end."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claude_headspace.clients.codex.registry import ANSWERED
from claude_headspace.engine.changes import ChangePublisher
from claude_headspace.inputs.watch import codex_registry
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.client_processes import ProcessAncestry
from claude_headspace.inputs.watch.codex_registry import CodexRegistry
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Observations, Origin
from claude_headspace.kernel.evolve.observations import REGISTRY_LAG
from tests.codex_daemon import ACTIVE, ASKING, IDLE, CodexDaemon
from tests.engines import engine_over
from tests.journals import TemporaryJournal

LIMIT_SECONDS = 30.0
SEEN_SECONDS = REGISTRY_LAG / SECOND + 0.05
"""How long a dialog must be open before a busy client proves that it closed."""
FAILED = {"type": "systemError"}


@pytest.fixture(autouse=True)
def short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports count soon."""
    monkeypatch.setattr(codex_registry, "SETTLE_SECONDS", 0.05)
    monkeypatch.setattr(codex_registry, "LAST_HOOK_SECONDS", 0.1)
    monkeypatch.setattr(codex_registry, "RETRY_SECONDS", 0.05)


class Watched:
    """A running registry, and the agents that it reports."""

    def __init__(self, config_dir: Path) -> None:
        self.journal = TemporaryJournal()
        changes = ChangePublisher()
        self.engine = engine_over(self.journal, changes=changes)
        self.cache = AgentCache("laptop")
        changes.on_agent(self.cache.update)
        envelopes = EnvelopeBuilder("laptop", _clock, _no_repository, client="codex")
        self.ancestry = ProcessAncestry()
        self.registry = CodexRegistry(lambda: (config_dir,), self.cache, self._submit, envelopes, self.ancestry)

    async def _submit(self, envelope: Envelope, agent_id: str | None) -> Agent:
        return (await self.engine.submit(envelope, agent_id)).agent

    def states(self) -> dict[str, Any]:
        """The state of each session."""
        agents = self.journal.agents(ended_after=0)
        return {agent.session.client_id: agent.state.value for agent in agents if agent.session is not None}

    async def until(self, **states: str) -> None:
        """Wait until the sessions have these states, and there are no others."""
        async with asyncio.timeout(LIMIT_SECONDS):
            while True:
                if self.states() == states:
                    return
                await asyncio.sleep(0.01)

    def open_calls(self) -> list[str | None]:
        """The calls that the only agent waits for."""
        (agent,) = self.journal.agents(ended_after=0)
        return [wait.call_id for wait in agent.waits]

    def names(self) -> list[str]:
        """The states that the only agent entered."""
        (agent,) = self.journal.agents(ended_after=0)
        return [row.state for row in self.journal.states(agent.id)]


def _clock() -> Micros:
    return time.time_ns() // 1_000


async def _no_repository(directory: str | None) -> Observations:
    return Observations(project_root=directory)


def watch(home: Path, story: Callable[[CodexDaemon, Watched], Awaitable[None]]) -> Watched:
    """Run a story with a daemon and a running registry, and check that the projections follow from the log."""

    async def main() -> Watched:
        watched = Watched(home)
        watched.engine.start()
        async with CodexDaemon(home) as daemon:
            watched.registry.start()
            await story(daemon, watched)
            await watched.registry.stop()
        await watched.engine.stop()
        watched.ancestry.close()
        return watched

    done = asyncio.run(main())
    assert list(done.journal.verify()) == []
    return done


def test_a_thread_is_an_agent_from_its_start_to_its_end(tmp_path: Path) -> None:
    """It is idle before its first prompt, and ends when the daemon closes it."""

    async def story(daemon: CodexDaemon, watched: Watched) -> None:
        await daemon.open("one")
        await watched.until(one="idle")
        await daemon.change("one", ACTIVE)
        await watched.until(one="working")
        await daemon.change("one", ASKING)
        await watched.until(one="waiting")
        await asyncio.sleep(SEEN_SECONDS)
        await daemon.change("one", ACTIVE)
        await watched.until(one="working")
        await daemon.change("one", IDLE)
        await watched.until(one="idle")
        await daemon.close("one")
        await watched.until(one="ended")
        assert watched.names() == ["idle", "working", "waiting", "working", "idle", "ended"]

    watch(tmp_path, story)


def test_a_thread_that_is_opened_again_brings_its_agent_back(tmp_path: Path) -> None:
    """It is the same agent, before its next prompt."""

    async def story(daemon: CodexDaemon, watched: Watched) -> None:
        await daemon.open("one")
        await watched.until(one="idle")
        await daemon.close("one")
        await watched.until(one="ended")
        await daemon.open("one")
        await watched.until(one="idle")
        await daemon.change("one", ACTIVE)
        await watched.until(one="working")
        assert watched.names() == ["idle", "ended", "idle", "working"]

    watch(tmp_path, story)


def test_threads_of_one_daemon_are_different_agents(tmp_path: Path) -> None:
    """They share a process, which identifies none of them; sub-agents and ephemeral threads are no agents."""

    async def story(daemon: CodexDaemon, watched: Watched) -> None:
        await daemon.open("one")
        await daemon.open("two")
        await daemon.open("title", ephemeral=True)
        await daemon.open("child", ACTIVE, parentThreadId="one")
        await watched.until(one="idle", two="idle")
        await daemon.change("two", ACTIVE)
        await watched.until(one="idle", two="working")
        assert {agent.pid for agent in watched.journal.agents()} == {os.getpid()}
        assert [each.client_pid for each in watched.registry.processes()] == [os.getpid()]
        found = watched.registry.find_client("two")
        assert found is not None
        assert (found.client_pid, found.shared_process) == (os.getpid(), True)
        assert watched.registry.find_client("three") is None

    watch(tmp_path, story)


def test_an_error_that_nothing_else_reported_is_reported(tmp_path: Path) -> None:
    """The turn failed."""

    async def story(daemon: CodexDaemon, watched: Watched) -> None:
        await daemon.open("one", ACTIVE)
        await watched.until(one="working")
        await daemon.change("one", FAILED)
        await watched.until(one="error")

    watch(tmp_path, story)


def test_a_status_that_lasts_for_a_moment_is_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks report it with more details; only the last one counts."""
    monkeypatch.setattr(codex_registry, "SETTLE_SECONDS", 0.3)

    async def story(daemon: CodexDaemon, watched: Watched) -> None:
        await daemon.open("one")
        await watched.until(one="idle")
        for status in (ACTIVE, ASKING, IDLE, ACTIVE):
            await daemon.change("one", status)
        await watched.until(one="working")
        assert watched.names() == ["idle", "working"]

    watch(tmp_path, story)


def test_sessions_that_closed_unseen_end(tmp_path: Path) -> None:
    """After a reconnection, an agent of this daemon that it has no longer open has ended."""

    async def story(daemon: CodexDaemon, watched: Watched) -> None:
        await daemon.open("one")
        await daemon.open("two")
        await watched.until(one="idle", two="idle")
        await daemon.hang_up()
        del daemon.threads["one"]
        await daemon.listen()
        await watched.until(one="ended", two="idle")

    watch(tmp_path, story)


def test_sessions_of_a_killed_daemon_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its socket file stays. The attempts to connect again do not delay the end."""

    async def story(daemon: CodexDaemon, watched: Watched) -> None:
        await daemon.open("one")
        await watched.until(one="idle")
        monkeypatch.setattr(codex_registry, "is_alive", lambda _: False)
        await daemon.hang_up()
        await asyncio.to_thread(Path(daemon.address).touch)
        await watched.until(one="ended")

    watch(tmp_path, story)


def test_a_dialog_and_its_approval_are_found(tmp_path: Path) -> None:
    """Other components learn of them at once."""
    called: list[bool] = []

    async def story(daemon: CodexDaemon, watched: Watched) -> None:
        watched.registry.on_approvals = lambda: called.append(True)
        await daemon.open("one")
        await daemon.ask("one")
        await watched.until(one="waiting")
        assert watched.registry.shows_dialog("one")
        ((control, approval),) = watched.registry.find_approvals("one")
        assert (approval.call_id, called) == ("call-1", [True])
        await asyncio.sleep(SEEN_SECONDS)
        await control.answer(approval, "decline")
        await watched.until(one="working")
        assert not watched.registry.shows_dialog("one")
        assert watched.registry.find_approvals("one") == []

    watch(tmp_path, story)


async def eventually(is_met: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(LIMIT_SECONDS):
        while not is_met():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def hook(name: str, thread_id: str, **payload: Any) -> Envelope:
    """A hook of Codex about a shell command."""
    at = _clock()
    body = {"session_id": "one", "turn_id": "turn-1", "tool_name": "Bash", **payload}
    return Envelope(
        id=f"{name}-{at}",
        name=name,
        origin=Origin.HOOK,
        client="codex",
        host="laptop",
        fired_at=at,
        received_at=at,
        payload=msgspec.json.encode(body | ({"agent_id": thread_id} if thread_id != "one" else {})),
    )


@pytest.mark.parametrize("thread_id", ["one", "child"])
def test_one_of_several_dialogs_is_answered_in_the_terminal(tmp_path: Path, thread_id: str) -> None:
    """Its wait closes at once, although the thread still shows the other one."""

    async def story(daemon: CodexDaemon, watched: Watched) -> None:
        await daemon.open("one")
        await watched.until(one="idle")
        if thread_id != "one":
            await daemon.open(thread_id, parentThreadId="one")
        for number, call_id in enumerate(("call-1", "call-2")):
            given = {"tool_input": {"command": f"make {call_id}"}}
            await watched.engine.submit(hook("PreToolUse", thread_id, tool_use_id=call_id, **given))
            await watched.engine.submit(hook("PermissionRequest", thread_id, **given))
            await daemon.ask(thread_id, request_id=number, call_id=call_id)
        await eventually(lambda: len(watched.registry.find_approvals(thread_id)) == 2)
        assert watched.open_calls() == ["call-1", "call-2"]
        await daemon.resolve(0)
        await eventually(lambda: watched.open_calls() == ["call-2"])
        assert watched.states() == {"one": "waiting"}
        (agent,) = watched.journal.agents(ended_after=0)
        waits = watched.journal.waits(agent_id=agent.id, only_open=False)
        assert {wait.call_id: wait.resolution for wait in waits} == {"call-1": ANSWERED, "call-2": None}

    watch(tmp_path, story)


def test_without_codex_nothing_happens(tmp_path: Path) -> None:
    """There is no socket, and that is no problem."""

    async def main() -> None:
        watched = Watched(tmp_path / "missing")
        watched.registry.start()
        await watched.registry.first_check()
        await asyncio.sleep(0.2)
        assert (watched.registry.running, watched.registry.problem) == (True, None)
        assert (watched.registry.processes(), watched.registry.summary) == ([], "0 threads")
        await watched.registry.stop()
        watched.ancestry.close()

    asyncio.run(main())
