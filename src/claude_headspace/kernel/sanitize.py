"""Limits the size of payloads before they are stored.

Rules
- Messages have a large size limit, inputs and results of tools a small one.
- Long text is cut in the middle, because beginning and end matter most. A mark gives the number of bytes left out.
- The result depends on the member alone: the same input in two events, or the same text in a hook and a transcript, is
  cut the same way. Short members are unchanged, byte for byte.
- The result is JSON of the same shape, so it can be decoded.
- The whole event has a limit too: members after the first megabytes are replaced by a mark.
"""

import re
from collections.abc import Callable

import msgspec

from claude_headspace.kernel.redaction.redactor import REDACTED
from claude_headspace.kernel.tolerant_json import UNREADABLE

KIB = 1024


class Bounds(msgspec.Struct, frozen=True):
    """The limits of a message, and of an input or result of a tool, in bytes."""

    message: int = 256 * KIB
    result: int = 32 * KIB


MESSAGE_FIELDS = frozenset({"prompt", "last_assistant_message", "message"})
"""Members of a hook's payload that are messages."""
IDENTITY = frozenset({"session_id", "cwd", "working_directory", "transcript_path"})
"""Members that identify the agent. The receiver limits them."""

MOST_MEMBERS = 64
"""How many members of a list or object are kept if shorter strings are not enough."""

MAX_EVENT_FACTOR = 8
"""The limit of an event, as a multiple of the limit of a message."""


def cut(text: str, limit: int) -> str:
    """Cut a text to about `limit` bytes: two thirds from its beginning, one third from its end, and a mark."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    start, end = (part.decode("utf-8", "ignore") for part in (data[:head], data[len(data) - tail :]))
    return f"{start}{_mark(_count(data[head : len(data) - tail]))}{end}"


def _count(removed: bytes) -> int:
    """The number of bytes in a part that is cut out. A mark of an earlier cut counts as what it stands for."""
    earlier = [] if b"bytes left out" not in removed else _counts(removed.decode("utf-8", "ignore"))
    return len(removed) + sum(count - len(_mark(count).encode()) for count in earlier)


def _mark(count: int) -> str:
    return f"\n… [{count:,} bytes left out] …\n"


_MARK = re.compile(r"… \[([\d,]+) bytes left out\] …")


def left_out(text: str) -> int:
    """The number of bytes that were cut out of a stored text, according to its marks."""
    return sum(_counts(text)) if "bytes left out" in text else 0


def _counts(text: str) -> list[int]:
    return [int(found.replace(",", "") or 0) for found in _MARK.findall(text)]


_OMITTED = re.compile(r"… \[[\d,]+ (?:members|characters) left out\] …")


def is_cut(text: str) -> bool:
    """Whether a stored text has a mark for what was left out."""
    return _MARK.search(text) is not None or _OMITTED.search(text) is not None


def is_altered(text: str) -> bool:
    """Whether a stored text is redacted or cut."""
    return REDACTED in text or is_cut(text)


def truncate(payload: bytes, bounds: Bounds) -> bytes:
    """A hook's payload as it is stored."""
    if len(payload) <= min(bounds.result, bounds.message):
        return payload
    try:
        members = msgspec.json.decode(payload, type=dict[str, msgspec.Raw])
    except UNREADABLE:
        return payload
    kept = _within(
        {name: _member(name, raw, bounds) for name, raw in members.items()}, MAX_EVENT_FACTOR * bounds.message
    )
    if all(kept[name] is raw for name, raw in members.items()):
        return payload
    return msgspec.json.encode(kept)


def _within(members: dict[str, msgspec.Raw], most: int) -> dict[str, msgspec.Raw]:
    """The members that fit into `most` bytes. Others are replaced by a mark, except those that identify the agent."""
    used, kept = 0, dict[str, msgspec.Raw]()
    for name, raw in members.items():
        used += len(bytes(raw))
        fits = used <= most or name in IDENTITY
        kept[name] = raw if fits else msgspec.Raw(msgspec.json.encode(_mark(len(bytes(raw))).strip()))
    return kept


def _member(name: str, raw: msgspec.Raw, bounds: Bounds) -> msgspec.Raw:
    limit = bounds.message if name in MESSAGE_FIELDS else bounds.result
    if len(bytes(raw)) <= limit or name in IDENTITY:
        return raw
    return msgspec.Raw(smaller(bytes(raw), limit))


def smaller(raw: bytes, limit: int) -> bytes:
    """A JSON value of about `limit` bytes: long strings are cut, then members left out; finally it is cut as text."""
    try:
        value = msgspec.json.decode(raw)
        if isinstance(value, str):
            return msgspec.json.encode(cut(value, limit))
        for longest, most in ((limit // 2, None), (limit // 8, None), (limit // 8, MOST_MEMBERS), (64, MOST_MEMBERS)):
            attempt = msgspec.json.encode(shortened(value, lambda _o, _k, n=longest: n, most))  # type: ignore[misc]
            if len(attempt) <= limit:
                return attempt
    except UNREADABLE:
        pass
    return msgspec.json.encode(cut(raw.decode("utf-8", "replace"), limit))


def shortened(
    value: object,
    longest: Callable[[dict[object, object] | None, object], int],
    most: int | None = None,
    owner: dict[object, object] | None = None,
    key: object = None,
) -> object:
    """The value with long strings cut to what `longest` allows at their place, and at most `most` members."""
    if isinstance(value, str):
        return cut(value, longest(owner, key))
    if isinstance(value, list):
        if most is not None and len(value) > most:
            value = [*value[: most // 2], f"… [{len(value) - most:,} members left out] …", *value[-most // 2 :]]
        return [shortened(item, longest, most, owner, key) for item in value]
    if isinstance(value, dict):
        names = list(value)
        left_out = {} if most is None or len(names) <= most else {"…": f"… [{len(names) - most:,} members left out] …"}
        kept = {name: shortened(value[name], longest, most, value, name) for name in names[:most]}
        return kept | left_out
    return value
