"""The way in: hooks pass by the router."""

from starlette.types import ASGIApp, Receive, Scope, Send

from claude_headspace.inputs.receive.http import HOOK_PREFIX
from claude_headspace.inputs.receive.plate_spinner import EVENTS_PATH


def dispatch(hooks: ASGIApp, plates: ASGIApp, others: ASGIApp) -> ASGIApp:
    """Hooks have a way in of their own, past the router: they are nearly all the traffic."""

    async def choose(scope: Scope, receive: Receive, send: Send) -> None:
        is_hook = scope["type"] == "http" and scope["path"].startswith(HOOK_PREFIX) and scope["path"] != "/hook/status"
        is_plate = scope["type"] == "http" and scope["path"] == EVENTS_PATH
        await (hooks if is_hook else plates if is_plate else others)(scope, receive, send)

    return choose
