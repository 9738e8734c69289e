"""Reading agents: the board, one agent, and what belongs to it."""

import asyncio

from starlette.requests import Request

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import AgentState
from claude_headspace.kernel.changes.views import ChangesView
from claude_headspace.kernel.views.agent import AgentView
from claude_headspace.kernel.views.work import CommandView, SessionView, TurnView
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable, Parameter
from claude_headspace.surfaces.api.parameters import (
    CLIENT,
    LIMIT,
    TIME_SCHEMA,
    read_client,
    read_flag,
    read_limit,
    read_time,
)
from claude_headspace.surfaces.read.agent_history import UsageView
from claude_headspace.surfaces.read.agents import StateView
from claude_headspace.surfaces.read.conversation import DEFAULT_TURNS, MAX_TURNS, ConversationView, PageRequest
from claude_headspace.surfaces.read.tool_calls import ToolCallView
from claude_headspace.surfaces.text.timestamps import parse_past_time

endpoints = EndpointTable()

STATES = [state.value for state in AgentState]


@endpoints.get(
    "/api/agents",
    Parameter("state", "Only agents in this state.", {"type": "string", "enum": STATES}),
    Parameter("project", "Only agents of this project (id, name or directory).", {"type": "string"}),
    CLIENT,
    Parameter("all", "Include agents that ended more than a day ago.", {"type": "boolean"}),
)
async def board(context: ApiContext, request: Request) -> list[AgentView]:
    """All agents on the board, the most urgent first."""
    state = request.query_params.get("state") or None
    if state is not None and state not in STATES:
        raise BadRequest("bad_parameter", f"There is no state {state[:60]}.", f"States: {', '.join(STATES)}.")
    project, client = request.query_params.get("project") or None, read_client(request)
    include_all = read_flag(request, "all")
    return await asyncio.to_thread(
        context.read.agents.board, state=state, project=project, client=client, include_all=include_all
    )


@endpoints.get("/api/agents/{agent}", Parameter("at", "The agent as it was known at this time.", TIME_SCHEMA))
async def agent(context: ApiContext, request: Request) -> AgentView:
    """One agent by id, name or start of its id; with `at`, as it was at that time."""
    reference, at = request.path_params["agent"], request.query_params.get("at")
    if at is None:
        return await asyncio.to_thread(context.read.agents.view, reference)
    time = parse_past_time("at", at, context.read.clock())
    return await asyncio.to_thread(context.read.agents.view_at, reference, time)


@endpoints.get("/api/agents/{agent}/turns", LIMIT)
async def turns(context: ApiContext, request: Request) -> list[TurnView]:
    """The agent's turns: prompts and replies."""
    return await asyncio.to_thread(context.read.agents.turns, request.path_params["agent"], read_limit(request))


@endpoints.get(
    "/api/agents/{agent}/conversation",
    Parameter(
        "limit",
        "The maximum number of turns.",
        {"type": "integer", "minimum": 1, "maximum": MAX_TURNS, "default": DEFAULT_TURNS},
    ),
    Parameter("before", "The page that ends before this time.", TIME_SCHEMA),
    Parameter("after", "The page that begins at this time.", TIME_SCHEMA),
    Parameter("at", "The page around this time.", TIME_SCHEMA),
    Parameter("around", "The page around the turn with this id.", {"type": "string", "maxLength": 200}),
)
async def conversation(context: ApiContext, request: Request) -> ConversationView:
    """A page of the agent's turns with the tool calls between them, the newest unless a place is given."""
    now, turn_id = context.read.clock(), request.query_params.get("around") or None
    places = {name: read_time(request, name, now) for name in ("before", "after", "at")}
    if sum(place is not None for place in (*places.values(), turn_id)) > 1:
        message = "`before`, `after`, `at` and `around` exclude each other."
        raise BadRequest("bad_parameter", message, "Use one of them.")
    limit = read_limit(request, default=DEFAULT_TURNS, maximum=MAX_TURNS)
    page = PageRequest(limit=limit, turn_id=turn_id, **places)
    return await asyncio.to_thread(context.read.agents.conversation, request.path_params["agent"], page)


@endpoints.get("/api/agents/{agent}/commands", LIMIT)
async def commands(context: ApiContext, request: Request) -> list[CommandView]:
    """The agent's commands with their outcome."""
    return await asyncio.to_thread(context.read.agents.commands, request.path_params["agent"], read_limit(request))


@endpoints.get("/api/commands/{command}/turns", LIMIT)
async def command_turns(context: ApiContext, request: Request) -> list[TurnView]:
    """The turns of one command."""
    command, limit = request.path_params["command"], read_limit(request)
    return await asyncio.to_thread(context.read.agents.command_turns, command, limit)


@endpoints.get("/api/agents/{agent}/sessions")
async def sessions(context: ApiContext, request: Request) -> list[SessionView]:
    """The agent's context windows."""
    return await asyncio.to_thread(context.read.agents.sessions, request.path_params["agent"])


@endpoints.get("/api/agents/{agent}/evidence", LIMIT)
async def evidence(context: ApiContext, request: Request) -> list[StateView]:
    """The agent's states with the evidence for each."""
    return await asyncio.to_thread(context.read.agents.states, request.path_params["agent"], read_limit(request))


@endpoints.get("/api/agents/{agent}/calls", LIMIT)
async def tool_calls(context: ApiContext, request: Request) -> list[ToolCallView]:
    """The agent's tool calls with input and result."""
    return await asyncio.to_thread(context.read.agents.tool_calls, request.path_params["agent"], read_limit(request))


@endpoints.get(
    "/api/agents/{agent}/changes",
    Parameter("command", "Only this command: its id, its number, or `latest`.", {"type": "string", "maxLength": 100}),
    Parameter("files", "Only this file, in full. Can be repeated.", {"type": "string", "maxLength": 4096}),
)
async def changes(context: ApiContext, request: Request) -> ChangesView:
    """What the agent changed: files with their diffs, and commits."""
    command, paths = request.query_params.get("command") or None, request.query_params.getlist("files")
    return await context.actions.changes.view(request.path_params["agent"], command, frozenset(paths) - {""})


@endpoints.get("/api/agents/{agent}/usage")
async def usage(context: ApiContext, request: Request) -> list[UsageView]:
    """The agent's context size and cost over time."""
    return await asyncio.to_thread(context.read.agents.usage, request.path_params["agent"])
