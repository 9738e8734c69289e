"""The git worktree of an agent: what can be done with it, and merge, rebase, remove."""

import asyncio

from starlette.requests import Request

from claude_headspace.kernel.agent import Agent
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable
from claude_headspace.surfaces.api.parameters import read_body
from claude_headspace.surfaces.worktrees.of_agent import WorktreeChange, WorktreeChanged, WorktreePlan

endpoints = EndpointTable()


@endpoints.get("/api/agents/{agent}/worktree", scope="act")
async def plan(context: ApiContext, request: Request) -> WorktreePlan:
    """The agent's worktree, how far it is from its base, and what its removal would delete."""
    return await context.actions.plan_worktree(await _find(context, request))


@endpoints.post("/api/agents/{agent}/worktree", WorktreeChange)
async def change(context: ApiContext, request: Request) -> WorktreeChanged:
    """Merge, rebase or remove the agent's worktree. Refused if work would be lost or an agent disturbed."""
    requester = await context.requesters.identify(request)
    wanted = await read_body(request, WorktreeChange)
    return await context.actions.change_worktree(await _find(context, request), wanted, requester)


async def _find(context: ApiContext, request: Request) -> Agent:
    return await asyncio.to_thread(context.read.agents.find, request.path_params["agent"])
