"""What all views have in common: times as ISO 8601, and fields that are copied from the source."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TypeVar

import msgspec

from claude_headspace.kernel.envelope import SECOND, Micros

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Time = str
"""ISO 8601, UTC."""

View = TypeVar("View", bound=msgspec.Struct)


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


def view_of(kind: type[View], source: msgspec.Struct, **computed: object) -> View:
    """A view with these computed fields; all others are the fields of the same name of the source."""
    return kind(**{name: getattr(source, name) for name in kind.__struct_fields__ if name not in computed}, **computed)
