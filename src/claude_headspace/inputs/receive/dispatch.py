"""Routes HTTP requests: hooks bypass the router, because they are nearly all of the traffic."""

from starlette.types import ASGIApp, Receive, Scope, Send

from claude_headspace.inputs.receive.http import HOOK_PREFIX
from claude_headspace.inputs.receive.plate_spinner import EVENTS_PATH


def dispatch(hooks: ASGIApp, plates: ASGIApp, others: ASGIApp) -> ASGIApp:
    """An application that passes each request to one of three."""

    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        is_http, path = scope["type"] == "http", scope.get("path", "")
        if is_http and path.startswith(HOOK_PREFIX) and path != "/hook/status":
            await hooks(scope, receive, send)
        elif is_http and path == EVENTS_PATH:
            await plates(scope, receive, send)
        else:
            await others(scope, receive, send)

    return choose
