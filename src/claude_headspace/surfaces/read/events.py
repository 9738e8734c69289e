"""The event log: pages of events, the export of one agent's log, and whether a client reported a prompt."""

from collections.abc import Iterator

import msgspec

from claude_headspace.clients.decode import decode
from claude_headspace.engine.log_transfer import log_lines
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Origin
from claude_headspace.kernel.facts import Fact, PromptQueued, PromptSubmitted, Several, UserWrote
from claude_headspace.kernel.policy.verdict import Verdict
from claude_headspace.kernel.text import Time, iso
from claude_headspace.ports import ALL_EVENTS, Clock, EventFilter, Reader, StoredEvent

MAX_EVENTS_SEARCHED = 200


class EventView(msgspec.Struct, frozen=True):
    """One event as it arrived."""

    seq: int
    id: str
    name: str
    origin: Origin
    client: str
    agent_id: str
    host: str
    fired_at: Time
    received_at: Time
    correlation: str
    anomaly: str | None
    verdict: Verdict | None
    """The policy's verdict on the tool call."""
    payload: msgspec.Raw


class EventQueries:
    """Reads the event log."""

    def __init__(self, reader: Reader, clock: Clock, host: str) -> None:
        self._reader = reader
        self._clock = clock
        self._host = host

    def page(
        self, *, agent_id: str | None, after: int | None, limit: int, matching: EventFilter = ALL_EVENTS
    ) -> list[EventView]:
        """Events of one agent or of all: those after a sequence number, or the newest."""
        found = self._reader.events(agent_id=agent_id, after=after, limit=limit, matching=matching)
        return [_event_view(stored) for stored in found]

    def export(self, agent: Agent, session_id: str | None = None) -> Iterator[bytes]:
        """The log of an agent, or of one of its sessions, as JSON lines."""
        return log_lines(self._reader, agent, session_id, self._host, self._clock())

    def last_seq(self, agent_id: str) -> int:
        """The sequence number of an agent's newest event; 0 if it has none."""
        newest = self._reader.events(agent_id=agent_id, limit=1)
        return newest[-1].seq if newest else 0

    def has_prompt(self, agent_id: str, after: int, text: str) -> bool:
        """Whether the agent's client reported this prompt after a sequence number. White space is ignored."""
        wanted = text.split()
        events = self._reader.events(agent_id=agent_id, after=after, limit=MAX_EVENTS_SEARCHED)
        return any(prompt.split() == wanted for event in events for prompt in prompts_of(decode(event.envelope).fact))


def prompts_of(fact: Fact) -> Iterator[str]:
    """The prompts that a fact contains, running or queued."""
    for each in fact.facts if isinstance(fact, Several) else (fact,):
        if isinstance(each, PromptSubmitted | PromptQueued | UserWrote):
            yield each.text


def _event_view(stored: StoredEvent) -> EventView:
    envelope = stored.envelope
    return EventView(
        stored.seq,
        envelope.id,
        envelope.name,
        envelope.origin,
        envelope.client,
        stored.agent_id,
        envelope.host,
        iso(envelope.fired_at),
        iso(envelope.received_at),
        stored.strategy.value,
        stored.anomaly,
        envelope.decisions.verdict,
        msgspec.Raw(envelope.payload),
    )
