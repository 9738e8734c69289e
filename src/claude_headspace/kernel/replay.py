"""One stored event, understood again: the step that every replay repeats. It uses `evolve` alone, and never acts."""

from typing import NamedTuple

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import Identity, Strategy
from claude_headspace.kernel.creation import claimed_identities, create_agent
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.evolve.change import Change
from claude_headspace.kernel.facts import Event

NOT_UNDERSTOOD = "not understood: "
"""How the anomaly of an event begins that was kept without changing its agent."""

WITHOUT_AGENT = (Strategy.NOBODY, Strategy.EFFORT)


class Replayed(NamedTuple):
    """What an event changed, and what its agent was recognised by from then on."""

    change: Change
    claims: list[Identity]


def replay_event(
    agent: Agent | None, agent_id: str, envelope: Envelope, event: Event, strategy: Strategy, anomaly: str | None
) -> Replayed | None:
    """What an event did to its agent (None: it was the first); nothing, where it was kept without meaning."""
    if strategy in WITHOUT_AGENT or (anomaly is not None and anomaly.startswith(NOT_UNDERSTOOD)):
        return None
    before = agent or create_agent(agent_id, envelope, event)
    return Replayed(evolve(before, event), claimed_identities(before, envelope, event))
