"""The endpoints of the past: an agent's log as a file, and such a file brought in."""

import asyncio
from functools import partial

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from claude_headspace.engine.log_transfer import BroughtIn, import_lines, log_lines, read_header
from claude_headspace.inputs.receive.receiver import new_id
from claude_headspace.kernel.agent import Agent
from claude_headspace.surfaces.api.openapi import Endpoint
from claude_headspace.surfaces.api.parameters import read_body
from claude_headspace.surfaces.api.services import Services, Serving

NDJSON = "application/x-ndjson"


class LogPart(msgspec.Struct, frozen=True):
    """Some lines of an exported log, with its first one."""

    header: str
    lines: list[str]
    first: int = 2
    """The number of the first of them in the file."""


async def export(api: Serving, request: Request) -> Response:
    """An agent's log, as JSON lines."""
    services = api.services
    agent, session = await asyncio.to_thread(_meant, services, request.path_params["agent"])
    lines = log_lines(services.journal, agent, session, services.settings.host_name, services.clock())
    return StreamingResponse(lines, media_type=NDJSON)


def _meant(services: Services, reference: str) -> tuple[Agent, str | None]:
    """The agent that a person means, or one of its sessions by Claude's id."""
    if (agent := services.journal.agent_by_session(reference)) is not None:
        return agent, reference
    return services.model.resolve(reference), None


async def import_log(api: Serving, request: Request) -> BroughtIn:
    """Bring some lines of an exported log in."""
    services = api.services
    part = await read_body(request, LogPart, services.settings.max_body_bytes)
    header = read_header(part.header.encode())
    lines = [line.encode() for line in part.lines]
    work = partial(import_lines, header=header, lines=lines, first=part.first, new_id=new_id(), now=services.clock())
    return await services.engine.transact(work)


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/agents/{agent}/export",
        "The log of an agent, or of one session by Claude's id, as JSON lines, to be brought in elsewhere.",
        export,
        str,
        produces=NDJSON,
    ),
    Endpoint(
        "POST",
        "/api/admin/import/log",
        "Bring lines of an exported log in; what is here already is left alone.",
        import_log,
        BroughtIn,
        scope="admin",
        takes=LogPart,
    ),
)
