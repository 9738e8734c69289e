"""Reads query parameters and JSON bodies. Invalid input raises `BadRequest` with the name of the parameter."""

from datetime import UTC, date, datetime
from typing import TypeVar

import msgspec
from starlette.requests import Request

from claude_headspace.clients.capabilities import find_client
from claude_headspace.clients.catalog import CLIENTS
from claude_headspace.errors import BadRequest
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.surfaces.api.openapi import Parameter
from claude_headspace.surfaces.text.timestamps import parse_time

MAX_LIMIT = 1_000
MAX_BODY_BYTES = 64 * 1024
MAX_WORDS = 20

LIMIT = Parameter(
    "limit",
    "The maximum number of results, the newest.",
    {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": 100},
)
CLIENT = Parameter("client", "Only this client.", {"type": "string", "enum": list(CLIENTS)})
TIME_SCHEMA = {"type": "string", "maxLength": 40}
"""A time: ISO 8601, `14:30` for today, `2h` for two hours ago, or seconds since 1970."""

Body = TypeVar("Body", bound=msgspec.Struct)


async def read_body(request: Request, shape: type[Body], max_bytes: int = MAX_BODY_BYTES) -> Body:
    """The JSON body of a request."""
    raw = await read_bytes(request, max_bytes)
    try:
        return msgspec.json.decode(raw, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        hint = "/openapi.json describes the body."
        raise BadRequest("bad_json", f"The body is not valid: {error}.", hint) from error


async def read_bytes(request: Request, max_bytes: int = MAX_BODY_BYTES) -> bytes:
    """The body of a request."""
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > max_bytes:
            raise BadRequest("too_large", "The body is too large.", f"Send at most {max_bytes} bytes.", status=413)
    return raw


def read_client(request: Request) -> str | None:
    """The `client` parameter; None if it is absent."""
    name = request.query_params.get(CLIENT.name) or None
    return find_client(name).name if name is not None else None


def read_limit(request: Request, *, default: int = 100, maximum: int = MAX_LIMIT) -> int:
    """The `limit` parameter."""
    limit = read_number(request, "limit", minimum=1) or default
    if limit > maximum:
        raise BadRequest("bad_parameter", f"`limit` is at most {maximum}.", "Request the rest as further pages.")
    return limit


def read_number(request: Request, name: str, *, minimum: int = 0) -> int | None:
    """An integer parameter; None if it is absent."""
    return parse_number(name, request.query_params.get(name) or None, minimum=minimum)


def parse_number(name: str, value: str | None, *, minimum: int = 0) -> int | None:
    """An integer of at least a minimum; None stays None."""
    if value is None:
        return None
    if not (value.isascii() and value.isdigit() and len(value) < 19 and int(value) >= minimum):
        raise BadRequest("bad_parameter", f"`{name}` must be an integer of at least {minimum}.", "Correct the URL.")
    return int(value)


def read_flag(request: Request, name: str) -> bool:
    """A boolean parameter; false if it is absent."""
    value = request.query_params.get(name, "false").lower()
    if value not in ("", "true", "false", "1", "0"):
        raise BadRequest("bad_parameter", f"`{name}` must be true or false.", "Correct the URL.")
    return value in ("", "true", "1")


def read_list(request: Request, name: str) -> frozenset[str]:
    """A parameter with comma-separated values."""
    return frozenset(value for value in request.query_params.get(name, "").split(",") if value)


def read_words(request: Request, name: str) -> tuple[str, ...]:
    """A parameter with words, separated by white space."""
    words = tuple(request.query_params.get(name, "").replace("\0", " ").split())
    if len(words) > MAX_WORDS:
        raise BadRequest("bad_parameter", f"`{name}` has at most {MAX_WORDS} words.", "Use fewer words.")
    return words


def read_time(request: Request, name: str, now: Micros) -> Micros | None:
    """A time parameter; None if it is absent."""
    value = request.query_params.get(name)
    return parse_time(name, value, now) if value else None


def read_day(request: Request, name: str, now: Micros) -> tuple[date, Micros, Micros]:
    """A date parameter in the local time zone, with the start and end of that day; today if it is absent."""
    value = request.query_params.get(name) or None
    try:
        day = date.fromisoformat(value) if value else datetime.fromtimestamp(now / SECOND, UTC).astimezone().date()
        start = _midnight(day)
        end = _midnight(date.fromordinal(day.toordinal() + 1))
    except (ValueError, OverflowError, OSError) as error:
        message = f"`{name}` must be a date such as 2026-01-31."
        raise BadRequest("bad_parameter", message, "Correct the URL.") from error
    return day, start, end


def _midnight(day: date) -> Micros:
    return round(datetime(day.year, day.month, day.day).astimezone().timestamp()) * SECOND
