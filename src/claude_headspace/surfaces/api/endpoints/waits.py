"""Waits: what agents need from a person, and answering."""

import asyncio

from starlette.requests import Request

from claude_headspace.kernel.wait.answers import Answer
from claude_headspace.kernel.wait.views import WaitDetailsView, WaitView
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable, Parameter
from claude_headspace.surfaces.api.parameters import read_body, read_flag

endpoints = EndpointTable()


@endpoints.get(
    "/api/waits",
    Parameter("agent", "Only waits of this agent.", {"type": "string"}),
    Parameter("all", "Include closed waits.", {"type": "boolean"}),
)
async def waits(context: ApiContext, request: Request) -> list[WaitView]:
    """What agents need from a person."""
    reference, only_open = request.query_params.get("agent") or None, not read_flag(request, "all")
    agent_id = (await asyncio.to_thread(context.read.agents.find, reference)).id if reference else None
    return await asyncio.to_thread(context.read.waits.views, agent_id=agent_id, only_open=only_open)


@endpoints.get(
    "/api/waits/{wait}",
    Parameter("all", "Return everything that Headspace has, however long.", {"type": "boolean"}),
)
async def wait(context: ApiContext, request: Request) -> WaitDetailsView:
    """One wait with the complete request: text, diff, arguments, hidden characters, and what can be granted."""
    everything = read_flag(request, "all")
    return await context.answers.details.view(request.path_params["wait"], everything=everything)


@endpoints.post("/api/waits/{wait}/answer", Answer)
async def answer(context: ApiContext, request: Request) -> WaitView:
    """Answer a wait while its `held_until` is in the future. Error 502: the client did not receive the answer."""
    given = await read_body(request, Answer)
    requester = await context.requesters.identify(request)
    return await context.answers.give(requester, request.path_params["wait"], given)
