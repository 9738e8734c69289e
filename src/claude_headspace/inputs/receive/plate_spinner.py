"""plate-spinner's endpoint: `POST /events`, one path for all of its event types.

Events are stored as they arrived, under their own names (`clients.plate_spinner`), and use the same receiver as hooks.
They identify their agent by the session id alone. The directory is never used, so closing one session cannot affect
another one in the same directory.
"""

import re

import msgspec

from claude_headspace.clients.plate_spinner.decode import PLATES
from claude_headspace.errors import BadRequest

EVENTS_PATH = "/events"

_TYPE = re.compile(r"[a-z][a-z0-9_]{0,58}")


class WirePlateType(msgspec.Struct):
    """The part of the body that names the event."""

    event_type: str = ""


def read_event_name(body: bytes) -> str:
    """The event name, from the body. An unknown type only proves that the agent is alive."""
    try:
        event_type = msgspec.json.decode(body, type=WirePlateType).event_type
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _bad_type(f"The body is not a plate-spinner event: {error}.") from error
    if not _TYPE.fullmatch(event_type):
        raise _bad_type("`event_type` is missing or not a valid name.")
    return PLATES.get(event_type) or f"plate_{event_type}"


def _bad_type(message: str) -> BadRequest:
    return BadRequest("bad_event_type", message, f"Send one of: {', '.join(PLATES)}.")
