"""The process table: vanished clients, reused pids, ancestry."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from claude_headspace.inputs.watch import processes
from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.client_processes import find_ancestry
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.inputs.watch.processes import ProcessWatch, has_lost_terminal, is_alive, is_running
from claude_headspace.kernel.envelope import SECOND, Envelope, Observations, Origin
from claude_headspace.ports import Outcome
from claude_headspace.testing import START, ManualClock, hook
from tests.engines import engine_over
from tests.journals import TemporaryJournal


def ended_pid() -> int:
    """The pid of a process that has just ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_a_process_is_alive_until_it_ends() -> None:
    """This process is alive, one that ended is not."""
    assert is_alive(os.getpid())
    assert not is_alive(ended_pid())


def test_a_process_of_another_user_is_alive() -> None:
    """Being refused to signal a process does not mean that it ended."""
    assert is_alive(1)


@pytest.mark.parametrize("pid", [10**12, 10**30])
def test_an_impossible_pid_counts_as_alive(pid: int) -> None:
    """A pid that cannot be looked up is no proof that a client ended."""
    assert is_alive(pid)


async def no_project(_directory: str | None) -> Observations:
    """Locate no project."""
    return Observations()


def check(*starts: Envelope, checks: int = 1) -> tuple[TemporaryJournal, list[Envelope]]:
    """Submit hooks and run some full checks. Returns the journal and the submitted envelopes."""
    journal, clock, submitted = TemporaryJournal(), ManualClock(START), list[Envelope]()

    async def run() -> None:
        engine = engine_over(journal, iter(map(str, range(100))).__next__)
        engine.start()

        async def submit(envelope: Envelope, agent_id: str) -> Outcome:
            submitted.append(envelope)
            return await engine.submit(envelope, agent_id)

        for start in starts:
            await engine.submit(start)
        watch = ProcessWatch(journal, submit, EnvelopeBuilder("laptop", clock, no_project), AgentCache("laptop"))
        for _ in range(checks):
            clock.advance(60)
            await watch.check()
        await engine.stop()

    asyncio.run(run())
    return journal, submitted


def test_the_agent_of_a_vanished_client_ends() -> None:
    """A killed client fires no hook. The process table shows it: reported once, with medium confidence."""
    pid = ended_pid()
    journal, submitted = check(hook("SessionStart", observations=Observations(client_pid=pid)), checks=3)
    (agent,) = journal.agents(ended_after=0)
    assert (agent.state, agent.end_reason) == ("ended", "vanished")
    assert agent.evidence is not None
    assert (agent.evidence.source, agent.evidence.confidence) == ("process", "medium")
    assert [(envelope.name, envelope.origin) for envelope in submitted] == [("ClientVanished", Origin.PROCESS)]
    assert list(journal.verify()) == []


def test_running_and_unknown_clients_are_ignored() -> None:
    """A running client, one without a pid and one on another host are not reported."""
    journal, submitted = check(
        hook("SessionStart", session_id="living", cwd="/a", observations=Observations(client_pid=os.getpid())),
        hook("SessionStart", session_id="unknown", cwd="/b"),
        hook(
            "SessionStart",
            session_id="elsewhere",
            cwd="/c",
            host="desktop",
            observations=Observations(client_pid=ended_pid()),
        ),
    )
    assert submitted == []
    assert {agent.state.value for agent in journal.agents()} == {"idle"}


# --- pid and start time -----------------------------------------------------------------------------------------------


def test_a_zombie_is_not_alive() -> None:
    """It ended, and its parent has not collected it. tmux leaves zombies for long."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not is_alive(process.pid)
        assert not is_running(process.pid, None)


def test_a_reused_pid_is_another_process() -> None:
    """The start time shows the difference."""
    started_at = find_ancestry(os.getpid()).client_started_at
    assert started_at is not None
    assert is_running(os.getpid(), started_at)
    assert is_running(os.getpid(), None)
    assert is_running(os.getpid(), started_at + SECOND), "setting the clock shifts the reported start time"
    assert not is_running(os.getpid(), started_at - 3_600 * SECOND)


def test_an_agent_whose_pid_was_reused_ends() -> None:
    """The process with that pid started at another time."""
    context = Observations(client_pid=os.getpid(), client_started_at=START - 3_600 * SECOND)
    journal, _ = check(hook("SessionStart", observations=context), checks=2)
    assert [agent.state.value for agent in journal.agents(ended_after=0)] == ["ended"]


def test_a_missing_client_gets_time_for_its_session_end() -> None:
    """SessionEnd arrives up to a second after the process ended, so the first check reports nothing."""
    start = hook("SessionStart", observations=Observations(client_pid=ended_pid()))
    _, submitted = check(start, checks=1)
    assert submitted == []
    _, submitted = check(start, checks=2)
    (vanished,) = submitted
    assert vanished.fired_at == START + 60 * SECOND, "the time of the first check without the process"


@pytest.mark.parametrize("alive", [True, False])
def test_an_agent_without_a_client_ends_with_its_wrapper(alive: bool) -> None:
    """A killed wrapper cannot report that its client will never start."""
    pid = os.getpid() if alive else ended_pid()
    act: dict[str, Any] = {"pid": pid, "began": find_ancestry(pid).client_started_at, "cwd": "/app"}
    journal, submitted = check(
        hook("AgentRegistered", origin=Origin.OPERATOR, observations=Observations(headspace_id="h"), **act)
    )
    assert [envelope.name for envelope in submitted] == ([] if alive else ["WrapperVanished"])
    (agent,) = journal.agents(ended_after=0)
    assert agent.state.value == ("starting" if alive else "ended")
    assert list(journal.verify()) == []


IGNORES_HANGUP = """
import signal, time
signal.signal(signal.SIGHUP, signal.SIG_IGN)
print("up", flush=True)
time.sleep(60)
"""


def test_a_process_can_outlive_its_terminal() -> None:
    """Its terminal is gone, but the process goes on. A process that never had one has lost none."""
    master, terminal = os.openpty()
    command = [sys.executable, "-c", IGNORES_HANGUP]
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True) as process:
        try:
            os.close(terminal)
            os.read(master, 10)
            assert not has_lost_terminal(process.pid)
            os.close(master)
            assert is_alive(process.pid)
            assert has_lost_terminal(process.pid) is Path("/proc/self").exists()
        finally:
            process.kill()
    assert not has_lost_terminal(os.getpid())


@pytest.mark.parametrize(("client", "ends"), [("gemini", True), ("claude-code", False)])
def test_a_client_without_its_terminal_has_ended(client: str, ends: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only for clients that are known to outlive their terminal."""
    monkeypatch.setattr(processes, "has_lost_terminal", lambda _pid: True)
    start = hook("SessionStart", observations=Observations(client_pid=os.getpid()))
    journal, _ = check(msgspec.structs.replace(start, client=client), checks=3)
    (agent,) = journal.agents(ended_after=0)
    assert (agent.ended_at is not None) is ends
