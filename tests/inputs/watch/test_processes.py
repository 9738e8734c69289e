"""The process table: whose client is gone."""

import asyncio
import os
import subprocess
import sys
from typing import Any

import pytest

from claude_headspace.inputs.watch.processes import ProcessAncestry, ProcessWatch, find_ancestry, is_alive, is_running
from claude_headspace.kernel.envelope import SECOND, Envelope, Observations, Origin
from claude_headspace.ports import Outcome
from claude_headspace.testing import START, ManualClock, hook
from tests.engines import engine_over
from tests.journals import TemporaryJournal


def gone_pid() -> int:
    """The number of a process that was there a moment ago."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def test_a_process_is_alive_until_it_ends() -> None:
    """Ours is there, one that ended is not."""
    assert is_alive(os.getpid())
    assert not is_alive(gone_pid())


def test_a_process_of_somebody_else_is_alive() -> None:
    """That we may not speak to a process does not mean that it is gone."""
    assert is_alive(1)


@pytest.mark.parametrize("pid", [10**12, 10**30])
def test_a_number_that_no_process_can_have_ends_nobody(pid: int) -> None:
    """What cannot be looked up is no sign that somebody is gone."""
    assert is_alive(pid)


def look(*starts: Envelope, host: str = "laptop", looks: int = 1) -> tuple[TemporaryJournal, list[Envelope]]:
    """Let these begin, then look so many times; the journal afterwards, and what was told."""
    journal, clock, told = TemporaryJournal(), ManualClock(START), list[Envelope]()

    async def play() -> None:
        engine = engine_over(journal, iter(map(str, range(100))).__next__)
        engine.start()

        async def submit(envelope: Envelope, agent_id: str) -> Outcome:
            told.append(envelope)
            return await engine.submit(envelope, agent_id)

        for start in starts:
            await engine.submit(start)
        watch = ProcessWatch(host, clock, journal, submit)
        for _ in range(looks):
            clock.advance(60)
            await watch()
        await engine.stop()

    asyncio.run(play())
    return journal, told


def test_the_agent_of_a_vanished_client_ends() -> None:
    """A killed client fires no hook; the process table tells it, once and with less confidence."""
    pid = gone_pid()
    journal, told = look(hook("SessionStart", observations=Observations(client_pid=pid)), looks=3)
    (agent,) = journal.agents(ended_after=0)
    assert (agent.state, agent.end_reason) == ("ended", "vanished")
    assert agent.evidence is not None
    assert (agent.evidence.source, agent.evidence.confidence) == ("process", "medium")
    assert [(envelope.name, envelope.origin) for envelope in told] == [("ClientVanished", Origin.PROCESS)]
    assert list(journal.verify()) == []


def test_living_and_unknown_clients_are_left_alone() -> None:
    """Who lives, who never told its process and who is on another machine goes on."""
    journal, told = look(
        hook("SessionStart", session_id="living", cwd="/a", observations=Observations(client_pid=os.getpid())),
        hook("SessionStart", session_id="unknown", cwd="/b"),
        hook(
            "SessionStart",
            session_id="elsewhere",
            cwd="/c",
            host="desktop",
            observations=Observations(client_pid=gone_pid()),
        ),
    )
    assert told == []
    assert {agent.state.value for agent in journal.agents()} == {"idle"}


# --- more than a number -----------------------------------------------------------------------------------------------


def test_what_is_left_of_a_process_is_not_alive() -> None:
    """It ended, and its parent has not fetched it yet: tmux leaves some for long."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not is_alive(process.pid)
        assert not is_running(process.pid, None)


def test_another_process_of_the_same_number_is_somebody_else() -> None:
    """A number is given to another process some day: the start tells."""
    began = find_ancestry(os.getpid()).client_started_at
    assert began is not None
    assert is_running(os.getpid(), began)
    assert is_running(os.getpid(), None)
    assert is_running(os.getpid(), began + SECOND), "when the clock is set the system tells another second"
    assert not is_running(os.getpid(), began - 3_600 * SECOND)


def test_the_agent_of_a_client_whose_number_was_given_away_ends() -> None:
    """The process of that number began at another time."""
    context = Observations(client_pid=os.getpid(), client_started_at=START - 3_600 * SECOND)
    journal, _ = look(hook("SessionStart", observations=context), looks=2)
    assert [agent.state.value for agent in journal.agents(ended_after=0)] == ["ended"]


def test_the_last_words_of_a_client_are_waited_for() -> None:
    """SessionEnd comes up to a second after the process is gone: the first look only notes that it is missing."""
    start = hook("SessionStart", observations=Observations(client_pid=gone_pid()))
    _, told = look(start, looks=1)
    assert told == []
    _, told = look(start, looks=2)
    (vanished,) = told
    assert vanished.fired_at == START + 60 * SECOND, "it is gone since it was first missed"


@pytest.mark.parametrize("alive", [True, False])
def test_a_placeholder_ends_with_its_wrapper(alive: bool) -> None:
    """A wrapper that was killed cannot tell that its client will never report."""
    pid = os.getpid() if alive else gone_pid()
    act: dict[str, Any] = {"pid": pid, "began": find_ancestry(pid).client_started_at, "cwd": "/app"}
    journal, told = look(
        hook("AgentRegistered", origin=Origin.OPERATOR, observations=Observations(headspace_id="h"), **act)
    )
    assert [envelope.name for envelope in told] == ([] if alive else ["WrapperVanished"])
    (agent,) = journal.agents(ended_after=0)
    assert agent.state.value == ("starting" if alive else "ended")
    assert list(journal.verify()) == []


def test_ancestors_are_told_nearest_first() -> None:
    """Whose child a client is follows from them."""
    program = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as child:
        found = find_ancestry(child.pid)
        child.kill()
    assert found.ancestor_pids[:2] == (os.getpid(), os.getppid())
    assert found.client_started_at is not None
    assert find_ancestry(gone_pid()).ancestor_pids == ()


def test_kinship_is_looked_up_once() -> None:
    """Hooks of one client come many to a second."""

    async def play() -> bool:
        kinship = ProcessAncestry()
        first, second = await kinship(os.getpid()), await kinship(os.getpid())
        kinship.close()
        return first is second

    assert asyncio.run(play())
