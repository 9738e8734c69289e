"""Missions as surfaces show them: put together from the agents that work on them.

A mission is part of each agent that works on it, nearly always of one. Where several do, the first tells what was
asked, and the mission is over when all of them are done with it.
"""

from collections.abc import Iterable, Sequence

import msgspec

from claude_headspace.kernel.agent import Agent, Project
from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.mission.model import Mission
from claude_headspace.kernel.views import SessionView, Time, iso, session_view
from claude_headspace.ports import Reader

MOST_MOMENTS = 200


class WorkerView(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that works, or worked, on a mission."""

    id: str
    name: str
    state: str
    cost_usd: float | None
    sessions: tuple[SessionView, ...] = ()
    """Its context windows; only where one mission is asked for."""


class MomentView(msgspec.Struct, frozen=True):
    """Something that happened in a mission."""

    at: Time
    what: str
    """`started`, `session`, `prompt`, `wait`, `report` or `ended`."""
    text: str
    agent_id: str


class MissionOverview(msgspec.Struct, frozen=True, kw_only=True):
    """A mission: what was asked, by whom, who works on it, and what came of it."""

    id: str
    goal: str
    mode: str
    project: Project
    started_by: str
    started_at: Time
    conversation_id: str | None
    """The agent that is told when it is over."""
    conversation: str | None
    """Its name."""
    outcome: str | None
    """`succeeded`, `failed` or `abandoned`; null while it goes on."""
    words: str
    report: str
    answer: str
    ended_at: Time | None
    cost_usd: float | None
    workers: tuple[WorkerView, ...]
    timeline: tuple[MomentView, ...] = ()
    """What happened, in order; only where one mission is asked for."""


Working = tuple[Agent, Mission]
"""An agent, and the mission that it works on."""


def missions_of(agents: Iterable[Agent]) -> dict[str, list[Working]]:
    """The missions of agents, those that began last in front; each with its agents in the order of their beginning."""
    found = sorted(((agent, agent.mission) for agent in agents if agent.mission), key=lambda each: each[1].started_at)
    missions: dict[str, list[Working]] = {}
    for agent, mission in found:
        missions.setdefault(mission.id, []).append((agent, mission))
    newest_first = sorted(missions.items(), key=lambda each: each[1][0][1].started_at, reverse=True)
    return dict(newest_first)


def overview(working: Sequence[Working], reader: Reader, *, whole: bool = False) -> MissionOverview:
    """A mission; the whole of it has its sessions and all that happened."""
    (first, mission), decisive = working[0], _decisive(working)
    conversation = reader.agent(mission.conversation_id) if mission.conversation_id else None
    costs = [agent.cost_usd for agent, _ in working if agent.cost_usd is not None]
    return MissionOverview(
        id=mission.id,
        goal=mission.goal,
        mode=first.mode,
        project=first.project,
        started_by=mission.started_by,
        started_at=iso(mission.started_at),
        conversation_id=mission.conversation_id,
        conversation=conversation.name if conversation else None,
        outcome=decisive.outcome,
        words=decisive.words,
        report=decisive.report,
        answer=decisive.answer,
        ended_at=iso(decisive.ended_at) if decisive.ended_at is not None else None,
        cost_usd=sum(costs) if costs else None,
        workers=tuple(_worker(agent, reader, whole=whole) for agent, _ in working),
        timeline=_timeline(working, reader) if whole else (),
    )


def _decisive(working: Sequence[Working]) -> Mission:
    """What tells how it stands: whoever still works on it, else whoever was done last."""
    return max((mission for _, mission in working), key=lambda each: (each.ended_at is None, each.ended_at or 0))


def _worker(agent: Agent, reader: Reader, *, whole: bool) -> WorkerView:
    sessions = tuple(session_view(session) for session in reader.sessions(agent.id)) if whole else ()
    return WorkerView(id=agent.id, name=agent.name, state=agent.state.value, cost_usd=agent.cost_usd, sessions=sessions)


def _timeline(working: Sequence[Working], reader: Reader) -> tuple[MomentView, ...]:
    found = [moment for agent, mission in working for moment in _moments(agent, mission, reader)]
    ordered = sorted(found, key=lambda each: each[0])
    return tuple(MomentView(iso(at), what, text, agent_id) for at, what, text, agent_id in ordered[-MOST_MOMENTS:])


def _moments(agent: Agent, mission: Mission, reader: Reader) -> Iterable[tuple[Micros, str, str, str]]:
    by = f"by {mission.started_by}" if mission.started_by else ""
    yield mission.started_at, "started", by, agent.id
    for session in reader.sessions(agent.id):
        yield session.started_at, "session", session.source, agent.id
    for command in reader.commands(agent.id):
        yield command.started_at, "prompt", command.text, agent.id
    for wait in reader.waits(agent_id=agent.id, only_open=False):
        yield wait.opened_at, "wait", wait.text, agent.id
    if mission.ended_at is not None:
        what = "report" if mission.report else "ended"
        yield mission.ended_at, what, mission.report or mission.words, agent.id
