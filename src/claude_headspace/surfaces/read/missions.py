"""Missions, assembled from the agents that work on them.

A mission is stored with each agent that works on it, usually one. If several do, the first one defines the goal, and
the mission ends when all of them have finished.
"""

from collections.abc import Iterable, Sequence

import msgspec

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import Agent, Project
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.mission.model import Mission
from claude_headspace.kernel.text import Time, iso
from claude_headspace.kernel.views.work import SessionView, session_view
from claude_headspace.ports import Clock, Reader
from claude_headspace.surfaces.read.agents import MIN_PREFIX_LENGTH, RECENT

MAX_TIMELINE_ENTRIES = 200


class WorkerView(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that works, or worked, on a mission."""

    id: str
    name: str
    state: str
    cost_usd: float | None
    sessions: tuple[SessionView, ...] = ()
    """Its context windows. Only in the details of one mission."""


class TimelineEntry(msgspec.Struct, frozen=True):
    """Something that happened in a mission."""

    at: Time
    what: str
    """`started`, `session`, `prompt`, `wait`, `report` or `ended`."""
    text: str
    agent_id: str


class MissionOverview(msgspec.Struct, frozen=True, kw_only=True):
    """A mission: its goal, who started it, who works on it, and its outcome."""

    id: str
    goal: str
    mode: str
    project: Project
    started_by: str
    started_at: Time
    conversation_id: str | None
    """The agent that receives the report when the mission ends."""
    conversation: str | None
    """Its name."""
    outcome: str | None
    """`succeeded`, `failed` or `abandoned`; null while the mission is running."""
    words: str
    report: str
    answer: str
    ended_at: Time | None
    cost_usd: float | None
    workers: tuple[WorkerView, ...]
    timeline: tuple[TimelineEntry, ...] = ()
    """What happened, in order. Only in the details of one mission."""


Assignment = tuple[Agent, Mission]
"""An agent with the mission that it works on."""


class MissionQueries:
    """Reads missions."""

    def __init__(self, reader: Reader, clock: Clock) -> None:
        self._reader = reader
        self._clock = clock

    def list_all(self, *, include_old: bool) -> list[MissionOverview]:
        """Missions, the newest first; unless old ones are included, only those of agents on the board."""
        agents = self._reader.agents(ended_after=0 if include_old else self._clock() - RECENT)
        return [self._overview(assignments) for assignments in by_mission(agents).values()]

    def find(self, reference: str) -> list[Assignment]:
        """The agents of the mission with this id, start of an id, or name of its first agent."""
        missions = by_mission(self._reader.agents(ended_after=0))
        if reference in missions:
            return missions[reference]
        named = [each for each in missions.values() if reference in (each[0][0].name, each[0][0].id)]
        long_enough = len(reference) >= MIN_PREFIX_LENGTH
        prefixed = [each for mission_id, each in missions.items() if long_enough and mission_id.startswith(reference)]
        found = named[:1] or prefixed
        if len(found) == 1:
            return found[0]
        problem = f"Several mission ids start with {reference}." if found else f"There is no mission {reference[:200]}."
        raise BadRequest("unknown_mission", problem, "`headspace mission list --all` shows all missions.", status=404)

    def details(self, assignments: Sequence[Assignment]) -> MissionOverview:
        """A mission with its sessions and its timeline."""
        return self._overview(assignments, with_details=True)

    def _overview(self, assignments: Sequence[Assignment], *, with_details: bool = False) -> MissionOverview:
        (first, mission), result = assignments[0], _deciding(assignments)
        conversation = self._reader.agent(mission.conversation_id) if mission.conversation_id else None
        costs = [cost for agent, _ in assignments if (cost := agent.total_cost_usd) is not None]
        return MissionOverview(
            id=mission.id,
            goal=mission.goal,
            mode=first.mode,
            project=first.project,
            started_by=mission.started_by,
            started_at=iso(mission.started_at),
            conversation_id=mission.conversation_id,
            conversation=conversation.name if conversation else None,
            outcome=result.outcome,
            words=result.reason,
            report=result.report,
            answer=result.answer,
            ended_at=iso(result.ended_at) if result.ended_at is not None else None,
            cost_usd=sum(costs) if costs else None,
            workers=tuple(self._worker(agent, with_sessions=with_details) for agent, _ in assignments),
            timeline=self._timeline(assignments) if with_details else (),
        )

    def _worker(self, agent: Agent, *, with_sessions: bool) -> WorkerView:
        sessions = tuple(map(session_view, self._reader.sessions(agent.id))) if with_sessions else ()
        return WorkerView(
            id=agent.id, name=agent.name, state=agent.state.value, cost_usd=agent.total_cost_usd, sessions=sessions
        )

    def _timeline(self, assignments: Sequence[Assignment]) -> tuple[TimelineEntry, ...]:
        entries = [(*entry, agent.id) for agent, mission in assignments for entry in self._entries(agent, mission)]
        newest = sorted(entries, key=lambda each: each[0])[-MAX_TIMELINE_ENTRIES:]
        return tuple(TimelineEntry(iso(at), what, text, agent_id) for at, what, text, agent_id in newest)

    def _entries(self, agent: Agent, mission: Mission) -> Iterable[tuple[Micros, str, str]]:
        yield mission.started_at, "started", f"by {mission.started_by}" if mission.started_by else ""
        for session in self._reader.sessions(agent.id):
            yield session.started_at, "session", session.source
        for command in self._reader.commands(agent.id):
            yield command.started_at, "prompt", command.text
        for wait in self._reader.waits(agent_id=agent.id, only_open=False):
            yield wait.opened_at, "wait", wait.text
        if mission.ended_at is not None:
            yield mission.ended_at, "report" if mission.report else "ended", mission.report or mission.reason


def by_mission(agents: Iterable[Agent]) -> dict[str, list[Assignment]]:
    """Agents by their mission, the newest mission first; the agents of a mission in the order in which they started."""
    assigned = sorted(
        ((agent, agent.mission) for agent in agents if agent.mission), key=lambda each: each[1].started_at
    )
    missions: dict[str, list[Assignment]] = {}
    for agent, mission in assigned:
        missions.setdefault(mission.id, []).append((agent, mission))
    newest_first = sorted(missions.items(), key=lambda each: each[1][0][1].started_at, reverse=True)
    return dict(newest_first)


def _deciding(assignments: Sequence[Assignment]) -> Mission:
    """The copy that defines the outcome: one that is still running, otherwise the one that ended last."""
    return max((mission for _, mission in assignments), key=lambda each: (each.ended_at is None, each.ended_at or 0))
