"""Reading agents: the board, one agent, and what belongs to it."""

import asyncio

from starlette.requests import Request

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.agent import AgentState
from claude_headspace.kernel.views import AgentView, CommandView, SessionView, TurnView
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import Endpoint, Parameter
from claude_headspace.surfaces.api.parameters import LIMIT, TIME_SCHEMA, read_flag, read_limit
from claude_headspace.surfaces.read.agents import StateView
from claude_headspace.surfaces.read.tool_calls import ToolCallView
from claude_headspace.surfaces.read.usage import UsageView
from claude_headspace.surfaces.text.timestamps import parse_past_time

STATES = [state.value for state in AgentState]


async def board(context: ApiContext, request: Request) -> list[AgentView]:
    """All agents."""
    state = request.query_params.get("state") or None
    if state is not None and state not in STATES:
        raise BadRequest("bad_parameter", f"There is no state {state[:60]}.", f"States: {', '.join(STATES)}.")
    project, include_all = request.query_params.get("project") or None, read_flag(request, "all")
    return await asyncio.to_thread(context.read.agents.board, state=state, project=project, include_all=include_all)


async def agent(context: ApiContext, request: Request) -> AgentView:
    """One agent, now or at a past time."""
    reference, at = request.path_params["agent"], request.query_params.get("at")
    if at is None:
        return await asyncio.to_thread(context.read.agents.view, reference)
    time = parse_past_time("at", at, context.read.clock())
    return await asyncio.to_thread(context.read.agents.view_at, reference, time)


async def turns(context: ApiContext, request: Request) -> list[TurnView]:
    """The turns of an agent."""
    return await asyncio.to_thread(context.read.agents.turns, request.path_params["agent"], read_limit(request))


async def commands(context: ApiContext, request: Request) -> list[CommandView]:
    """The commands of an agent."""
    return await asyncio.to_thread(context.read.agents.commands, request.path_params["agent"], read_limit(request))


async def command_turns(context: ApiContext, request: Request) -> list[TurnView]:
    """The turns of one command."""
    command, limit = request.path_params["command"], read_limit(request)
    return await asyncio.to_thread(context.read.agents.command_turns, command, limit)


async def sessions(context: ApiContext, request: Request) -> list[SessionView]:
    """The context windows of an agent."""
    return await asyncio.to_thread(context.read.agents.sessions, request.path_params["agent"])


async def evidence(context: ApiContext, request: Request) -> list[StateView]:
    """The states of an agent with their evidence."""
    return await asyncio.to_thread(context.read.agents.states, request.path_params["agent"], read_limit(request))


async def tool_calls(context: ApiContext, request: Request) -> list[ToolCallView]:
    """The tool calls of an agent."""
    return await asyncio.to_thread(context.read.agents.tool_calls, request.path_params["agent"], read_limit(request))


async def usage(context: ApiContext, request: Request) -> list[UsageView]:
    """Tokens, context size and cost of an agent over time."""
    return await asyncio.to_thread(context.read.agents.usage, request.path_params["agent"])


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/agents",
        "All agents on the board, the most urgent first.",
        board,
        list[AgentView],
        parameters=(
            Parameter("state", "Only agents in this state.", {"type": "string", "enum": STATES}),
            Parameter("project", "Only agents of this project (id, name or directory).", {"type": "string"}),
            Parameter("all", "Include agents that ended more than a day ago.", {"type": "boolean"}),
        ),
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent}",
        "One agent by id, name or start of its id; with `at`, as it was at that time.",
        agent,
        AgentView,
        parameters=(Parameter("at", "The agent as it was known at this time.", TIME_SCHEMA),),
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent}/turns",
        "The agent's turns: prompts and replies.",
        turns,
        list[TurnView],
        parameters=(LIMIT,),
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent}/commands",
        "The agent's commands with their outcome.",
        commands,
        list[CommandView],
        parameters=(LIMIT,),
    ),
    Endpoint(
        "GET",
        "/api/commands/{command}/turns",
        "The turns of one command.",
        command_turns,
        list[TurnView],
        parameters=(LIMIT,),
    ),
    Endpoint("GET", "/api/agents/{agent}/sessions", "The agent's context windows.", sessions, list[SessionView]),
    Endpoint(
        "GET",
        "/api/agents/{agent}/evidence",
        "The agent's states with the evidence for each.",
        evidence,
        list[StateView],
        parameters=(LIMIT,),
    ),
    Endpoint(
        "GET",
        "/api/agents/{agent}/calls",
        "The agent's tool calls with input and result.",
        tool_calls,
        list[ToolCallView],
        parameters=(LIMIT,),
    ),
    Endpoint(
        "GET", "/api/agents/{agent}/usage", "The agent's context size and cost over time.", usage, list[UsageView]
    ),
)
