"""The activity of one day: working and waiting time, commands and tools per project, and the latency of hooks.

Working and waiting time is the time between state changes. The current state of an agent counts until now. The
arithmetic is pure; the journal only delivers rows.
"""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from claude_headspace.clients.decode import decode
from claude_headspace.clients.hooks import hook_names
from claude_headspace.kernel.agent import Agent, Command, Project
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.text import Time, iso
from claude_headspace.ports import Clock, EventFilter, Reader, StateRow, StoredEvent

HOUR = 3_600 * SECOND
LATE = 60 * SECOND
"""A hook with a longer delay waited in the spool while no daemon ran. It is counted, but is not part of the latency."""
MAX_TOOL_CALLS = 20_000
MAX_DELAYS = 50_000
COUNTED_STATES = ("working", "waiting")


class TimeSpent(msgspec.Struct):
    """Time that agents spent, in seconds."""

    working_seconds: float = 0.0
    waiting_seconds: float = 0.0

    def add(self, state: str, seconds: float) -> None:
        """Add time in a state."""
        if state == "working":
            self.working_seconds += seconds
        else:
            self.waiting_seconds += seconds


class ProjectActivity(TimeSpent, kw_only=True):
    """The activity in one project."""

    project: Project
    agents: int = 0
    commands: int = 0
    outcomes: dict[str, int] = {}
    tools: dict[str, int] = {}


class Latency(msgspec.Struct, frozen=True):
    """The time from a hook's firing to its receipt, in milliseconds. `late` hooks waited in the spool."""

    p50: float
    p90: float
    p99: float
    slowest: float
    events: int
    late: int


class ActivityView(msgspec.Struct, frozen=True, kw_only=True):
    """The activity of one day."""

    day: str
    begins_at: Time
    ends_at: Time
    projects: list[ProjectActivity]
    hours: list[TimeSpent]
    """One entry per hour of the day."""
    tools: dict[str, int]
    latency_ms: Latency | None


class Interval(msgspec.Struct, frozen=True):
    """A time in which an agent was in one state."""

    agent_id: str
    state: str
    start: Micros
    end: Micros


def intervals(rows: Iterable[StateRow], since: Micros, until: Micros) -> Iterator[Interval]:
    """The time that agents spent working and waiting, within these bounds."""
    by_agent: dict[str, list[StateRow]] = defaultdict(list)
    for row in rows:
        by_agent[row.agent_id].append(row)
    for agent_id, states in by_agent.items():
        ends = [row.at for row in states[1:]] + [until]
        for row, left_at in zip(states, ends, strict=True):
            start, end = max(row.at, since), min(left_at, until)
            if row.state in COUNTED_STATES and end > start:
                yield Interval(agent_id, row.state, start, end)


def by_hour(spent: Iterable[Interval], since: Micros, until: Micros) -> list[TimeSpent]:
    """The time spent in each hour."""
    edges = [*range(since, until, HOUR), until]
    hours = [TimeSpent() for _ in edges[1:]]
    for interval in spent:
        for hour, (start, end) in zip(hours, pairwise(edges), strict=True):
            shared = min(interval.end, end) - max(interval.start, start)
            if shared > 0:
                hour.add(interval.state, shared / SECOND)
    return hours


def latency(delays: Sequence[Micros]) -> Latency | None:
    """Percentiles. A negative delay (the clock was set back) counts as zero."""
    milliseconds = sorted(max(delay, 0) / 1_000 for delay in delays if delay < LATE)
    if not milliseconds:
        return None
    cuts = statistics.quantiles(milliseconds, n=100, method="inclusive") if len(milliseconds) > 1 else milliseconds * 99
    p50, p90, p99, slowest = (round(value, 1) for value in (cuts[49], cuts[89], cuts[98], milliseconds[-1]))
    return Latency(p50, p90, p99, slowest, len(milliseconds), len(delays) - len(milliseconds))


class DayTotals:
    """Adds up one day by project."""

    def __init__(self, agents: Iterable[Agent]) -> None:
        self._project = {agent.id: agent.project for agent in agents}
        self._totals: dict[str, ProjectActivity] = {}
        self._agents: dict[str, set[str]] = defaultdict(set)

    def of_project(self, agent_id: str) -> ProjectActivity | None:
        """The totals of the agent's project; None for an agent that is no longer in the journal."""
        project = self._project.get(agent_id)
        if project is None:
            return None
        self._agents[project.id].add(agent_id)
        totals = self._totals.setdefault(project.id, ProjectActivity(project=project))
        totals.agents = len(self._agents[project.id])
        return totals

    def add_time(self, spent: Iterable[Interval]) -> None:
        """Add working and waiting time."""
        for interval in spent:
            if (project := self.of_project(interval.agent_id)) is not None:
                project.add(interval.state, (interval.end - interval.start) / SECOND)

    def add_commands(self, commands: Iterable[Command]) -> None:
        """Add commands by outcome."""
        for command in commands:
            if (project := self.of_project(command.agent_id)) is not None:
                outcome = command.outcome.value if command.outcome else "open"
                project.commands += 1
                project.outcomes[outcome] = project.outcomes.get(outcome, 0) + 1

    def add_tools(self, events: Iterable[StoredEvent]) -> Counter[str]:
        """Add tool calls to their projects; the tool calls of all projects by tool."""
        overall: Counter[str] = Counter()
        for stored in events:
            tool = _tool(stored)
            overall[tool] += 1
            if (project := self.of_project(stored.agent_id)) is not None:
                project.tools[tool] = project.tools.get(tool, 0) + 1
        return overall

    @property
    def projects(self) -> list[ProjectActivity]:
        """The project with the most working time first."""
        return sorted(self._totals.values(), key=lambda each: (-each.working_seconds, each.project.name))


def _tool(stored: StoredEvent) -> str:
    tool = decode(stored.envelope).tool
    return (tool.name if tool is not None else "") or "unknown"


class ActivityQueries:
    """Reads the activity of a day."""

    def __init__(self, reader: Reader, clock: Clock) -> None:
        self._reader = reader
        self._clock = clock

    def of_day(self, day: str, since: Micros, until: Micros) -> ActivityView:
        """The activity of a day, until now if it is today."""
        totals = DayTotals(self._reader.agents(ended_after=0))
        end = min(until, max(self._clock(), since))
        spent = list(intervals(self._reader.states_between(since, until), since, end))
        calls = EventFilter(names=hook_names({HookKind.BEFORE_TOOL}), received_between=(since, until))
        totals.add_time(spent)
        totals.add_commands(self._reader.commands_between(since, until))
        tools = totals.add_tools(self._reader.events(limit=MAX_TOOL_CALLS, matching=calls))
        return ActivityView(
            day=day,
            begins_at=iso(since),
            ends_at=iso(until),
            projects=totals.projects,
            hours=by_hour(spent, since, until),
            tools=dict(tools.most_common()),
            latency_ms=latency(self._reader.hook_delays(since, until, MAX_DELAYS)),
        )
