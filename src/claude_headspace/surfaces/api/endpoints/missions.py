"""Missions over the API: begin one, list them, look at one, report, finish. Agents may do it too, for themselves.

Who asks is told by the command line of itself, or by the process at the other end (`caller`). An agent that begins a
mission is the conversation that is told of its end; it can begin none for another, and reports and finishes only what
it works on or asked for.
"""

import asyncio
import uuid
from typing import Annotated, Literal

import msgspec
from msgspec import Meta
from starlette.requests import Request

from claude_headspace.errors import BadRequest, Forbidden
from claude_headspace.kernel.acts import AgentRegistered, MissionFinished, MissionReported
from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.mission.model import LONGEST_GOAL, LONGEST_REPORT
from claude_headspace.kernel.names import NAME
from claude_headspace.surfaces.api.endpoints.actions import Place, Word
from claude_headspace.surfaces.api.mission_model import MissionOverview, Working, missions_of, overview
from claude_headspace.surfaces.api.openapi import Endpoint, Parameter
from claude_headspace.surfaces.api.parameters import read_body, read_flag
from claude_headspace.surfaces.api.read_model import RECENTLY
from claude_headspace.surfaces.api.services import Serving

MINE = "mine"
"""The mission of whoever asks."""
SHORTEST_PREFIX = 4

Said = Annotated[str, Meta(max_length=LONGEST_REPORT)]


class Beginning(msgspec.Struct, frozen=True, kw_only=True):
    """A mission that is about to be begun."""

    goal: Annotated[str, Meta(min_length=1, max_length=LONGEST_GOAL)]
    cwd: Place
    mode: Literal["mission", "background"] = "mission"
    conversation: Word | None = None
    """The agent that is told when it is over; without it the agent that asks."""
    name: Word = ""
    role: Word | None = None


class Reporting(msgspec.Struct, frozen=True):
    """What came of a mission, by who worked on it."""

    text: Annotated[Said, Meta(min_length=1)]
    failed: bool = False


class Finishing(msgspec.Struct, frozen=True):
    """How a mission ended."""

    outcome: Literal["succeeded", "failed", "abandoned"] = "succeeded"
    text: Said = ""


# --- reading ---


async def listed(api: Serving, request: Request) -> list[MissionOverview]:
    """Missions, the newest first."""
    return await asyncio.to_thread(_listed, api, every=read_flag(request, "all"))


def _listed(api: Serving, *, every: bool) -> list[MissionOverview]:
    journal = api.services.journal
    agents = journal.agents(ended_after=0 if every else api.services.clock() - RECENTLY)
    return [overview(working, journal) for working in missions_of(agents).values()]


async def shown(api: Serving, request: Request) -> MissionOverview:
    """One mission, with its sessions and what happened."""
    asker = await _asker(api, request) if request.path_params["mission"] == MINE else None
    return await _shown(api, await _meant(api, request, asker))


async def _shown(api: Serving, working: list[Working]) -> MissionOverview:
    return await asyncio.to_thread(overview, working, api.services.journal, whole=True)


# --- acting ---


async def begin(api: Serving, request: Request) -> MissionOverview:
    """Register a mission with the agent that will work on it: a placeholder until its client's first hook."""
    told = await read_body(request, Beginning)
    if told.name and not NAME.fullmatch(told.name):
        raise BadRequest("bad_name", f"An agent cannot be called {told.name[:60]!r}.", "Use small letters and dashes.")
    by, conversation = await _on_behalf_of(api, request, told.conversation)
    mission_id = str(uuid.uuid4())
    around = await api.services.surroundings(told.cwd)
    act = AgentRegistered(
        name=told.name,
        cwd=told.cwd,
        role=told.role,
        mode=told.mode,
        mission_id=mission_id,
        goal=told.goal,
        by=by,
        conversation_id=conversation.id if conversation else None,
    )
    context = msgspec.structs.replace(around, headspace_id=mission_id, declared_mission_id=mission_id)
    outcome = await api.services.engine.record(
        act, delivery_id=f"register-{mission_id}", observations=context, client="claude-code"
    )
    agent = outcome.agent
    assert agent.mission is not None
    return await _shown(api, [(agent, agent.mission)])


async def _on_behalf_of(api: Serving, request: Request, named: str | None) -> tuple[str, Agent | None]:
    """Who begins a mission, and which conversation is told of its end."""
    session = await api.services.caller.session_of(request)
    asker = await asyncio.to_thread(api.services.journal.agent_by_session, session) if session else None
    meant = await asyncio.to_thread(api.services.model.resolve, named) if named else asker
    if session is None:
        return (await api.services.caller.identify(request)).name, meant
    if meant is not None and (asker is None or meant.id != asker.id):
        raise _not_yours("An agent begins missions for itself, not for another conversation.")
    return asker.name if asker else "an agent", meant


