"""Export and import: an agent's log as JSON lines, and transcripts of past sessions."""

import asyncio

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from claude_headspace.engine.log_transfer import ImportedLog
from claude_headspace.inputs.watch.transcript_import import ImportableFile, ImportResult
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import Endpoint
from claude_headspace.surfaces.api.parameters import read_body

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


async def export(context: ApiContext, request: Request) -> Response:
    """The log of an agent, or of one session by the client's session id."""
    reference = request.path_params["agent"]
    if (agent := await asyncio.to_thread(context.read.agents.of_session, reference)) is not None:
        lines = context.read.events.export(agent, session_id=reference)
    else:
        agent = await asyncio.to_thread(context.read.agents.find, reference)
        lines = context.read.events.export(agent)
    return StreamingResponse(lines, media_type=NDJSON)


async def import_log(context: ApiContext, request: Request) -> ImportedLog:
    """Import lines of an exported log."""
    part = await read_body(request, LogPart, context.installation.max_body_bytes)
    return await context.administration.import_log(part.header, part.lines, part.first)


async def transcripts(context: ApiContext, _request: Request) -> list[ImportableFile]:
    """The transcripts that can be imported."""
    return await context.administration.transcripts.files()


async def import_transcript(context: ApiContext, request: Request) -> ImportResult:
    """Import a transcript."""
    return await context.administration.transcripts.import_file((await read_body(request, TranscriptImport)).path)


ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/agents/{agent}/export",
        "The log of an agent, or of one session by Claude Code's session id, as JSON lines for an import elsewhere.",
        export,
        str,
        produces=NDJSON,
    ),
    Endpoint(
        "POST",
        "/api/admin/import/log",
        "Import lines of an exported log. Events that are already stored are skipped.",
        import_log,
        ImportedLog,
        scope="admin",
        body=LogPart,
    ),
    Endpoint(
        "GET",
        "/api/admin/import",
        "Transcripts that can be imported, and how much of each was imported.",
        transcripts,
        list[ImportableFile],
        scope="admin",
    ),
    Endpoint(
        "POST",
        "/api/admin/import",
        "Import a transcript. Sessions without a running client are imported as ended.",
        import_transcript,
        ImportResult,
        scope="admin",
        body=TranscriptImport,
    ),
)
