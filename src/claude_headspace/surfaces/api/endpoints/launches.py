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
from claude_headspace.surfaces.api.openapi import EndpointTable, Parameter
from claude_headspace.surfaces.api.parameters import read_body
from claude_headspace.surfaces.launch.detached import NewAgent
from claude_headspace.surfaces.launch.offers import (
    DirectoryView,
    LaunchOffers,
    complete_directory,
    examine_directory,
    launch_offers,
)

endpoints = EndpointTable()

ShortText = Annotated[str, Meta(max_length=200)]
MAX_DIRECTORY_CHARS = 8_192
DIRECTORY_SCHEMA = {"type": "string", "maxLength": MAX_DIRECTORY_CHARS}
Directory = Annotated[str, Meta(max_length=MAX_DIRECTORY_CHARS)]
PromptText = Annotated[str, Meta(max_length=MAX_TEXT_LENGTH)]


class Starting(msgspec.Struct, frozen=True):
    """An agent to start."""

    directory: Directory
    """A complete path; `~` is the home of the user of the daemon."""
    client: ShortText = DEFAULT
    """Its name or its program."""
    name: ShortText = ""
    """Empty: Headspace chooses one."""
    prompt: PromptText = ""
    model: ShortText = ""
    permission_mode: ShortText = ""
    """In the words of the client."""
    role: ShortText = ""
    worktree: ShortText | None = None
    """The branch of the git worktree in which it works, created if needed; empty: with a generated name."""
    base: ShortText | None = None
    """The branch that a new worktree starts from."""


class Forking(msgspec.Struct, frozen=True):
    """How another agent continues a conversation."""

    name: ShortText = ""
    prompt: PromptText = ""
    model: ShortText = ""
    permission_mode: ShortText = ""


class Resuming(msgspec.Struct, frozen=True):
    """How an ended agent goes on."""

    prompt: PromptText = ""
    model: ShortText = ""
    permission_mode: ShortText = ""


@endpoints.get("/api/launches")
async def offers(context: ApiContext, _request: Request) -> LaunchOffers:
    """What can be started on the machine of the daemon: clients, permission modes, models and projects."""
    launcher = context.actions.launcher
    return await asyncio.to_thread(lambda: launch_offers(launcher.paths, launcher.host, context.read.agents.all()))


@endpoints.get(
    "/api/launches/directory",
    Parameter("path", "A complete path; `~` is the home of the user of the daemon.", DIRECTORY_SCHEMA),
    scope="act",
)
async def directory(_context: ApiContext, request: Request) -> DirectoryView:
    """Whether an agent can start in a directory, and whether it can get a worktree there."""
    path = request.query_params.get("path", "")
    return await asyncio.to_thread(examine_directory, path[:MAX_DIRECTORY_CHARS])


@endpoints.post("/api/agents/start", Starting)
async def start(context: ApiContext, request: Request) -> AgentView:
    """Start an agent in a tmux session of its own."""
    await context.requesters.refuse_agents(request)
    wanted = await read_body(request, Starting)
    given: dict[str, Any] = {**msgspec.structs.asdict(wanted), "directory": complete_directory(wanted.directory)}
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
    given = wanted.prompt, wanted.model, wanted.permission_mode
    return await _view(context, await asyncio.to_thread(launcher.resume, agent, *given))


async def _find(context: ApiContext, request: Request) -> dict[str, Any]:
    reference = request.path_params["agent"]
    return await asyncio.to_thread(context.actions.launcher.find, reference)


async def _view(context: ApiContext, agent: dict[str, Any]) -> AgentView:
    return await asyncio.to_thread(context.read.agents.view, agent["id"])
