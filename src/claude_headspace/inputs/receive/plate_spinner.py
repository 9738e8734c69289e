"""plate-spinner's endpoint: `POST /events`, one path for all of its event types.

Events are stored as they came, under names of their own (`clients.plate_spinner`), and use the same receiver as hooks.
They identify their agent by the session id alone. The directory is never used, so closing one session cannot affect
another one in the same directory.
"""

import re

import msgspec
from starlette.types import Scope

from claude_headspace.clients.plate_spinner.decode import PLATES
from claude_headspace.errors import BadRequest
from claude_headspace.inputs.receive.http import HookEndpoint

EVENTS_PATH = "/events"

_TYPE = re.compile(r"[a-z][a-z0-9_]{0,58}")


class WirePlateType(msgspec.Struct):
    """What says which event it is."""

    event_type: str = ""


class PlateEndpoint(HookEndpoint):
    """Takes plate-spinner's events in."""

    def event_name(self, _scope: Scope, body: bytes) -> str:
        """Which event it is: the body says so. A type that nobody knows is a sign of life."""
        try:
            told = msgspec.json.decode(body, type=WirePlateType).event_type
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _unknown(f"The body is no plate-spinner event: {error}.") from error
        if not _TYPE.fullmatch(told):
            raise _unknown("`event_type` is missing, or no name.")
        return PLATES.get(told) or f"plate_{told}"


def _unknown(message: str) -> BadRequest:
    return BadRequest("bad_event_type", message, f"Send one of: {', '.join(PLATES)}.")
