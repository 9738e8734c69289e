"""A line of a transcript, whichever client wrote it. Pure.

A line that does not contain its session is stored with it, because decoding depends on the stored line alone.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

import msgspec

from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.facts import Fact
from claude_headspace.kernel.sanitize import MOST_MEMBERS, Bounds, cut, shortened

LINE = "TranscriptLine"
"""The event name of a line."""
LONGEST_STRING = 4_096
"""In a line that is too long, strings that are not messages are cut to this many bytes."""

IsMessage = Callable[[dict[object, object], object], bool]
"""Whether a string in a line, given by the object that contains it and its key, is a message for people."""


_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def parse_time(timestamp: str | None) -> Micros | None:
    """The time of a line; None if it has none."""
    try:
        time = datetime.fromisoformat(timestamp or "")
    except ValueError:
        return None
    return (time - _EPOCH) // timedelta(microseconds=1) if time.tzinfo else None


class Line(msgspec.Struct, frozen=True):
    """One line of a transcript: its facts, and their session."""

    at: Micros | None
    """The line's own time; some kinds have none."""
    session_id: str
    key: str
    """Identifies the line, also in a copy of the file."""
    cwd: str | None
    facts: tuple[Fact, ...]
    subagent_id: str | None = None
    branch: str | None = None
    anomaly: str | None = None
    """Why a line without facts is stored: its format is not known (`unknown_lines.py`)."""


def truncate(raw: bytes, bounds: Bounds, is_message: IsMessage) -> bytes:
    """Truncate a long line: its long strings are cut, those of messages less than others.

    A line that is not JSON, or stays too long, keeps its beginning and its end.
    """
    if len(raw) <= bounds.result:
        return raw
    try:
        value = msgspec.json.decode(raw)
        for most in (None, MOST_MEMBERS):
            kept = msgspec.json.encode(shortened(value, partial(_longest, bounds, is_message), most))
            if len(kept) <= bounds.message * 2:
                return kept
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        pass
    return cut(raw.decode("utf-8", "replace"), bounds.result).encode()


def _longest(bounds: Bounds, is_message: IsMessage, owner: dict[object, object] | None, key: object) -> int:
    """The larger bound is for messages."""
    if owner is None:
        return LONGEST_STRING
    return bounds.message if is_message(owner, key) and isinstance(owner[key], str) else LONGEST_STRING
