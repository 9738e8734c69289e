"""Parses times that people write in URLs and on the command line.

2026-03-01T14:30, 2026-03-01 14:30:05+01:00, 2026-03-01   ISO 8601; local time if there is no zone
14:30, 14:30:05                                           today
30m, 2h, 3d, 1w                                           this long ago
1772375405                                                seconds since 1970
"""

import re
from datetime import UTC, datetime, timedelta

from claude_headspace.errors import BadRequest
from claude_headspace.kernel.envelope import SECOND, Micros

UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 604_800}
MAX_TEXT_LENGTH = 40

_DURATION = re.compile(r"(\d{1,6}) ?(s|m|min|h|d|w)(?: ago)?")
_CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2})?")
_SECONDS = re.compile(r"\d{9,11}(\.\d{1,6})?")


PAST_HINT = "Write 2026-03-01T14:30, 14:30 for today, 2h for two hours ago, or seconds since 1970."
FUTURE_HINT = "Write 30d for in thirty days, 2h for in two hours, 2026-12-31, or 2026-12-31T14:30."


def parse_time(name: str, text: str, now: Micros, hint: str = PAST_HINT) -> Micros:
    """The time that a text means. `hint` explains the format if the text is invalid."""
    written = text.strip()[:MAX_TEXT_LENGTH]
    try:
        return _parse(written, now)
    except (ValueError, OverflowError, OSError) as error:
        raise BadRequest(
            "bad_time",
            f"`{name}` is not a valid time: {written!r}.",
            hint,
        ) from error


def parse_past_time(name: str, text: str, now: Micros) -> Micros:
    """A time in the past. Raises an error for a future time."""
    time = parse_time(name, text, now)
    if time > now + SECOND:
        raise BadRequest(
            "still_to_come",
            f"`{name}` is in the future: {local_time(time)}.",
            "Use a past time: 14:30 is today, 2h is two hours ago.",
        )
    return time


def parse_future_time(name: str, text: str, now: Micros) -> Micros:
    """A time in the future; a duration such as `15m` starts now. Raises an error for a past time."""
    time = parse_time(name, text, now, FUTURE_HINT)
    time = 2 * now - time if is_duration(text) else time
    if time < now:
        raise BadRequest("past_time", f"`{name}` is in the past: {local_time(time)}.", FUTURE_HINT)
    return time


def local_time(time: Micros) -> str:
    """A time in the local time zone."""
    return f"{datetime.fromtimestamp(time / SECOND, UTC).astimezone():%Y-%m-%d %H:%M:%S %z}"


def is_duration(text: str) -> bool:
    """Whether a text is a duration, such as 30d."""
    return _DURATION.fullmatch(text.strip()) is not None


def parse_duration(name: str, text: str) -> float:
    """The duration that a text means, in seconds."""
    found = _DURATION.fullmatch(text.strip()[:MAX_TEXT_LENGTH])
    if found is None:
        raise BadRequest(
            "bad_span", f"`{name}` is not a valid duration: {text[:MAX_TEXT_LENGTH]!r}.", "Write 60s, 5m or 2h."
        )
    return float(int(found[1]) * UNITS[found[2]])


def _parse(written: str, now: Micros) -> Micros:
    if found := _DURATION.fullmatch(written):
        return now - int(found[1]) * UNITS[found[2]] * SECOND
    if _SECONDS.fullmatch(written):
        return round(float(written) * SECOND)
    if _CLOCK.fullmatch(written):
        today = datetime.fromtimestamp(now / SECOND).astimezone().date()
        written = f"{today.isoformat()}T{written.zfill(5 if written.count(':') == 1 else 8)}"
    # In a URL an unescaped plus sign means a space.
    time = datetime.fromisoformat(re.sub(r"(:\d{2}(?:\.\d+)?) (\d{2}:?\d{2})$", r"\1+\2", written))
    local = time if time.tzinfo else time.astimezone()
    return round((local - datetime.fromisoformat("1970-01-01T00:00:00+00:00")) / timedelta(microseconds=1))
