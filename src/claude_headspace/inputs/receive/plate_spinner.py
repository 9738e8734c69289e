"""plate-spinner's endpoint: `POST /events`, one path for all of its event types.

Events are stored as they arrived, under their own names (`clients.plate_spinner`), and use the same receiver as hooks.
They identify their agent by the session id alone. The directory is never used, so closing one session cannot affect
another one in the same directory. A `timestamp` in the body orders events, as `X-Headspace-Fired-At` does, which counts
more.
"""

import re
from datetime import UTC, datetime
from typing import Any

import msgspec

from claude_headspace.clients.plate_spinner.decode import PLATES
from claude_headspace.errors import BadRequest

EVENTS_PATH = "/events"

_TYPE = re.compile(r"[a-z][a-z0-9_]{0,58}")


class WirePlateEnvelope(msgspec.Struct):
    """The part of the body that names the event and its time."""

    event_type: str = ""
    timestamp: Any = None
    """Seconds since 1970, or ISO 8601. Without a time zone it is UTC."""


def read_event(body: bytes) -> tuple[str, float | None]:
    """The event name and the time at which the event fired, from the body. An unknown type proves only a live agent."""
    try:
        found = msgspec.json.decode(body, type=WirePlateEnvelope)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _bad_type(f"The body is not a plate-spinner event: {error}.") from error
    if not _TYPE.fullmatch(found.event_type):
        raise _bad_type("`event_type` is missing or not a valid name.")
    return PLATES.get(found.event_type) or f"plate_{found.event_type}", _seconds(found.timestamp)


def _seconds(timestamp: object) -> float | None:
    """Seconds since 1970; None if the timestamp is missing or not a time."""
    if not isinstance(timestamp, str):
        return timestamp if isinstance(timestamp, int | float) else None
    try:
        time = datetime.fromisoformat(timestamp)
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _bad_type(message: str) -> BadRequest:
    return BadRequest("bad_event_type", message, f"Send one of: {', '.join(PLATES)}.")
