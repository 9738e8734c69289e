"""Search, the activity of a day, and the timeline."""

import asyncio

from starlette.requests import Request

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.kernel.state_machine import Actor
from claude_headspace.ports import SearchFilter
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable, Parameter
from claude_headspace.surfaces.api.parameters import CLIENT, TIME_SCHEMA, read_client, read_day, read_limit, read_time
from claude_headspace.surfaces.read.activity import ActivityView
from claude_headspace.surfaces.read.search import CURSOR, Hits
from claude_headspace.surfaces.read.timeline import Timeline

endpoints = EndpointTable()

MAX_HITS = 100
DEFAULT_HITS = 20
DAY: Micros = 24 * 3600 * SECOND
MAX_TIMELINE_DAYS = 31
ACTORS = [actor.value for actor in Actor]


@endpoints.get(
    "/api/search",
    Parameter("q", "Words that must all occur. The last one may be a prefix.", {"type": "string"}),
    Parameter("project", "Only this project (id, name or directory).", {"type": "string"}),
    Parameter("agent", "Only this agent.", {"type": "string"}),
    CLIENT,
    Parameter("actor", "Only texts of the user or of the agent.", {"type": "string", "enum": ACTORS}),
    Parameter("tool", "Only this tool.", {"type": "string"}),
    Parameter("since", "Only from this time on.", TIME_SCHEMA),
    Parameter("until", "Only up to this time.", TIME_SCHEMA),
    Parameter(
        "limit",
        "The maximum number of hits.",
        {"type": "integer", "minimum": 1, "maximum": MAX_HITS, "default": DEFAULT_HITS},
    ),
    Parameter("before", "The `next` of the previous page.", {"type": "string", "pattern": CURSOR.pattern}),
)
async def search(context: ApiContext, request: Request) -> Hits:
    """Full-text search in prompts, replies, tool inputs and tool results, the best hits first."""
    matching = await asyncio.to_thread(_filter, context, request)
    limit = read_limit(request, default=DEFAULT_HITS, maximum=MAX_HITS)
    query, before = request.query_params.get("q", ""), request.query_params.get("before") or None
    return await asyncio.to_thread(context.read.search.find, query, matching, limit, before)


def _filter(context: ApiContext, request: Request) -> SearchFilter:
    query, agents, now = request.query_params, context.read.agents, context.read.clock()
    agent, project, actor = (query.get(name) or None for name in ("agent", "project", "actor"))
    if actor is not None and actor.upper() not in ACTORS:
        raise BadRequest("bad_parameter", f"There is no actor {actor[:60]}.", f"Actors: {', '.join(ACTORS)}.")
    since, until = (read_time(request, name, now) for name in ("since", "until"))
    if since is not None and until is not None and since > until:
        raise BadRequest("bad_parameter", "`since` is later than `until`.", "Swap them.")
    return SearchFilter(
        agent_id=agents.find(agent).id if agent else None,
        project_ids=agents.project_ids(project) if project else None,
        client=read_client(request),
        actor=actor.upper() if actor else None,
        tool=query.get("tool") or None,
        since=since,
        until=until,
    )


@endpoints.get(
    "/api/activity",
    Parameter("day", "The date, such as 2026-01-31; today by default.", {"type": "string", "format": "date"}),
)
async def activity(context: ApiContext, request: Request) -> ActivityView:
    """One day: commands, working and waiting time and tools per project, and the latency of hooks."""
    day, since, until = read_day(request, "day", context.read.clock())
    return await asyncio.to_thread(context.read.activity.of_day, day.isoformat(), since, until)


@endpoints.get(
    "/api/timeline",
    Parameter("since", "Only from this time on; by default the last 24 hours.", TIME_SCHEMA),
    Parameter("until", f"Only up to this time; now by default. At most {MAX_TIMELINE_DAYS} days.", TIME_SCHEMA),
)
async def timeline(context: ApiContext, request: Request) -> Timeline:
    """States, commands and sub-agents of all agents in a time range, in a compact form."""
    now = context.read.clock()
    until = read_time(request, "until", now) or now
    since = read_time(request, "since", now)
    since = until - DAY if since is None else since
    if not 0 <= until - since <= MAX_TIMELINE_DAYS * DAY:
        message = f"The time range must end after it begins, and have at most {MAX_TIMELINE_DAYS} days."
        raise BadRequest("bad_parameter", message, "Correct `since` or `until`.")
    return await asyncio.to_thread(context.read.timeline.between, since, until)
