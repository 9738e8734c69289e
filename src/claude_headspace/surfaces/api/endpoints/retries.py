"""Continuing a turn that an API error stopped, such as a rate limit."""

import asyncio
import uuid
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.requests import Request

from claude_headspace.kernel.agent import Agent
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable
from claude_headspace.surfaces.api.parameters import read_body
from claude_headspace.surfaces.api.retry import RetryView, retry_text, retry_time, retry_view
from claude_headspace.surfaces.api.terminal_input import Sent
from claude_headspace.surfaces.text.timestamps import parse_future_time

endpoints = EndpointTable()

LIMIT_END = "limit"


class Retrying(msgspec.Struct, frozen=True):
    """When a stopped turn is continued. The same `id` is sent once."""

    at: Annotated[str, Meta(max_length=40)] = ""
    """Empty: now. `limit`: when the account limit ends, if that is known. Or a time, or `15m` for in 15 minutes."""
    id: Annotated[str, Meta(max_length=100)] = ""


@endpoints.get("/api/agents/{agent}/retry")
async def preview(context: ApiContext, request: Request) -> RetryView:
    """What a retry would send to the agent that an error stopped, and when its limit ends."""
    return await asyncio.to_thread(retry_view, context.read, await _find(context, request))


@endpoints.post("/api/agents/{agent}/retry", Retrying)
async def retry(context: ApiContext, request: Request) -> Sent:
    """Continue the turn that an error stopped, with the last prompt again or with "continue": now, or later."""
    requester = await context.requesters.identify(request)
    wanted = await read_body(request, Retrying)
    agent = await _find(context, request)
    text = await asyncio.to_thread(retry_text, context.read, agent)
    if not wanted.at:
        return await context.actions.send(agent, text, wanted.id, requester)
    at = retry_time(agent) if wanted.at == LIMIT_END else parse_future_time("at", wanted.at, context.read.clock())
    prompt_id = wanted.id or uuid.uuid4().hex
    return await context.actions.prompts.schedule(agent, text, prompt_id, requester, retry_at=at)


async def _find(context: ApiContext, request: Request) -> Agent:
    return await asyncio.to_thread(context.read.agents.find, request.path_params["agent"])
