"""Export and import: an agent's log as JSON lines, and transcripts of past sessions."""

import asyncio

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from claude_headspace.engine.log_transfer import ImportedLog
from claude_headspace.inputs.watch.transcript_import import ImportableFile, ImportResult
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable
from claude_headspace.surfaces.api.parameters import read_body

endpoints = EndpointTable()

NDJSON = "application/x-ndjson"


class LogPart(msgspec.Struct, frozen=True):
    """Some lines of an exported log, with the first line of the file."""

    header: str
    lines: list[str]
    first: int = 2
    """The line number of the first of these lines in the file."""


class TranscriptImport(msgspec.Struct, frozen=True):
    """The transcript to import."""

    path: str


@endpoints.get("/api/agents/{agent}/export", produces=NDJSON)
async def export(context: ApiContext, request: Request) -> Response:
    """The log of an agent, or of one session by Claude Code's session id, as JSON lines for an import elsewhere."""
    reference = request.path_params["agent"]
    if (agent := await asyncio.to_thread(context.read.agents.of_session, reference)) is not None:
        lines = context.read.events.export(agent, session_id=reference)
    else:
        agent = await asyncio.to_thread(context.read.agents.find, reference)
        lines = context.read.events.export(agent)
    return StreamingResponse(lines, media_type=NDJSON)


@endpoints.post("/api/admin/import/log", LogPart, scope="admin")
async def import_log(context: ApiContext, request: Request) -> ImportedLog:
    """Import lines of an exported log. Events that are already stored are skipped."""
    part = await read_body(request, LogPart, context.installation.settings.max_body_bytes)
    return await context.administration.import_log(part.header, part.lines, part.first)


@endpoints.get("/api/admin/import", scope="admin")
async def transcripts(context: ApiContext, _request: Request) -> list[ImportableFile]:
    """Transcripts that can be imported, and how much of each was imported."""
    return await context.administration.transcripts.files()


@endpoints.post("/api/admin/import", TranscriptImport, scope="admin")
async def import_transcript(context: ApiContext, request: Request) -> ImportResult:
    """Import a transcript. Sessions without a running client are imported as ended."""
    return await context.administration.transcripts.import_file((await read_body(request, TranscriptImport)).path)
