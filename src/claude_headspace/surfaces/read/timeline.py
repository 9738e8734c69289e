"""The timeline: what all agents did in a time range.

It can have a thousand agents with many states each, so its rows are compact: times are milliseconds since 1970, entries
are arrays, and evidence that occurs several times is listed once.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from claude_headspace.kernel.agent import Command, Project, Subagent
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.mission.model import Mission
from claude_headspace.kernel.text import Time, iso, one_line
from claude_headspace.ports import Clock, Reader, StateRow

MILLISECOND: Micros = 1_000
MAX_TEXT = 120

Milliseconds = int
"""Since 1970."""


class TimelineEvidence(msgspec.Struct, frozen=True):
    """Why agents entered a state."""

    why: str
    event: str
    source: str
    confidence: str


class TimelineState(msgspec.Struct, frozen=True, array_like=True):
    """A state that an agent entered: sequence number, time, state, what it waits for, index of the evidence."""

    seq: int
    at: Milliseconds
    state: str
    waiting_for: str | None
    evidence: int


class TimelineCommand(msgspec.Struct, frozen=True, array_like=True):
    """A command: its start, its text, its outcome."""

    at: Milliseconds
    text: str
    outcome: str | None


class TimelineSubagent(msgspec.Struct, frozen=True, array_like=True):
    """A sub-agent: its id, start and end (None: it runs), type and description."""

    id: str
    started_at: Milliseconds
    ended_at: Milliseconds | None
    type: str
    description: str


class TimelineMission(msgspec.Struct, frozen=True):
    """The mission of an agent."""

    id: str
    goal: str


class TimelineAgent(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent did."""

    id: str
    name: str
    project: int
    """The index of its project."""
    client: str
    parent_id: str | None
    created_at: Milliseconds
    mission: TimelineMission | None
    states: list[TimelineState]
    """The state at the beginning, then those that it entered; in order of time."""
    commands: list[TimelineCommand]
    subagents: list[TimelineSubagent]
    """Those that the agent still knows: at most 32."""


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """What all agents did in a time range."""

    since: Time
    until: Time
    projects: list[Project]
    evidence: list[TimelineEvidence]
    agents: list[TimelineAgent]


Item = TypeVar("Item")


class TimelineQueries:
    """Reads the timeline."""

    def __init__(self, reader: Reader, clock: Clock) -> None:
        self._reader = reader
        self._clock = clock

    def between(self, since: Micros, until: Micros) -> Timeline:
        """What agents did in a time range."""
        agents = self._reader.agents(ended_after=since)
        states = _by_agent(self._reader.states_between(since, until), lambda row: row.agent_id)
        commands = _by_agent(self._reader.commands_between(since, until), lambda command: command.agent_id)
        projects: dict[Project, int] = {}
        evidence: dict[TimelineEvidence, int] = {}
        found = [
            TimelineAgent(
                id=agent.id,
                name=agent.name,
                project=projects.setdefault(agent.project, len(projects)),
                client=agent.client,
                parent_id=agent.parent_id,
                created_at=_milliseconds(agent.created_at),
                mission=_mission(agent.mission),
                states=[_state(row, evidence) for row in states[agent.id]],
                commands=[_command(command) for command in commands.get(agent.id, ())],
                subagents=[_subagent(each) for each in agent.subagents if _overlaps(each, since, until)],
            )
            for agent in sorted(agents, key=lambda each: (each.created_at, each.id))
            if agent.id in states
        ]
        return Timeline(since=iso(since), until=iso(until), projects=[*projects], evidence=[*evidence], agents=found)


def _by_agent(items: Iterable[Item], agent_of: Callable[[Item], str]) -> dict[str, list[Item]]:
    found: dict[str, list[Item]] = {}
    for item in items:
        found.setdefault(agent_of(item), []).append(item)
    return found


def _milliseconds(time: Micros) -> Milliseconds:
    return time // MILLISECOND


def _state(row: StateRow, evidence: dict[TimelineEvidence, int]) -> TimelineState:
    reason = TimelineEvidence(row.why, row.event, row.source, row.confidence)
    index = evidence.setdefault(reason, len(evidence))
    return TimelineState(row.seq, _milliseconds(row.at), row.state, row.waiting_for, index)


def _command(command: Command) -> TimelineCommand:
    outcome = command.outcome.value if command.outcome else None
    return TimelineCommand(_milliseconds(command.started_at), one_line(command.text, MAX_TEXT), outcome)


def _subagent(subagent: Subagent) -> TimelineSubagent:
    end = None if subagent.is_running else _milliseconds(subagent.stopped_at)
    start, description = _milliseconds(subagent.started_at), one_line(subagent.description, MAX_TEXT)
    return TimelineSubagent(subagent.id, start, end, subagent.type, description)


def _mission(mission: Mission | None) -> TimelineMission | None:
    return TimelineMission(mission.id, one_line(mission.goal, MAX_TEXT)) if mission is not None else None


def _overlaps(subagent: Subagent, since: Micros, until: Micros) -> bool:
    return subagent.started_at < until and (subagent.is_running or subagent.stopped_at >= since)
