"""Moments as people write them, in addresses and on the command line.

2026-03-01T14:30, 2026-03-01 14:30:05+01:00, 2026-03-01   ISO 8601; without a zone it is the time here
14:30, 14:30:05                                           today
30m, 2h, 3d, 1w                                           so long ago
1772375405                                                seconds since 1970
"""

import re
from datetime import UTC, datetime, timedelta

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.envelope import SECOND, Micros

UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
MAX_TEXT_LENGTH = 40

_AGO = re.compile(r"(\d{1,6}) ?(s|m|min|h|d|w)(?: ago)?")
_CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2})?")
_SECONDS = re.compile(r"\d{9,11}(\.\d{1,6})?")


PAST_HINT = "Write 2026-03-01T14:30, 14:30 for today, 2h for two hours ago, or seconds since 1970."
FUTURE_HINT = "Write 30d for in thirty days, 2h for in two hours, 2026-12-31, or 2026-12-31T14:30."


def parse_time(name: str, text: str, now: Micros, hint: str = PAST_HINT) -> Micros:
    """The moment that a text means; one that means none is explained."""
    written = text.strip()[:MAX_TEXT_LENGTH]
    try:
        return _moment(written, now)
    except (ValueError, OverflowError, OSError) as error:
        raise BadRequest(
            "bad_time",
            f"`{name}` is no time: {written!r}.",
            hint,
        ) from error


def parse_past_time(name: str, text: str, now: Micros) -> Micros:
    """A moment that has been; one that is still to come is refused."""
    moment = parse_time(name, text, now)
    if moment > now + SECOND:
        raise BadRequest(
            "still_to_come",
            f"`{name}` is still to come: {local_time(moment)}.",
            "Choose a time that has been: 14:30 is today, 2h is two hours ago.",
        )
    return moment


def local_time(moment: Micros) -> str:
    """A moment in the time of this machine, with its zone."""
    return f"{datetime.fromtimestamp(moment / SECOND, UTC).astimezone():%Y-%m-%d %H:%M:%S %z}"


def is_duration(text: str) -> bool:
    """Whether a text says how long, not when."""
    return _AGO.fullmatch(text.strip()) is not None


def parse_duration(name: str, text: str) -> float:
    """How long a text says, in seconds."""
    found = _AGO.fullmatch(text.strip()[:MAX_TEXT_LENGTH])
    if found is None:
        raise BadRequest(
            "bad_span", f"`{name}` is no length of time: {text[:MAX_TEXT_LENGTH]!r}.", "Write 60s, 5m or 2h."
        )
    return float(int(found[1]) * UNITS[found[2]])


def _moment(written: str, now: Micros) -> Micros:
    if found := _AGO.fullmatch(written):
        return now - int(found[1]) * UNITS[found[2]] * SECOND
    if _SECONDS.fullmatch(written):
        return round(float(written) * SECOND)
    if _CLOCK.fullmatch(written):
        today = datetime.fromtimestamp(now / SECOND).astimezone().date()
        written = f"{today.isoformat()}T{written.zfill(5 if written.count(':') == 1 else 8)}"
    # In an address a plus means a space, which nobody remembers.
    moment = datetime.fromisoformat(re.sub(r"(:\d{2}(?:\.\d+)?) (\d{2}:?\d{2})$", r"\1+\2", written))
    local = moment if moment.tzinfo else moment.astimezone()
    return round((local - datetime.fromisoformat("1970-01-01T00:00:00+00:00")) / timedelta(microseconds=1))
