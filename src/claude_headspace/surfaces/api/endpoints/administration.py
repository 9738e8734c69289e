"""Administration: named tokens, the database, and the export and import of logs and transcripts."""

import asyncio

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from claude_headspace.engine.log_transfer import ImportedLog
from claude_headspace.inputs.watch.transcript_import import ImportableFile, ImportResult
from claude_headspace.kernel.text import Time, iso
from claude_headspace.ports import NamedToken, PruneResult
from claude_headspace.surfaces.api.administration import Verification
from claude_headspace.surfaces.api.context import ApiContext
from claude_headspace.surfaces.api.openapi import EndpointTable
from claude_headspace.surfaces.api.parameters import read_body
from claude_headspace.surfaces.auth.tokens import Scope
from claude_headspace.surfaces.text.timestamps import parse_time

endpoints = EndpointTable()

NDJSON = "application/x-ndjson"

# --- named tokens ---


class TokenView(msgspec.Struct, frozen=True):
    """A named token, without its text."""

    name: str
    scopes: list[str]
    owner: str
    created_at: Time
    expires_at: Time | None
    last_used_at: Time | None
    expired: bool


class CreatedToken(msgspec.Struct, frozen=True):
    """A new token with its text, which is not stored and cannot be shown again."""

    token: str
    details: TokenView


class NewToken(msgspec.Struct, frozen=True):
    """The token to create."""

    name: str
    scopes: list[Scope]
    owner: str = ""
    expires_at: str | None = None


class RevokedToken(msgspec.Struct, frozen=True):
    """The name of the revoked token."""

    revoked: str


@endpoints.get("/api/admin/tokens", scope="admin")
async def list_tokens(context: ApiContext, _request: Request) -> list[TokenView]:
    """All named tokens, without their text."""
    now = context.read.clock()
    return [_view(token, now) for token in await asyncio.to_thread(context.administration.tokens.all)]


@endpoints.post("/api/admin/tokens", NewToken, scope="admin")
async def create_token(context: ApiContext, request: Request) -> CreatedToken:
    """Create a named token. Its text is returned only once. Agents get none."""
    await context.requesters.refuse_agents(request)
    wanted, now = await read_body(request, NewToken), context.read.clock()
    expires_at = parse_time("expires_at", wanted.expires_at, now) if wanted.expires_at else None
    token, text = await asyncio.to_thread(
        context.administration.tokens.create, wanted.name, wanted.scopes, wanted.owner, expires_at
    )
    return CreatedToken(text, _view(token, now))


@endpoints.post("/api/admin/tokens/{token}/revoke", scope="admin")
async def revoke_token(context: ApiContext, request: Request) -> RevokedToken:
    """Revoke a named token, immediately and on every host."""
    await context.requesters.refuse_agents(request)
    name = request.path_params["token"]
    await asyncio.to_thread(context.administration.tokens.revoke, name)
    return RevokedToken(name)


def _view(token: NamedToken, now: int) -> TokenView:
    return TokenView(
        token.name,
        list(token.scopes),
        token.owner,
        iso(token.created_at),
        iso(token.expires_at) if token.expires_at is not None else None,
        iso(token.last_used_at) if token.last_used_at is not None else None,
        token.expires_at is not None and token.expires_at <= now,
    )


# --- the database ---


class Rebuilt(msgspec.Struct, frozen=True):
    """The number of replayed events."""

    events: int


class PruneRequest(msgspec.Struct, frozen=True):
    """How many days to keep (null: `retention_days`), and whether only to report what would be removed."""

    days: int | None = None
    dry_run: bool = False


@endpoints.post("/api/admin/db/verify", scope="admin")
async def verify(context: ApiContext, _request: Request) -> Verification:
    """Replay the log and compare the result with the projections."""
    return await context.administration.verify()


@endpoints.post("/api/admin/db/rebuild", scope="admin")
async def rebuild(context: ApiContext, _request: Request) -> Rebuilt:
    """Rebuild the projections from the log."""
    return Rebuilt(await context.administration.rebuild())


@endpoints.post("/api/admin/db/prune", PruneRequest, scope="admin")
async def prune(context: ApiContext, request: Request) -> PruneResult:
    """Remove events older than the retention period. Agents that are still in use keep a snapshot."""
    wanted = await read_body(request, PruneRequest)
    return await context.administration.prune(wanted.days, dry_run=wanted.dry_run)


# --- export and import ---


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
    """The log of an agent, or of one session by its client's id, as JSON lines for an import elsewhere."""
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
    return await context.administration.transcripts.list_files()


@endpoints.post("/api/admin/import", TranscriptImport, scope="admin")
async def import_transcript(context: ApiContext, request: Request) -> ImportResult:
    """Import a transcript. Sessions without a running client are imported as ended."""
    return await context.administration.transcripts.import_file((await read_body(request, TranscriptImport)).path)
