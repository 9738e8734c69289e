"""What happened on a day: who worked on what for how long, who waited, which tools ran, how quick hooks arrived.

Working and waiting time is the time between the states that agents came into; a state that is not over counts until
now. The arithmetic is pure; the journal is only asked for rows.
"""

import asyncio
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec
from starlette.requests import Request

from claude_headspace.clients.claude_code.hook_kinds import hook_names
from claude_headspace.clients.decode import decode
from claude_headspace.kernel.agent import Agent, Command, Project
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.hooks import HookKind
from claude_headspace.kernel.views import Time, iso
from claude_headspace.ports import EventFilter, Reader, StateRow, StoredEvent
from claude_headspace.surfaces.api import parameters
from claude_headspace.surfaces.api.openapi import Endpoint, Parameter
from claude_headspace.surfaces.api.services import Serving

HOUR = 3_600 * SECOND
LATE = 60 * SECOND
"""A hook that took longer was not slow: it waited in the spool for a daemon to come."""
MOST_CALLS = 20_000
MOST_DELAYS = 50_000
COUNTED = ("working", "waiting")


class Spent(msgspec.Struct):
    """Time that agents spent, in seconds."""

    working_seconds: float = 0.0
    waiting_seconds: float = 0.0

    def add(self, state: str, seconds: float) -> None:
        """Count a stretch of time."""
        if state == "working":
            self.working_seconds += seconds
        else:
            self.waiting_seconds += seconds


class ProjectActivity(Spent, kw_only=True):
    """What happened in one project."""

    project: Project
    agents: int = 0
    commands: int = 0
    outcomes: dict[str, int] = {}
    tools: dict[str, int] = {}


class Latency(msgspec.Struct, frozen=True):
    """How long hooks were on their way, in milliseconds: from firing to being taken in. Those that nobody was there to
    take in are only counted.
    """

    p50: float
    p90: float
    p99: float
    slowest: float
    events: int
    late: int


class ActivityView(msgspec.Struct, frozen=True, kw_only=True):
    """A day."""

    day: str
    begins_at: Time
    ends_at: Time
    projects: list[ProjectActivity]
    hours: list[Spent]
    """One for each hour of the day, from its beginning."""
    tools: dict[str, int]
    latency_ms: Latency | None


class Stretch(msgspec.Struct, frozen=True):
    """An agent in one state, from then to then."""

    agent_id: str
    state: str
    begins: Micros
    ends: Micros


def stretches(rows: Iterable[StateRow], since: Micros, until: Micros) -> Iterator[Stretch]:
    """The time that agents spent working and waiting, within these bounds."""
    by_agent: dict[str, list[StateRow]] = defaultdict(list)
    for row in rows:
        by_agent[row.agent_id].append(row)
    for agent_id, states in by_agent.items():
        ends = [row.at for row in states[1:]] + [until]
        for row, end in zip(states, ends, strict=True):
            begins, ends_at = max(row.at, since), min(end, until)
            if row.state in COUNTED and ends_at > begins:
                yield Stretch(agent_id, row.state, begins, ends_at)


def by_hour(spent: Iterable[Stretch], since: Micros, until: Micros) -> list[Spent]:
    """The same time, hour by hour."""
    edges = [*range(since, until, HOUR), until]
    hours = [Spent() for _ in edges[1:]]
    for stretch in spent:
        for hour, (begins, ends) in zip(hours, pairwise(edges), strict=True):
            shared = min(stretch.ends, ends) - max(stretch.begins, begins)
            if shared > 0:
                hour.add(stretch.state, shared / SECOND)
    return hours


def latency(delays: Sequence[Micros]) -> Latency | None:
    """Percentiles; a clock that went back counts as no delay."""
    milliseconds = sorted(max(delay, 0) / 1_000 for delay in delays if delay < LATE)
    if not milliseconds:
        return None
    cuts = statistics.quantiles(milliseconds, n=100, method="inclusive") if len(milliseconds) > 1 else milliseconds * 99
    p50, p90, p99, slowest = (round(value, 1) for value in (cuts[49], cuts[89], cuts[98], milliseconds[-1]))
    return Latency(p50, p90, p99, slowest, len(milliseconds), len(delays) - len(milliseconds))


class Day:
    """Puts a day together, project by project."""

    def __init__(self, agents: Iterable[Agent]) -> None:
        self._project = {agent.id: agent.project for agent in agents}
        self._found: dict[str, ProjectActivity] = {}
        self._seen: dict[str, set[str]] = defaultdict(set)

    def of(self, agent_id: str) -> ProjectActivity | None:
        """What is known of the agent's project; nothing for an agent that is not known any more."""
        project = self._project.get(agent_id)
        if project is None:
            return None
        self._seen[project.id].add(agent_id)
        found = self._found.setdefault(project.id, ProjectActivity(project=project))
        found.agents = len(self._seen[project.id])
        return found

    def add_time(self, spent: Iterable[Stretch]) -> None:
        """Count working and waiting time."""
        for stretch in spent:
            if (project := self.of(stretch.agent_id)) is not None:
                project.add(stretch.state, (stretch.ends - stretch.begins) / SECOND)

    def add_commands(self, commands: Iterable[Command]) -> None:
        """Count commands, and how they ended."""
        for command in commands:
            if (project := self.of(command.agent_id)) is not None:
                outcome = command.outcome.value if command.outcome else "open"
                project.commands += 1
                project.outcomes[outcome] = project.outcomes.get(outcome, 0) + 1

    def add_tools(self, events: Iterable[StoredEvent]) -> Counter[str]:
        """Count tools, of each project and of all."""
        everywhere: Counter[str] = Counter()
        for stored in events:
            tool = _tool(stored)
            everywhere[tool] += 1
            if (project := self.of(stored.agent_id)) is not None:
                project.tools[tool] = project.tools.get(tool, 0) + 1
        return everywhere

    @property
    def projects(self) -> list[ProjectActivity]:
        """The busiest first."""
        return sorted(self._found.values(), key=lambda found: (-found.working_seconds, found.project.name))


def _tool(stored: StoredEvent) -> str:
    tool = decode(stored.envelope).tool
    return (tool.name if tool is not None else "") or "unknown"


def activity_of(reader: Reader, day: str, since: Micros, until: Micros, now: Micros) -> ActivityView:
    """One day, until now if it is today."""
    known = min(until, max(now, since))
    found = Day(reader.agents(ended_after=0))
    spent = list(stretches(reader.states_between(since, until), since, known))
    calls = EventFilter(names=hook_names({HookKind.BEFORE_TOOL}), received_between=(since, until))
    found.add_time(spent)
    found.add_commands(reader.commands_between(since, until))
    tools = found.add_tools(reader.events(limit=MOST_CALLS, matching=calls))
    return ActivityView(
        day=day,
        begins_at=iso(since),
        ends_at=iso(until),
        projects=found.projects,
        hours=by_hour(spent, since, until),
        tools=dict(tools.most_common()),
        latency_ms=latency(reader.hook_delays(since, until, MOST_DELAYS)),
    )


async def activity(api: Serving, request: Request) -> ActivityView:
    """What happened on a day."""
    journal, now = api.services.journal, api.services.clock()
    day, since, until = parameters.read_day(request, "day", now)
    return await asyncio.to_thread(activity_of, journal, day.isoformat(), since, until, now)


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/activity",
        "A day: commands, working and waiting time and tools per project, and how quick hooks arrived.",
        activity,
        ActivityView,
        parameters=(
            Parameter("day", "The day, as 2026-01-31; today if none is named.", {"type": "string", "format": "date"}),
        ),
    ),
)
