"""What went wrong, in the one shape that every error of the API has."""

import msgspec
import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from claude_headspace.errors import HeadspaceError

log = structlog.get_logger(__name__)


async def tell(_request: Request, error: Exception) -> Response:
    """An error of ours, as it says itself."""
    status, body = (error.status, error.body()) if isinstance(error, HeadspaceError) else (500, {})
    return Response(msgspec.json.encode(body), status, media_type="application/json")


async def tell_http(request: Request, error: Exception) -> Response:
    """What the router says of an address that there is not."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    code, message = {
        404: ("not_found", f"There is nothing at {request.scope['path'][:200]}."),
        405: ("method_not_allowed", f"{request.method} does not work here."),
    }.get(status, ("bad_request", "The request cannot be understood."))
    return await tell(request, HeadspaceError(code, message, "See /openapi.json for what there is.", status=status))


async def tell_bug(request: Request, error: Exception) -> Response:
    """What nobody foresaw: all of it goes to the log, nothing of it to the sender."""
    log.error("request_failed", path=request.scope["path"][:200], exc_info=error)
    return await tell(
        request, HeadspaceError("bug", "Headspace made a mistake.", "See `headspace logs`, and report it.")
    )