async def report(api: Serving, request: Request) -> MissionOverview:
    """The worker's own word: that ends its mission, and its conversation is told."""
    told, asker = await read_body(request, Reporting), await _asker(api, request)
    working = await _meant(api, request, asker)
    if asker is not None and asker.id not in {agent.id for agent, _ in working}:
        raise _not_yours("Only who works on a mission reports on it.")
    agent = asker or working[0][0]
    act = MissionReported(text=told.text, outcome="failed" if told.failed else "")
    await api.services.engine.record(act, agent.id)
    return await _shown(api, await _meant(api, request, asker))


async def finish(api: Serving, request: Request) -> MissionOverview:
    """Say how a mission ended."""
    told, asker = await read_body(request, Finishing), await _asker(api, request)
    working = await _meant(api, request, asker)
    if asker is not None and not _concerns(asker, working):
        raise _not_yours("An agent finishes only missions that it works on or asked for.")
    open_ones = [agent for agent, mission in working if mission.ended_at is None]
    if not open_ones:
        raise BadRequest("mission_over", "That mission is over.", "`headspace mission show` tells how.", status=409)
    for agent in open_ones:
        await api.services.engine.record(MissionFinished(outcome=told.outcome, text=told.text), agent.id)
    return await _shown(api, await _meant(api, request, asker))


def _concerns(asker: Agent, working: list[Working]) -> bool:
    return any(asker.id in (agent.id, mission.conversation_id) for agent, mission in working)


def _not_yours(message: str) -> Forbidden:
    return Forbidden("not_your_mission", message, "Ask the user to do it, from a shell of their own.", status=403)


# --- who and which ---


async def _asker(api: Serving, request: Request) -> Agent | None:
    """The agent that asks; for a client that a worker started (`claude -p`) it is the worker."""
    session = await api.services.caller.session_of(request)
    return await asyncio.to_thread(_agent_of, api, session) if session else None


def _agent_of(api: Serving, session: str) -> Agent:
    journal = api.services.journal
    agent = journal.agent_by_session(session)
    if agent is None:
        raise BadRequest(
            "unknown_session", "Headspace does not know this session.", "Are its hooks installed? `headspace doctor`"
        )
    parent = journal.agent(agent.parent_id) if agent.parent_id and agent.mission is None else None
    return parent if parent is not None and parent.mission is not None else agent


async def _meant(api: Serving, request: Request, asker: Agent | None) -> list[Working]:
    reference = request.path_params["mission"]
    if reference == MINE:
        reference = asker.mission.id if asker is not None and asker.mission is not None else ""
        if not reference:
            raise BadRequest(
                "no_mission",
                "Nobody here works on a mission.",
                "Name one: `headspace mission list` shows them.",
                status=404,
            )
    return await asyncio.to_thread(_find, api, reference)


def _find(api: Serving, reference: str) -> list[Working]:
    """A mission by its id, the beginning of it, or the name of who works on it."""
    missions = missions_of(api.services.journal.agents(ended_after=0))
    if reference in missions:
        return missions[reference]
    named = [each for each in missions.values() if reference in (each[0][0].name, each[0][0].id)]
    long_enough = len(reference) >= SHORTEST_PREFIX
    beginning = [each for name, each in missions.items() if long_enough and name.startswith(reference)]
    found = named[:1] or beginning
    if len(found) == 1:
        return found[0]
    problem = f"Several missions begin with {reference}." if found else f"There is no mission {reference[:200]}."
    raise BadRequest("unknown_mission", problem, "`headspace mission list --all` shows them.", status=404)


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/missions",
        "Missions, the newest first, with who works on them.",
        listed,
        list[MissionOverview],
        parameters=(Parameter("all", "Also those whose agents ended more than a day ago.", {"type": "boolean"}),),
    ),
    Endpoint(
        "GET",
        "/api/missions/{mission}",
        "One mission, by id, beginning of the id or name of its worker, with its sessions and what happened.",
        shown,
        MissionOverview,
    ),
    Endpoint(
        "POST",
        "/api/missions",
        "Register a mission, with a placeholder for the agent that will work on it.",
        begin,
        MissionOverview,
        scope="act",
        takes=Beginning,
    ),
    Endpoint(
        "POST",
        "/api/missions/{mission}/finish",
        "Tell how a mission ended.",
        finish,
        MissionOverview,
        scope="act",
        takes=Finishing,
    ),
    Endpoint(
        "POST",
        "/api/missions/{mission}/report",
        "Tell what came of a mission, as its worker: `mine` is the mission of whoever asks.",
        report,
        MissionOverview,
        scope="act",
        takes=Reporting,
    ),
)
