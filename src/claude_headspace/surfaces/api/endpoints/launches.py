"""Starting agents in tmux sessions of their own, on the machine and with the environment of the daemon."""

import asyncio
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.requests import Request

from claude_headspace.clients.catalog import DEFAULT
from claude_headspace.kernel.views.agent import AgentView
from claude_headspace.outputs.pane_input import MAX_TEXT_LENGTH
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable
from claude_headspace.surfaces.api.parameters import read_body
from claude_headspace.surfaces.launch.detached import NewAgent

endpoints = EndpointTable()

ShortText = Annotated[str, Meta(max_length=200)]
PromptText = Annotated[str, Meta(max_length=MAX_TEXT_LENGTH)]


class Starting(msgspec.Struct, frozen=True):
    """An agent to start."""

    directory: Annotated[str, Meta(max_length=8_192)]
    client: ShortText = DEFAULT
    """Its name or its program."""
    name: ShortText = ""
    """Empty: Headspace chooses one."""
    prompt: PromptText = ""
    model: ShortText = ""
    permission_mode: ShortText = ""
    """In the words of the client."""
    role: ShortText = ""


class Forking(msgspec.Struct, frozen=True):
    """How another agent continues a conversation."""

    name: ShortText = ""
    prompt: PromptText = ""
    model: ShortText = ""
    permission_mode: ShortText = ""


class Resuming(msgspec.Struct, frozen=True):
    """How an ended agent goes on."""

    prompt: PromptText = ""


@endpoints.post("/api/agents/start", Starting)
async def start(context: ApiContext, request: Request) -> AgentView:
    """Start an agent in a tmux session of its own."""
    await context.requesters.refuse_agents(request)
    wanted = await read_body(request, Starting)
    given: dict[str, Any] = msgspec.structs.asdict(wanted)
    return await _view(context, await asyncio.to_thread(context.actions.launcher.new, NewAgent(**given)))


@endpoints.post("/api/agents/{agent}/fork", Forking)
async def fork(context: ApiContext, request: Request) -> AgentView:
    """Continue the conversation of the agent as another agent, in a tmux session of its own."""
    await context.requesters.refuse_agents(request)
    given: dict[str, Any] = msgspec.structs.asdict(await read_body(request, Forking))
    agent, launcher = await _find(context, request), context.actions.launcher
    return await _view(context, await asyncio.to_thread(launcher.fork, agent, NewAgent(directory="", **given)))


@endpoints.post("/api/agents/{agent}/start", Resuming)
async def start_again(context: ApiContext, request: Request) -> AgentView:
    """Resume the ended agent in a tmux session of its own."""
    await context.requesters.refuse_agents(request)
    wanted = await read_body(request, Resuming)
    agent, launcher = await _find(context, request), context.actions.launcher
    return await _view(context, await asyncio.to_thread(launcher.resume, agent, wanted.prompt))


async def _find(context: ApiContext, request: Request) -> dict[str, Any]:
    reference = request.path_params["agent"]
    return await asyncio.to_thread(context.actions.launcher.find, reference)


async def _view(context: ApiContext, agent: dict[str, Any]) -> AgentView:
    return await asyncio.to_thread(context.read.agents.view, agent["id"])
