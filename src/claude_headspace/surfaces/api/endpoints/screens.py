"""The screen of an agent's tmux pane, live and read-only.

It needs the scope `act`, because a screen shows more than the stored conversation: drafts, dialogs, and what a person
runs in the client's shell mode.
"""

import asyncio

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable

endpoints = EndpointTable()

MEDIA_TYPE = "text/event-stream"


@endpoints.get("/api/agents/{agent}/screen", scope="act", produces=MEDIA_TYPE)
async def screen(context: ApiContext, request: Request) -> Response:
    """The screen of the agent's tmux pane as server-sent events `screen`: now, and whenever it changes."""
    agent = await asyncio.to_thread(context.read.agents.find, request.path_params["agent"])
    if request.method == "HEAD":
        return Response(media_type=MEDIA_TYPE)
    return StreamingResponse(context.actions.screens.watch(agent.id), media_type=MEDIA_TYPE)
