"""Error responses. Every error of the API has the same JSON shape: code, message and hint."""

import msgspec
import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from claude_headspace.errors import HeadspaceError

log = structlog.get_logger(__name__)


async def error_response(_request: Request, error: Exception) -> Response:
    """The response for one of our own errors."""
    status, body = (error.status, error.body()) if isinstance(error, HeadspaceError) else (500, {})
    return Response(msgspec.json.encode(body), status, media_type="application/json")


async def routing_error_response(request: Request, error: Exception) -> Response:
    """The response for a path or method that does not exist."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    code, message = {
        404: ("not_found", f"There is nothing at {request.scope['path'][:200]}."),
        405: ("method_not_allowed", f"This path does not support {request.method}."),
    }.get(status, ("bad_request", "The request is malformed."))
    return await error_response(
        request, HeadspaceError(code, message, "/openapi.json lists all endpoints.", status=status)
    )


async def internal_error_response(request: Request, error: Exception) -> Response:
    """The response for an unexpected exception: details go to the log, never to the client."""
    log.error("request_failed", path=request.scope["path"][:200], exc_info=error)
    message, hint = "Internal error in Headspace.", "See `headspace logs`, and report it as a bug."
    return await error_response(request, HeadspaceError("bug", message, hint))
