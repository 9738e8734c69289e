"""One stored event, understood again: the step that every replay repeats. It uses `evolve` alone, and never acts."""

from typing import NamedTuple

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import Identity, Strategy
from claude_headspace.kernel.creation import born, claims
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.evolve.change import Change
from claude_headspace.kernel.facts import Event

UNDERSTANDING_FAILED = "not understood: "
"""How the anomaly of an event begins that was kept without changing its agent."""

OF_NO_AGENT = (Strategy.NOBODY, Strategy.EFFORT)


class Retold(NamedTuple):
    """What an event changed, and what its agent was recognised by from then on."""

    change: Change
    claims: list[Identity]


def retell(
    agent: Agent | None, agent_id: str, envelope: Envelope, event: Event, strategy: Strategy, anomaly: str | None
) -> Retold | None:
    """What an event did to its agent (None: it was the first); nothing, where it was kept without meaning."""
    if strategy in OF_NO_AGENT or (anomaly is not None and anomaly.startswith(UNDERSTANDING_FAILED)):
        return None
    before = agent or born(agent_id, envelope, event)
    return Retold(evolve(before, event), claims(before, envelope, event))
