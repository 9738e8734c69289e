"""Waits: what agents need from a person, and answering."""

import asyncio

from starlette.requests import Request

from claude_headspace.kernel.answers import Answer
from claude_headspace.kernel.views import WaitView
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import Endpoint, Parameter
from claude_headspace.surfaces.api.parameters import read_body, read_flag


async def waits(context: ApiContext, request: Request) -> list[WaitView]:
    """Waits of one agent or of all."""
    reference, only_open = request.query_params.get("agent") or None, not read_flag(request, "all")
    agent_id = (await asyncio.to_thread(context.read.agents.find, reference)).id if reference else None
    return await asyncio.to_thread(context.read.waits.views, agent_id=agent_id, only_open=only_open)


async def answer(context: ApiContext, request: Request) -> WaitView:
    """Answer a wait. Agents are refused."""
    given = await read_body(request, Answer)
    requester = await context.requesters.identify(request)
    return await context.answers.give(requester, request.path_params["wait"], given)


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/waits",
        "What agents need from a person.",
        waits,
        list[WaitView],
        parameters=(
            Parameter("agent", "Only waits of this agent.", {"type": "string"}),
            Parameter("all", "Include closed waits.", {"type": "boolean"}),
        ),
    ),
    Endpoint(
        "POST",
        "/api/waits/{wait}/answer",
        "Answer a wait while its hook is held open.",
        answer,
        WaitView,
        scope="act",
        body=Answer,
    ),
)
