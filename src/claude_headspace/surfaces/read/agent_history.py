"""An agent over time: as it was at a past time, and its context size and cost. Its events are replayed in memory.

The replay uses the same `evolve` as the board, so the last value equals the agent's current value. Events count by when
they were received, in log order; events of an imported log by when its origin received them. A time in whole seconds
includes the rest of that second.
"""

from collections.abc import Iterable, Iterator

import msgspec

from claude_headspace.clients.decode import decode
from claude_headspace.engine.log_transfer import events_of
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.replay import replay_event
from claude_headspace.kernel.text import Time, iso
from claude_headspace.ports import Reader, StoredEvent
from claude_headspace.surfaces.text.timestamps import local_time

MAX_EVENTS = 4_000
"""How many of the newest events the usage is read from."""


class UsageView(msgspec.Struct, frozen=True):
    """The usage of an agent from one time on."""

    at: Time
    tokens: int | None
    context_percent: float | None
    cost_usd: float | None


def agent_at(reader: Reader, agent: Agent, time: Micros) -> Agent:
    """The agent as it was known at a time. Refused if the time is before its first event or was pruned."""
    until = time + SECOND - 1 if time % SECOND == 0 else time
    snapshot = reader.snapshot(agent.id)
    if snapshot is not None and snapshot.at > until:
        raise BadRequest(
            "pruned",
            f"Events of {agent.name} before {local_time(snapshot.at)} were pruned.",
            "Choose a later time. The setting `retention_days` controls how long events are kept.",
            status=404,
        )
    past = snapshot.agent if snapshot else None
    events = events_of(reader, agent.id, snapshot.seq if snapshot else 0)
    received = (stored for stored in events if stored.envelope.received_at <= until)
    for _stored, replayed in _replay(agent.id, past, received):
        past = replayed
    if past is None:
        raise BadRequest(
            "unknown_then",
            f"{agent.name} did not exist yet at {local_time(time)}.",
            f"`headspace replay {agent.name}` lists the times of its events.",
            status=404,
        )
    return past


def usage(reader: Reader, agent: Agent) -> list[UsageView]:
    """Every change of usage in the newest events of an agent."""
    changes: list[UsageView] = []
    last: tuple[float | None, ...] = (None, None, None)
    for stored, past in _replay(agent.id, None, reader.events(agent_id=agent.id, limit=MAX_EVENTS)):
        measured = past.tokens, past.context_percent, past.cost_usd
        if measured != last:
            last = measured
            changes.append(UsageView(iso(stored.envelope.fired_at), *measured))
    return changes


def _replay(agent_id: str, past: Agent | None, events: Iterable[StoredEvent]) -> Iterator[tuple[StoredEvent, Agent]]:
    """The agent after each of its events."""
    for stored in events:
        event = decode(stored.envelope)
        replayed = replay_event(past, agent_id, stored.envelope, event, stored.strategy, stored.anomaly)
        if replayed is not None:
            past = replayed.change.agent
            yield stored, past
