"""A reported end of a turn that no transcript confirms is assumed after a while."""

import asyncio

from claude_headspace.inputs.watch.agent_cache import AgentCache
from claude_headspace.inputs.watch.envelopes import EnvelopeBuilder
from claude_headspace.inputs.watch.turn_ends import TurnEndWatch
from claude_headspace.kernel.agent import ReportedEnd
from claude_headspace.kernel.envelope import SECOND, Envelope, Observations
from claude_headspace.testing import START, ManualClock
from tests.kernel.story import new_agent


async def no_project(_directory: str | None) -> Observations:
    """Locate no project."""
    return Observations()


def submitted(seconds: float, **known: object) -> list[tuple[str, str, str]]:
    """The envelopes that are submitted some seconds after the end of a turn was reported: name, client, agent."""
    fields = {"client": "gemini", "busy_at": START - SECOND, "reported_end": ReportedEnd(START)} | known
    clock, found = ManualClock(START), list[tuple[str, str, str]]()
    clock.advance(seconds)

    async def submit(envelope: Envelope, agent_id: str) -> None:
        found.append((envelope.name, envelope.client, agent_id))

    agents = AgentCache("laptop", [new_agent(**fields)])
    asyncio.run(TurnEndWatch(submit, EnvelopeBuilder("laptop", clock, no_project), agents).check())
    return found


def test_an_end_is_assumed_after_a_while() -> None:
    """The transcript had time to show how the turn ended."""
    assert submitted(4) == []
    assert submitted(5) == [("TurnEndAssumed", "gemini", "agent-1")]


def test_a_turn_that_ended_otherwise_is_left_alone() -> None:
    """The transcript showed an interrupt, or the client is gone."""
    assert submitted(60, idle_at=START) == []
    assert submitted(60, ended_at=START) == []
