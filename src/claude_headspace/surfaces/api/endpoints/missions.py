"""Missions: start, list, show, report, finish. Agents can use these endpoints for their own missions.

The requester is identified by the session that the command line sends, or by the process at the other end
(`auth/requester.py`). An agent that starts a mission is its conversation and receives the report. An agent cannot start
missions for other agents, and reports on and finishes only missions that it works on or started.
"""

import asyncio
import uuid
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from starlette.requests import Request

from claude_headspace.clients.catalog import DEFAULT
from claude_headspace.errors import BadRequest, Forbidden, HeadspaceError
from claude_headspace.kernel.acts import AgentRegistered, MissionFinished, MissionReported
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.mission.model import MAX_GOAL_CHARS, MAX_REPORT_CHARS
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.endpoints.agent_actions import Directory, ShortText
from claude_headspace.surfaces.api.openapi import EndpointTable, Parameter
from claude_headspace.surfaces.api.parameters import read_body, read_flag
from claude_headspace.surfaces.launch.detached import NOT_STARTED, NewAgent
from claude_headspace.surfaces.launch.offers import complete_directory
from claude_headspace.surfaces.read.missions import Assignment, MissionOverview

endpoints = EndpointTable()

MINE = "mine"
"""The reference to the mission of the agent that sends the request."""

ReportText = Annotated[str, Meta(max_length=MAX_REPORT_CHARS)]


class NewMission(msgspec.Struct, frozen=True, kw_only=True):
    """A mission to start."""

    goal: Annotated[str, Meta(min_length=1, max_length=MAX_GOAL_CHARS)]
    cwd: Directory
    mode: Literal["mission", "background"] = "mission"
    conversation: ShortText | None = None
    """The agent that receives the report; by default the agent that sends the request."""
    name: ShortText = ""
    client: ShortText = DEFAULT
    """The client of the worker: its name or its program."""
    role: ShortText | None = None
    start: bool = False
    """Start the worker on the machine of the daemon. Otherwise the mission is only registered, for the process that
    starts its worker."""
    model: ShortText = ""
    permission_mode: ShortText = ""
    """In the words of the client."""


class Report(msgspec.Struct, frozen=True):
    """The result of a mission, by the agent that worked on it."""

    text: Annotated[ReportText, Meta(min_length=1)]
    failed: bool = False


class Finishing(msgspec.Struct, frozen=True):
    """How a mission ended."""

    outcome: Literal["succeeded", "failed", "abandoned"] = "succeeded"
    text: ReportText = ""


# --- reading ---


@endpoints.get(
    "/api/missions", Parameter("all", "Include missions whose agents ended more than a day ago.", {"type": "boolean"})
)
async def missions(context: ApiContext, request: Request) -> list[MissionOverview]:
    """Missions with their workers, the newest first."""
    return await asyncio.to_thread(context.read.missions.list_all, include_old=read_flag(request, "all"))


@endpoints.get("/api/missions/{mission}")
async def mission(context: ApiContext, request: Request) -> MissionOverview:
    """One mission by id, start of its id or name of its worker, with its sessions and timeline.

    `mine` is the requester's mission.
    """
    sender = await _sending_agent(context, request) if request.path_params["mission"] == MINE else None
    return await _details(context, request, sender)


# --- acting ---


@endpoints.post("/api/missions", NewMission)
async def start(context: ApiContext, request: Request) -> MissionOverview:
    """Register a mission, with a placeholder for the agent that will work on it; with `start`, start that agent."""
    wanted = await read_body(request, NewMission)
    worker = await _worker(context, request, wanted) if wanted.start else None
    started_by, conversation = await _starter(context, request, wanted.conversation)
    mission_id = str(uuid.uuid4())
    act = AgentRegistered(
        name=wanted.name,
        cwd=worker.directory if worker else wanted.cwd,
        role=wanted.role,
        mode=wanted.mode,
        mission_id=mission_id,
        goal=wanted.goal,
        by=started_by,
        conversation_id=conversation.id if conversation else None,
    )
    agent = await context.actions.register(act, mission_id, client=wanted.client)
    assert agent.mission is not None
    mission = await asyncio.to_thread(context.read.missions.details, [(agent, agent.mission)])
    if worker is not None:
        await _start_worker(context, mission, worker)
    return mission


