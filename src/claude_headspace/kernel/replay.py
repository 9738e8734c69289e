"""Apply one stored event again. Uses `evolve` alone: a replay never decides, publishes or acts."""

from typing import NamedTuple

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.correlate import Identity, Strategy, claimed_identities, create_agent, identities
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.evolve import evolve
from claude_headspace.kernel.evolve.change import Change
from claude_headspace.kernel.facts import Event

NOT_UNDERSTOOD = "not understood: "
"""How the anomaly starts of an event that was stored without changing its agent."""

WITHOUT_AGENT = (Strategy.NOBODY, Strategy.EFFORT)


class Replayed(NamedTuple):
    """The change of an event, and the identities that its agent claimed."""

    change: Change
    claims: list[Identity]


def replay_event(
    agent: Agent | None, agent_id: str, envelope: Envelope, event: Event, strategy: Strategy, anomaly: str | None
) -> Replayed | None:
    """Apply an event to its agent (None for its first event). None if the event changes no agent."""
    if strategy in WITHOUT_AGENT or (anomaly is not None and anomaly.startswith(NOT_UNDERSTOOD)):
        return None
    before = agent or create_agent(agent_id, envelope, event)
    return Replayed(evolve(before, event), claimed_identities(before, envelope, identities(envelope, event)))
