"""What stands in an address after the question mark, read strictly: what cannot be understood is named, not guessed."""

from datetime import UTC, date, datetime

from starlette.requests import Request

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.envelope import SECOND, Micros
from claude_headspace.surfaces.openapi import Parameter

LARGEST_PAGE = 1_000

LIMIT = Parameter(
    "limit", "How many at most, the newest.", {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE, "default": 100}
)
AFTER = Parameter("after", "Only those after this sequence number, in order.", {"type": "integer", "minimum": 0})
BEFORE = Parameter("before", "Only those before this sequence number.", {"type": "integer", "minimum": 0})


def limit(request: Request) -> int:
    """How many at most."""
    wanted = whole_number(request, "limit", 1) or 100
    if wanted > LARGEST_PAGE:
        raise BadRequest("bad_parameter", f"`limit` is at most {LARGEST_PAGE}.", "Ask in several steps, with `after`.")
    return wanted


def whole_number(request: Request, name: str, least: int) -> int | None:
    """A number, or None where there is none."""
    return to_whole_number(name, request.query_params.get(name) or None, least)


def to_whole_number(name: str, value: str | None, least: int) -> int | None:
    """A number out of a text."""
    if value is None:
        return None
    if not (value.isascii() and value.isdigit() and len(value) < 19 and int(value) >= least):
        raise BadRequest("bad_parameter", f"`{name}` must be a whole number from {least} on.", "Correct the address.")
    return int(value)


def flag(request: Request, name: str) -> bool:
    """Yes or no; a bare name means yes."""
    value = request.query_params.get(name, "false").lower()
    if value not in ("", "true", "false", "1", "0"):
        raise BadRequest("bad_parameter", f"`{name}` is true or false.", "Correct the address.")
    return value in ("", "true", "1")


def words(request: Request, name: str) -> frozenset[str]:
    """A list, with commas."""
    return frozenset(word for word in request.query_params.get(name, "").split(",") if word)


def day(request: Request, name: str, now: Micros) -> tuple[date, Micros, Micros]:
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
