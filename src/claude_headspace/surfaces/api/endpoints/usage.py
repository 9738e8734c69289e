"""Cost and tokens of agents over all their sessions, budgets and rate limits."""

import asyncio

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from claude_headspace.errors import BadRequest
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable, Parameter
from claude_headspace.surfaces.api.parameters import CLIENT, TIME_SCHEMA, read_client, read_time
from claude_headspace.surfaces.read.usage import KEYS, UsageFilter, UsageReport
from claude_headspace.surfaces.read.usage_limits import UsageLimits
from claude_headspace.surfaces.text.usage_records import usage_csv

endpoints = EndpointTable()

CSV = "text/csv"


PARAMETERS = (
    Parameter("by", f"How to group it, comma-separated: {', '.join(KEYS)}. `day` by default.", {"type": "string"}),
    Parameter("since", "Only from this time on.", TIME_SCHEMA),
    Parameter("until", "Only up to this time.", TIME_SCHEMA),
    Parameter("agent", "Only this agent.", {"type": "string"}),
    Parameter("project", "Only this project (id, name or directory).", {"type": "string"}),
    CLIENT,
    Parameter("model", "Only this model.", {"type": "string"}),
)


@endpoints.get("/api/usage", *PARAMETERS)
async def usage(context: ApiContext, request: Request) -> UsageReport:
    """Cost and tokens of agents over all their sessions, by day, project, model, client, agent or session."""
    return await _report(context, request)


@endpoints.get("/api/usage.csv", *PARAMETERS, produces=CSV)
async def usage_as_csv(context: ApiContext, request: Request) -> Response:
    """The same as CSV, like `headspace usage --csv`."""
    report = await _report(context, request)
    return Response(usage_csv(msgspec.to_builtins(report)), media_type=CSV)


@endpoints.get("/api/usage/limits")
async def usage_limits(context: ApiContext, _request: Request) -> UsageLimits:
    """How much of each budget is used, and the rate limits that clients report."""
    rules = context.notifier.preferences.current().rules
    return await asyncio.to_thread(context.read.usage_limits.current, rules)


async def _report(context: ApiContext, request: Request) -> UsageReport:
    by = tuple(dict.fromkeys(name for name in request.query_params.get("by", "day").split(",") if name))
    if unknown := [name for name in by if name not in KEYS]:
        message = f"Usage cannot be grouped by {unknown[0][:60]!r}."
        raise BadRequest("bad_parameter", message, f"Use {', '.join(KEYS)}.")
    which = await asyncio.to_thread(_filter, context, request)
    return await asyncio.to_thread(context.read.usage.report, which, by)


def _filter(context: ApiContext, request: Request) -> UsageFilter:
    query, agents, now = request.query_params, context.read.agents, context.read.clock()
    agent, project = query.get("agent") or None, query.get("project") or None
    return UsageFilter(
        since=read_time(request, "since", now),
        until=read_time(request, "until", now),
        agent_id=agents.find(agent).id if agent else None,
        project_ids=agents.project_ids(project) if project else None,
        client=read_client(request),
        model=query.get("model") or None,
    )
