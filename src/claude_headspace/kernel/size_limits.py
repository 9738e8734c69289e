"""How much of an event is kept: a log that stays useful, in a file that stays small.

Rules
- What was said is kept whole up to a large bound, what tools were given and gave back up to a small one.
- What is cut is cut in the middle, since ends tell most, and marked with how many bytes were left out.
- It depends on the member alone, byte for byte: the same input in two events, or the same words in a hook and a
  transcript, are cut alike. What is short stays as it came.
- What is kept is still JSON of the same shape, so that it can be decoded.
- An event of many members is bounded too: those that come after the first megabytes are left out, each with a mark.
"""

from collections.abc import Callable

import msgspec

KIB = 1024


class Bounds(msgspec.Struct, frozen=True):
    """The largest text that was said, and the largest input or result of a tool, in bytes."""

    speech: int = 256 * KIB
    result: int = 32 * KIB


SPEECH = frozenset({"prompt", "last_assistant_message", "message"})
"""Members of a hook's payload that somebody said."""
IDENTITY = frozenset({"session_id", "cwd", "working_directory", "transcript_path"})
"""Members that say whose event it is: the receiver bounds them."""

MOST_MEMBERS = 64
"""Of a list or object that is too large so many members are kept, if shorter strings do not help."""

MOST_IN_ALL = 8
"""An event may be so many times as large as the largest text that was said."""

_UNREADABLE = (msgspec.DecodeError, RecursionError, UnicodeError)


def cut(text: str, limit: int) -> str:
    """A text of about so many bytes: two thirds from its beginning, one from its end, and what was left out."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    start, end = (part.decode("utf-8", "ignore") for part in (data[:head], data[len(data) - tail :]))
    return f"{start}{_mark(len(data) - head - tail)}{end}"


def _mark(count: int) -> str:
    return f"\n… [{count:,} bytes left out] …\n"


def bounded(payload: bytes, bounds: Bounds) -> bytes:
    """A hook's payload as it is kept."""
    if len(payload) <= min(bounds.result, bounds.speech):
        return payload
    try:
        members = msgspec.json.decode(payload, type=dict[str, msgspec.Raw])
    except _UNREADABLE:
        return payload
    kept = _within({name: _member(name, raw, bounds) for name, raw in members.items()}, MOST_IN_ALL * bounds.speech)
    if all(kept[name] is raw for name, raw in members.items()):
        return payload
    return msgspec.json.encode(kept)


def _within(members: dict[str, msgspec.Raw], most: int) -> dict[str, msgspec.Raw]:
    """The members that fit into so many bytes; of the others only a mark, and whose event it is in any case."""
    used, kept = 0, dict[str, msgspec.Raw]()
    for name, raw in members.items():
        used += len(bytes(raw))
        fits = used <= most or name in IDENTITY
        kept[name] = raw if fits else msgspec.Raw(msgspec.json.encode(_mark(len(bytes(raw))).strip()))
    return kept


def _member(name: str, raw: msgspec.Raw, bounds: Bounds) -> msgspec.Raw:
    limit = bounds.speech if name in SPEECH else bounds.result
    if len(bytes(raw)) <= limit or name in IDENTITY:
        return raw
    return msgspec.Raw(smaller(bytes(raw), limit))


def smaller(raw: bytes, limit: int) -> bytes:
    """A JSON value of about so many bytes: its strings are cut, then its members; at last it is cut as a text."""
    try:
        value = msgspec.json.decode(raw)
        if isinstance(value, str):
            return msgspec.json.encode(cut(value, limit))
        for longest, most in ((limit // 2, None), (limit // 8, None), (limit // 8, MOST_MEMBERS), (64, MOST_MEMBERS)):
            attempt = msgspec.json.encode(shortened(value, lambda _o, _k, n=longest: n, most))  # type: ignore[misc]
            if len(attempt) <= limit:
                return attempt
    except _UNREADABLE:
        pass
    return msgspec.json.encode(cut(raw.decode("utf-8", "replace"), limit))


def shortened(
    value: object,
    longest: Callable[[dict[object, object] | None, object], int],
    most: int | None = None,
    owner: dict[object, object] | None = None,
    key: object = None,
) -> object:
    """A value with its long strings cut, each as long as its place allows, and with at most so many members."""
    if isinstance(value, str):
        return cut(value, longest(owner, key))
    if isinstance(value, list):
        if most is not None and len(value) > most:
            value = [*value[: most // 2], f"… [{len(value) - most:,} members left out] …", *value[-most // 2 :]]
        return [shortened(item, longest, most, owner, key) for item in value]
    if isinstance(value, dict):
        names = list(value)
        if most is not None and len(names) > most:
            names = names[:most]
        return {name: shortened(value[name], longest, most, value, name) for name in names}
    return value
