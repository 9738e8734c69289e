"""Reading efforts and tasks. Efforts are changed over the socket (`headspace effort`), where a request carries its
environment.
"""

import asyncio

from starlette.requests import Request

from claude_headspace.kernel.effort.views import EffortStory, EffortView, TaskView
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable, Parameter
from claude_headspace.surfaces.api.parameters import read_flag

endpoints = EndpointTable()


@endpoints.get(
    "/api/efforts",
    Parameter("all", "Include finished efforts.", {"type": "boolean"}),
    Parameter("agent", "Only efforts of this agent (id).", {"type": "string"}),
)
async def efforts(context: ApiContext, request: Request) -> list[EffortView]:
    """Active efforts, the newest first."""
    only_active = not read_flag(request, "all")
    found = (await asyncio.to_thread(context.read.efforts.list_all, only_active=only_active)).efforts
    agent = request.query_params.get("agent")
    return found if agent is None else [effort for effort in found if effort.agent_id == agent]


@endpoints.get("/api/efforts/{effort}")
async def effort(context: ApiContext, request: Request) -> EffortStory:
    """One effort by id or start of its id, with its sessions and messages."""
    found = await asyncio.to_thread(context.read.efforts.find, request.path_params["effort"], any_host=True)
    return await asyncio.to_thread(context.read.efforts.details, found)


@endpoints.get("/api/tasks")
async def tasks(context: ApiContext, _request: Request) -> list[TaskView]:
    """Tasks: directories with efforts, active or dormant."""
    return (await asyncio.to_thread(context.read.efforts.list_all, only_active=True)).tasks
