"""Efforts and tasks over HTTP, for people who look. Doing something to one is for the socket (`headspace effort`):
there each request tells whose effort is meant.
"""

import asyncio

from starlette.requests import Request

from claude_headspace.kernel.effort.views import EffortStory, EffortView, TaskView
from claude_headspace.surfaces.api.openapi import Endpoint, Parameter
from claude_headspace.surfaces.api.parameters import read_flag
from claude_headspace.surfaces.api.services import Serving


async def efforts(api: Serving, request: Request) -> list[EffortView]:
    """Efforts, the newest first."""
    only_active = not read_flag(request, "all")
    found = (await asyncio.to_thread(api.services.efforts.listed, only_active=only_active)).efforts
    agent = request.query_params.get("agent")
    return found if agent is None else [effort for effort in found if effort.agent_id == agent]


async def effort(api: Serving, request: Request) -> EffortStory:
    """One effort with its sessions and messages."""
    return await asyncio.to_thread(_story, api, request.path_params["effort"])


def _story(api: Serving, reference: str) -> EffortStory:
    model = api.services.efforts
    return model.story(model.named(reference, everywhere=True))


async def tasks(api: Serving, _request: Request) -> list[TaskView]:
    """The directories in which efforts are made."""
    return (await asyncio.to_thread(api.services.efforts.listed, only_active=True)).tasks


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/efforts",
        "The efforts under way, the newest first.",
        efforts,
        list[EffortView],
        parameters=(
            Parameter("all", "Also those that are finished.", {"type": "boolean"}),
            Parameter("agent", "Only those that this agent (its id) works on.", {"type": "string"}),
        ),
    ),
    Endpoint(
        "GET",
        "/api/efforts/{effort}",
        "One effort with its sessions and messages, by its id or the beginning of it.",
        effort,
        EffortStory,
    ),
    Endpoint(
        "GET", "/api/tasks", "The directories in which efforts are made, active or dormant.", tasks, list[TaskView]
    ),
)