async def _worker(context: ApiContext, request: Request, wanted: NewMission) -> NewAgent:
    """The worker of a mission. Raises an error if it cannot be started, also if an agent requests it here."""
    await context.requesters.refuse_agents(request)
    worker = NewAgent(
        directory=complete_directory(wanted.cwd),
        client=wanted.client,
        name=wanted.name,
        prompt=wanted.goal,
        model=wanted.model,
        permission_mode=wanted.permission_mode,
    )
    await asyncio.to_thread(context.actions.launcher.check_worker, worker)
    return worker


async def _start_worker(context: ApiContext, mission: MissionOverview, worker: NewAgent) -> None:
    """Start the worker. If that fails, the mission is abandoned."""
    launcher = context.actions.launcher
    try:
        await asyncio.to_thread(launcher.work_on, msgspec.to_builtins(mission), worker)
    except HeadspaceError as error:
        act = MissionFinished(outcome="abandoned", text=f"{NOT_STARTED} {error.message}")
        await context.actions.record(act, mission.workers[0].id)
        raise


@endpoints.post("/api/missions/{mission}/finish", Finishing)
async def finish(context: ApiContext, request: Request) -> MissionOverview:
    """End a mission with an outcome."""
    wanted, sender = await read_body(request, Finishing), await _sending_agent(context, request)
    assignments = await _find(context, request, sender)
    involved = {each for agent, assigned in assignments for each in (agent.id, assigned.conversation_id)}
    if sender is not None and sender.id not in involved:
        raise _not_permitted("An agent can finish only missions that it works on or started.")
    workers = [agent for agent, assigned in assignments if assigned.ended_at is None]
    if not workers:
        message = "This mission has already ended."
        raise BadRequest("mission_over", message, "`headspace mission show` shows its outcome.", status=409)
    for worker in workers:
        await context.actions.record(MissionFinished(outcome=wanted.outcome, text=wanted.text), worker.id)
    return await _details(context, request, sender)


@endpoints.post("/api/missions/{mission}/report", Report)
async def report(context: ApiContext, request: Request) -> MissionOverview:
    """Report the result of a mission, as its worker. The report ends the mission."""
    wanted, sender = await read_body(request, Report), await _sending_agent(context, request)
    assignments = await _find(context, request, sender)
    if sender is not None and sender.id not in {agent.id for agent, _ in assignments}:
        raise _not_permitted("Only the agent that works on a mission can report on it.")
    worker = sender or assignments[0][0]
    act = MissionReported(text=wanted.text, outcome="failed" if wanted.failed else "")
    await context.actions.record(act, worker.id)
    return await _details(context, request, sender)


# --- the requester and the mission ---


async def _sending_agent(context: ApiContext, request: Request) -> Agent | None:
    """The agent that sends the request; None for a person."""
    session = await context.requesters.session_of(request)
    if session is None:
        return None
    agent = await asyncio.to_thread(context.read.agents.working_on_mission, session)
    if agent is None:
        hint = "Run `headspace doctor` to check that its hooks are installed."
        raise BadRequest("unknown_session", "Headspace does not know this session.", hint)
    return agent


async def _starter(context: ApiContext, request: Request, reference: str | None) -> tuple[str, Agent | None]:
    """Who starts a mission, and the agent that receives its report."""
    session = await context.requesters.session_of(request)
    sender = await asyncio.to_thread(context.read.agents.of_session, session) if session else None
    conversation = await asyncio.to_thread(context.read.agents.find, reference) if reference else sender
    if session is None:
        return (await context.requesters.identify(request)).name, conversation
    if conversation is not None and (sender is None or conversation.id != sender.id):
        raise _not_permitted("An agent can start missions only for itself.")
    return sender.name if sender else "an agent", conversation


async def _details(context: ApiContext, request: Request, sender: Agent | None) -> MissionOverview:
    return await asyncio.to_thread(context.read.missions.details, await _find(context, request, sender))


async def _find(context: ApiContext, request: Request, sender: Agent | None) -> list[Assignment]:
    reference = request.path_params["mission"]
    if reference == MINE:
        if sender is None or sender.mission is None:
            hint = "Name a mission: `headspace mission list` shows them."
            raise BadRequest("no_mission", "This shell does not belong to a mission worker.", hint, status=404)
        reference = sender.mission.id
    return await asyncio.to_thread(context.read.missions.find, reference)


def _not_permitted(message: str) -> Forbidden:
    return Forbidden("not_your_mission", message, "Ask the user to do it from their own shell.", status=403)
