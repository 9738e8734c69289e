"""The event log, in pages and as a live stream."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.react import STREAM_TYPES
from claude_headspace.ports import EventFilter
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable, Parameter
from claude_headspace.surfaces.api.parameters import (
    CLIENT,
    LIMIT,
    parse_number,
    read_client,
    read_flag,
    read_limit,
    read_list,
    read_number,
    read_words,
)
from claude_headspace.surfaces.live.stream import StreamFilter
from claude_headspace.surfaces.read.events import EventView

endpoints = EndpointTable()

LOG_PARAMETERS = (
    LIMIT,
    Parameter("after", "Only events after this sequence number, in order.", {"type": "integer", "minimum": 0}),
    Parameter("before", "Only events before this sequence number.", {"type": "integer", "minimum": 0}),
    Parameter("names", "Only events with these names, separated by commas.", {"type": "string"}),
    Parameter("origins", "Only events from these origins, such as hook, separated by commas.", {"type": "string"}),
    CLIENT,
    Parameter("odd", "Only events with an anomaly.", {"type": "boolean"}),
    Parameter(
        "text",
        "Only events that contain each of these words: in name, origin, anomaly or payload, or in the agent's name.",
        {"type": "string"},
    ),
)


@endpoints.get("/api/events", *LOG_PARAMETERS)
async def events(context: ApiContext, request: Request) -> list[EventView]:
    """The event log."""
    matching = EventFilter(
        names=read_list(request, "names"),
        origins=read_list(request, "origins"),
        clients=frozenset(filter(None, [read_client(request)])),
        only_anomalies=read_flag(request, "odd"),
        before_seq=read_number(request, "before"),
        words=read_words(request, "text"),
    )
    after, limit = read_number(request, "after"), read_limit(request)
    reference = request.path_params.get("agent")
    agent_id = (await asyncio.to_thread(context.read.agents.find, reference)).id if reference else None
    return await asyncio.to_thread(
        context.read.events.page, agent_id=agent_id, after=after, limit=limit, matching=matching
    )


@endpoints.get("/api/agents/{agent}/events", *LOG_PARAMETERS)
async def agent_events(context: ApiContext, request: Request) -> list[EventView]:
    """The events of one agent."""
    found: list[EventView] = await events(context, request)
    return found


@endpoints.get(
    "/api/events/stream",
    Parameter("types", f"Only these events, separated by commas: {', '.join(STREAM_TYPES)}.", {"type": "string"}),
    Parameter("agent_id", "Only events of this agent.", {"type": "string"}),
    Parameter("project_id", "Only events of this project.", {"type": "string"}),
    Parameter("last_event_id", "Resume after this sequence number.", {"type": "integer", "minimum": 0}),
    produces="text/event-stream",
)
async def stream(context: ApiContext, request: Request) -> Response:
    """Live changes as server-sent events. `Last-Event-ID` resumes."""
    types = read_list(request, "types")
    if unknown := types - set(STREAM_TYPES):
        message = f"There is no stream event {min(unknown)}."
        raise BadRequest("unknown_type", message, f"Stream events: {', '.join(STREAM_TYPES)}.")
    query = request.query_params
    matching = StreamFilter(types, query.get("agent_id") or None, query.get("project_id") or None)
    # A browser that reconnects repeats the original URL, and sends its position in the header.
    position = request.headers.get("last-event-id") or query.get("last_event_id") or None
    after = parse_number("last_event_id", position)
    if request.method == "HEAD":
        return Response(media_type="text/event-stream")
    newest = await context.stream.newest_in_journal()
    return StreamingResponse(context.stream.read(matching, after, newest), media_type="text/event-stream")
