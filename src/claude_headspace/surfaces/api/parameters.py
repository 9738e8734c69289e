"""What requests carry, read and checked: numbers, flags, moments and bodies. What is wrong is said clearly."""

from datetime import UTC, date, datetime
from typing import TypeVar

import msgspec
from starlette.requests import Request

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.ports import Clock
from claude_headspace.surfaces.api.openapi import Parameter
from claude_headspace.surfaces.text.timestamps import parse_time

LARGEST_PAGE = 1_000
LARGEST_REQUEST = 64 * 1024

LIMIT = Parameter(
    "limit", "How many at most, the newest.", {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": 100}
)
AFTER = Parameter("after", "Only those after this sequence number, in order.", {"type": "integer", "minimum": 0})
BEFORE = Parameter("before", "Only those before this sequence number.", {"type": "integer", "minimum": 0})
MOMENT = {"type": "string", "maxLength": 40}
"""A moment: ISO 8601, `14:30` for today, `2h` for two hours ago, or seconds since 1970."""

Body = TypeVar("Body", bound=msgspec.Struct)


def moment(request: Request, name: str, clock: Clock) -> Micros | None:
    """A moment of an address, if it is given."""
    value = request.query_params.get(name)
    return parse_time(name, value, clock()) if value else None


async def read_body(request: Request, shape: type[Body], largest: int = LARGEST_REQUEST) -> Body:
    """The body of a request, if it has that shape."""
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > largest:
            raise BadRequest("too_large", "The body is too large.", f"Send at most {largest} bytes.", status=413)
    try:
        return msgspec.json.decode(raw, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadRequest("bad_json", f"The body does not fit: {error}.", "See /openapi.json for its shape.") from error


def read_limit(request: Request) -> int:
    """How many are wanted."""
    limit = whole_number("limit", request.query_params.get("limit") or None, 1) or 100
    if limit > LARGEST_PAGE:
        raise BadRequest("bad_parameter", f"`limit` is at most {LARGEST_PAGE}.", "Ask in several steps, with `after`.")
    return limit


def whole_number(name: str, value: str | None, least: int) -> int | None:
    """A number of an address, if it is given."""
    if value is None:
        return None
    if not (value.isascii() and value.isdigit() and len(value) < 19 and int(value) >= least):
        raise BadRequest("bad_parameter", f"`{name}` must be a whole number from {least} on.", "Correct the address.")
    return int(value)


def read_flag(request: Request, name: str) -> bool:
    """Whether something is wanted."""
    value = request.query_params.get(name, "false").lower()
    if value not in ("", "true", "false", "1", "0"):
        raise BadRequest("bad_parameter", f"`{name}` is true or false.", "Correct the address.")
    return value in ("", "true", "1")


def read_words(request: Request, name: str) -> frozenset[str]:
    """A list, with commas."""
    return frozenset(word for word in request.query_params.get(name, "").split(",") if word)


def read_day(request: Request, name: str, now: Micros) -> tuple[date, Micros, Micros]:
    """A day of this machine's calendar (today where none is named), with its beginning and end."""
    told = request.query_params.get(name) or None
    try:
        found = date.fromisoformat(told) if told else datetime.fromtimestamp(now / SECOND, UTC).astimezone().date()
        begins = _midnight(found)
        ends = _midnight(date.fromordinal(found.toordinal() + 1))
    except (ValueError, OverflowError, OSError) as error:
        message = f"`{name}` must be a day such as 2026-01-31."
        raise BadRequest("bad_parameter", message, "Correct the address.") from error
    return found, begins, ends


def _midnight(found: date) -> Micros:
    return round(datetime(found.year, found.month, found.day).astimezone().timestamp()) * SECOND
