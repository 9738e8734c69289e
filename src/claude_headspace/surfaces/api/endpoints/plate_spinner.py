"""The interface of plate-spinner: `POST /events` and `GET /plates`, which shows the board with its seven statuses."""

import asyncio
from typing import Any

import msgspec
from starlette.requests import Request

from claude_headspace.inputs.receive.plate_spinner import EVENTS_PATH
from claude_headspace.kernel.text import Time
from claude_headspace.kernel.views.agent import AgentView
from claude_headspace.outputs.reply import HookReply
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import Endpoint, EndpointTable

endpoints = EndpointTable()


class PlateEvent(msgspec.Struct, frozen=True):
    """An event of plate-spinner's hooks."""

    session_id: str
    event_type: str
    project_path: str | None = None
    tool_name: str | None = None
    tool_input: dict[str, Any] | None = None
    tool_params: dict[str, Any] | None = None
    """Another name of `tool_input`."""
    transcript_path: str | None = None
    git_branch: str | None = None
    timestamp: float | str | None = None
    """When the event fired: seconds since 1970, or ISO 8601."""
    error: str | None = None


endpoints.append(
    Endpoint(
        "POST",
        EVENTS_PATH,
        "Report an event in the format of plate-spinner's hooks.",
        None,
        HookReply,
        scope="ingest",
        body=PlateEvent,
    )
)


class Plate(msgspec.Struct, frozen=True):
    """One agent, as plate-spinner shows it."""

    session_id: str
    project_path: str
    transcript_path: str | None
    git_branch: str | None
    status: str
    last_tool: str | None
    summary: str | None
    todo_progress: str | None
    tmux_target: str | None
    created_at: Time
    updated_at: Time


def plate(agent: AgentView, transcript_path: str | None = None) -> Plate:
    """An agent as a plate. Before its first hook the agent's id stands for the session id."""
    todo = agent.todo
    return Plate(
        session_id=agent.session_id or agent.id,
        project_path=agent.cwd or agent.project.root,
        transcript_path=transcript_path,
        git_branch=agent.branch,
        status=agent.dialects.plate,
        last_tool=agent.last_tool,
        summary=(agent.command.text or None) if agent.command else None,
        todo_progress=f"{todo.done}/{todo.total}" if todo else None,
        tmux_target=agent.tmux.pane,
        created_at=agent.created_at,
        updated_at=agent.last_active_at,
    )


@endpoints.get("/plates")
async def plates(context: ApiContext, _request: Request) -> list[Plate]:
    """The board in the format of plate-spinner."""
    agents = await asyncio.to_thread(context.read.agents.board_with_transcripts)
    return [plate(agent, transcript_path) for agent, transcript_path in agents]
