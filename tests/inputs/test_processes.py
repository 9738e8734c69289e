"""The process table: whose client is gone."""

import asyncio
import os
import subprocess
import sys

import pytest

from claude_headspace.engine import Engine, Outcome
from claude_headspace.inputs.processes import ProcessWatch, is_alive
from claude_headspace.kernel.envelope import Context, Envelope, Origin
from claude_headspace.testing import START, ManualClock, MemoryJournal, hook


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


def look(*starts: Envelope, host: str = "laptop", looks: int = 1) -> tuple[MemoryJournal, list[Envelope]]:
    """Let these begin, then look so many times; the journal afterwards, and what was told."""
    journal, clock, told = MemoryJournal(), ManualClock(START), list[Envelope]()

    async def play() -> None:
        engine = Engine(journal, lambda _messages: None, iter(map(str, range(100))).__next__)
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
    journal, told = look(hook("SessionStart", context=Context(client_pid=pid)), looks=3)
    (agent,) = journal.agents(ended_after=0)
    assert (agent.state, agent.end_reason) == ("ended", "vanished")
    assert agent.evidence is not None
    assert (agent.evidence.source, agent.evidence.confidence) == ("process", "medium")
    assert [(envelope.name, envelope.origin) for envelope in told] == [("ClientVanished", Origin.PROCESS)]
    assert list(journal.verify()) == []


def test_living_and_unknown_clients_are_left_alone() -> None:
    """Who lives, who never told its process and who is on another machine goes on."""
    journal, told = look(
        hook("SessionStart", session_id="living", cwd="/a", context=Context(client_pid=os.getpid())),
        hook("SessionStart", session_id="unknown", cwd="/b"),
        hook("SessionStart", session_id="elsewhere", cwd="/c", host="desktop", context=Context(client_pid=gone_pid())),
    )
    assert told == []
    assert {agent.state.value for agent in journal.agents()} == {"idle"}
