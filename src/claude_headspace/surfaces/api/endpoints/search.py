"""`GET /api/search`: what was said and done, found by its words."""

import asyncio

from starlette.requests import Request

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.state_machine import Actor
from claude_headspace.ports import SearchFilter
from claude_headspace.surfaces.api.openapi import Endpoint, Parameter
from claude_headspace.surfaces.api.parameters import MOMENT, moment, whole_number
from claude_headspace.surfaces.api.search import CURSOR, Hits, Searcher
from claude_headspace.surfaces.api.services import Services, Serving

LARGEST_PAGE = 100
USUAL_PAGE = 20
ACTORS = [actor.value for actor in Actor]


async def search(api: Serving, request: Request) -> Hits:
    """A page of hits, the best first."""
    services, query = api.services, request.query_params
    wanted = await asyncio.to_thread(_wanted, services, request)
    searcher = Searcher(services.journal, services.clock)
    return await asyncio.to_thread(
        searcher.search, query.get("q", ""), wanted, _limit(query.get("limit") or None), query.get("before") or None
    )


def _wanted(services: Services, request: Request) -> SearchFilter:
    query = request.query_params
    agent, project, actor = (query.get(name) or None for name in ("agent", "project", "actor"))
    if actor is not None and actor.upper() not in ACTORS:
        raise BadRequest("bad_parameter", f"There is no actor {actor[:60]}.", f"There are: {', '.join(ACTORS)}.")
    since, until = (moment(request, name, services.clock) for name in ("since", "until"))
    if since is not None and until is not None and since > until:
        raise BadRequest("bad_parameter", "`since` is later than `until`.", "Nothing lies between them: swap them.")
    return SearchFilter(
        agent_id=services.model.resolve(agent).id if agent else None,
        project_ids=services.model.projects(project) if project else None,
        actor=actor.upper() if actor else None,
        tool=query.get("tool") or None,
        since=since,
        until=until,
    )


def _limit(value: str | None) -> int:
    limit = whole_number("limit", value, 1) or USUAL_PAGE
    if limit > LARGEST_PAGE:
        raise BadRequest("bad_parameter", f"`limit` is at most {LARGEST_PAGE}.", "Ask for the next page with `before`.")
    return limit


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/search",
        "Prompts, answers, tool inputs and results with these words, the best first.",
        search,
        Hits,
        parameters=(
            Parameter("q", "Words that must all occur; the last one may be a beginning.", {"type": "string"}),
            Parameter("project", "Only of this project (id, name or root).", {"type": "string"}),
            Parameter("agent", "Only of this agent.", {"type": "string"}),
            Parameter("actor", "Only what the user or the agent said.", {"type": "string", "enum": ACTORS}),
            Parameter("tool", "Only of this tool.", {"type": "string"}),
            Parameter("since", "Only from this moment on.", MOMENT),
            Parameter("until", "Only up to this moment.", MOMENT),
            Parameter(
                "limit",
                "How many at most.",
                {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": USUAL_PAGE},
            ),
            Parameter("before", "Go on where a page ended: its `next`.", {"type": "string", "pattern": CURSOR.pattern}),
        ),
    ),
)
