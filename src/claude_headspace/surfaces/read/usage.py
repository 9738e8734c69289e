"""An agent's context size and cost over time: its newest events are replayed in memory.

The replay uses the same `evolve` as the board, so the last value equals the agent's current value.
"""

from collections.abc import Iterable, Iterator

import msgspec

from claude_headspace.clients.decode import decode
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.replay import replay_event
from claude_headspace.kernel.views import Time, iso
from claude_headspace.ports import Reader, StoredEvent

MAX_EVENTS = 4_000
Measurement = tuple[int | None, float | None, float | None]
NOT_MEASURED: Measurement = (None, None, None)


class UsageView(msgspec.Struct, frozen=True):
    """The usage of an agent from one time on."""

    at: Time
    tokens: int | None
    context_percent: float | None
    cost_usd: float | None


def usage(reader: Reader, agent: Agent) -> list[UsageView]:
    """Every change of usage in the newest events of an agent."""
    return list(_changes(agent, reader.events(agent_id=agent.id, limit=MAX_EVENTS)))


def _changes(agent: Agent, events: Iterable[StoredEvent]) -> Iterator[UsageView]:
    past: Agent | None = None
    last = NOT_MEASURED
    for stored in events:
        replayed = replay_event(
            past, agent.id, stored.envelope, decode(stored.envelope), stored.strategy, stored.anomaly
        )
        if replayed is None:
            continue
        past = replayed.change.agent
        if (measured := _measurement(past)) != last:
            last = measured
            yield UsageView(iso(stored.envelope.fired_at), *measured)


def _measurement(agent: Agent) -> Measurement:
    return agent.tokens, agent.context_percent, agent.cost_usd
