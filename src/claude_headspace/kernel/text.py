"""Texts: shorten summaries, names and ids, format times and numbers, find the strings of a JSON value. Pure."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, TypeVar

from claude_headspace.kernel.envelope import SECOND, Micros

MAX_SUMMARY = 300
MAX_NAME = 500
"""Characters of a summary, and of a name or id."""

MAX_DEPTH = 64
TEXT_BLOCK = ("type", "text")
"""A member that only marks its neighbour as text."""

ADDRESS_FIELDS = ("email", "address", "id", "name")
"""Members that identify an object: a contact, a channel, a file."""

Time = str
"""ISO 8601, UTC."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_Name = TypeVar("_Name", bound=str | None)


def one_line(text: str, limit: int = MAX_SUMMARY) -> str:
    """Collapse white space and truncate at the end of a word."""
    collapsed = " ".join(text[: limit * 4].split())
    if len(collapsed) <= limit:
        return collapsed
    return collapsed[: limit - 1].rsplit(" ", 1)[0] + "…"


def short(text: _Name) -> _Name:
    """Truncate a name or id; None stays None."""
    if text is None or len(text) <= MAX_NAME:
        return text
    return f"{text[: MAX_NAME - 1]}…"  # type: ignore[return-value]  # a str, like the argument


def count(number: int, noun: str) -> str:
    """A number with its noun: "1 agent", "1,204 events"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def iso(time: Micros) -> Time:
    """A time as ISO 8601. Times outside the calendar are clamped."""
    seconds, micros = divmod(time, SECOND)
    return f"{_second(seconds)}.{micros:06d}+00:00"


def optional_iso(time: Micros | None) -> Time | None:
    """A time as ISO 8601; None stays None."""
    return iso(time) if time is not None else None


@lru_cache(maxsize=4096)
def _second(seconds: int) -> str:
    """Cached, because many events share a second."""
    try:
        return (_EPOCH + timedelta(seconds=seconds)).isoformat()[:19]
    except OverflowError:
        return "9999-12-31T23:59:59" if seconds > 0 else "0001-01-01T00:00:00"


def strings_in(value: Any) -> Iterator[str]:
    """The strings of a JSON value in their order, without the `type` of text blocks."""
    rest = [(value, 0)]
    while rest:
        value, depth = rest.pop()
        if isinstance(value, str):
            yield value
        elif depth < MAX_DEPTH and isinstance(value, list):
            rest += [(item, depth + 1) for item in reversed(value)]
        elif depth < MAX_DEPTH and isinstance(value, dict):
            rest += [(item[1], depth + 1) for item in reversed(value.items()) if item != TEXT_BLOCK]


def strings_under(value: dict[str, Any], names: Iterable[str]) -> Iterator[str]:
    """The strings under these names, also those in lists, and in objects that name or address something."""
    for name in names:
        yield from _named_strings(value.get(name))


def _named_strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list():
            for each in value:
                yield from _named_strings(each)
        case dict():
            yield from strings_under(value, ADDRESS_FIELDS)
