"""What surfaces ask, answered as views: the one way from the journal to what people see, on every surface alike."""

from collections.abc import Iterator

import msgspec

from claude_headspace.clients.decode import decode
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.envelope import SECOND, Micros, Origin
from claude_headspace.kernel.facts import Fact, PromptQueued, PromptSubmitted, Several, UserWrote
from claude_headspace.kernel.policy.verdict import Verdict
from claude_headspace.kernel.views import (
    AgentView,
    CommandView,
    SessionView,
    Time,
    TurnView,
    WaitView,
    agent_view,
    command_view,
    iso,
    session_view,
    turn_view,
    wait_view,
)
from claude_headspace.ports import ALL_EVENTS, Clock, EventFilter, Reader, StateRow, StoredEvent
from claude_headspace.surfaces.api.agent_history import agent_at
from claude_headspace.surfaces.api.projects import is_meant, resolve_projects

RECENTLY = 24 * 3600 * SECOND
"""How long an ended agent stays on the board."""

SHORTEST_PREFIX = 4

_URGENCY = {
    AgentState.WAITING: 0,
    AgentState.ERROR: 1,
    AgentState.WORKING: 2,
    AgentState.STARTING: 3,
    AgentState.IDLE: 4,
    AgentState.ENDED: 5,
}


class StateView(msgspec.Struct, frozen=True):
    """A state that an agent came into, and why we believe it."""

    seq: int
    at: Time
    state: str
    waiting_for: str | None
    source: str
    confidence: str
    why: str
    event: str


class EventView(msgspec.Struct, frozen=True):
    """One event as it arrived."""

    seq: int
    id: str
    name: str
    origin: Origin
    agent_id: str
    host: str
    fired_at: Time
    received_at: Time
    correlation: str
    anomaly: str | None
    verdict: Verdict | None
    """What a policy said of the call."""
    payload: msgspec.Raw


def resolve(reader: Reader, reference: str) -> Agent:
    """The agent that a person means: by id, by name, or by the beginning of the id."""
    found = reader.agent(reference)
    if found is not None:
        return found
    named = reader.agents_by_name(reference)
    if named:
        return named[0]
    beginning = reader.agents_by_id_prefix(reference) if len(reference) >= SHORTEST_PREFIX else []
    if len(beginning) == 1:
        return beginning[0]
    if beginning:
        names = ", ".join(f"{agent.id[:12]} ({agent.name})" for agent in beginning)
        raise BadRequest(
            "ambiguous_agent", f"Several ids begin with {reference}: {names}.", "Give more of it.", status=409
        )
    raise BadRequest(
        "unknown_agent", f"There is no agent {reference}.", "`headspace list` shows their names.", status=404
    )


class ReadModel:
    """Answers in views."""

    def __init__(self, reader: Reader, clock: Clock) -> None:
        self._reader = reader
        self._clock = clock

    def agents(self, *, state: str | None = None, project: str | None = None, every: bool = False) -> list[AgentView]:
        """The board: those who need somebody first. Ended agents stay for a day, or for ever with `every`."""
        return [
            agent_view(agent)
            for agent in self._board(every=every)
            if state in (None, agent.state.value) and (project is None or is_meant(agent.project, project))
        ]

    def agents_with_transcripts(self) -> list[tuple[AgentView, str | None]]:
        """The board, each agent with the path of its transcript."""
        return [(agent_view(a), a.session.transcript_path if a.session else None) for a in self._board(every=False)]

    def _board(self, *, every: bool) -> list[Agent]:
        found = self._reader.agents(ended_after=0 if every else self._clock() - RECENTLY)
        return sorted(found, key=lambda agent: (_URGENCY[agent.state], -agent.last_active_at))

    def resolve(self, reference: str) -> Agent:
        """The agent that a person means."""
        return resolve(self._reader, reference)

    def projects(self, reference: str) -> tuple[str, ...]:
        """The ids of the projects that a person means."""
        return resolve_projects(self._reader, reference)

    def agent(self, reference: str) -> AgentView:
        """One agent."""
        return agent_view(self.resolve(reference))

    def agent_at(self, reference: str, moment: Micros) -> AgentView:
        """One agent, as far as it was known at a moment."""
        return agent_view(agent_at(self._reader, self.resolve(reference), moment))

    def turns(self, reference: str, limit: int) -> list[TurnView]:
        """What was said."""
        return [turn_view(turn) for turn in self._reader.turns(agent_id=self.resolve(reference).id, limit=limit)]

    def command_turns(self, command_id: str, limit: int) -> list[TurnView]:
        """What was said in one command."""
        if self._reader.command(command_id) is None:
            raise BadRequest(
                "unknown_command", f"There is no command {command_id}.", "See the agent's commands.", status=404
            )
        return [turn_view(turn) for turn in self._reader.turns(command_id=command_id, limit=limit)]

    def commands(self, reference: str, limit: int) -> list[CommandView]:
        """What the agent was told to do."""
        return [command_view(command) for command in self._reader.commands(self.resolve(reference).id, limit)]

    def sessions(self, reference: str) -> list[SessionView]:
        """The agent's context windows."""
        return [session_view(session) for session in self._reader.sessions(self.resolve(reference).id)]

    def evidence(self, reference: str, limit: int) -> list[StateView]:
        """Why the agent is believed to be in its state, and in those before."""
        return [_state_view(row) for row in self._reader.states(self.resolve(reference).id, limit)]

    def waits(self, *, reference: str | None, only_open: bool) -> list[WaitView]:
        """Who needs a human, and what for."""
        agent_id = self.resolve(reference).id if reference else None
        return [wait_view(wait) for wait in self._reader.waits(agent_id=agent_id, only_open=only_open)]

    def last_seq(self, agent_id: str) -> int:
        """The number of the newest event of an agent."""
        newest = self._reader.events(agent_id=agent_id, limit=1)
        return newest[-1].seq if newest else 0

    def has_prompt(self, agent_id: str, after: int, text: str) -> bool:
        """Whether the agent's client told of this very prompt since then."""
        wanted = text.split()
        events = self._reader.events(agent_id=agent_id, after=after, limit=200)
        return any(prompt.split() == wanted for event in events for prompt in prompts_of(decode(event.envelope).fact))

    def events(
        self, *, reference: str | None, after: int | None, limit: int, choice: EventFilter = ALL_EVENTS
    ) -> list[EventView]:
        """The log."""
        agent_id = self.resolve(reference).id if reference else None
        found = self._reader.events(agent_id=agent_id, after=after, limit=limit, matching=choice)
        return [_event_view(stored) for stored in found]


def prompts_of(fact: Fact) -> Iterator[str]:
    """The prompts that a fact tells of, whether they run or wait in the client's queue."""
    for each in fact.facts if isinstance(fact, Several) else (fact,):
        if isinstance(each, PromptSubmitted | PromptQueued | UserWrote):
            yield each.text


def _state_view(row: StateRow) -> StateView:
    return StateView(row.seq, iso(row.at), row.state, row.waiting_for, row.source, row.confidence, row.why, row.event)


def _event_view(stored: StoredEvent) -> EventView:
    envelope = stored.envelope
    return EventView(
        stored.seq,
        envelope.id,
        envelope.name,
        envelope.origin,
        stored.agent_id,
        envelope.host,
        iso(envelope.fired_at),
        iso(envelope.received_at),
        stored.strategy.value,
        stored.anomaly,
        envelope.decisions.verdict,
        msgspec.Raw(envelope.payload),
    )
