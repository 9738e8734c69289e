"""Sanitize payloads before they are stored: redact secrets, and limit the size.

Rules
- Only a secret is replaced; the text around it stays. Known kinds are always redacted, others by the user's patterns.
- A known pattern is applied only if its prefix occurs in the payload, which is fast. It matches neither quotes nor
  parts of escapes, so the payload stays JSON. The user's patterns are applied to decoded strings only.
- Messages have a large size limit, inputs and results of tools a small one.
- Long text is cut in the middle, because beginning and end matter most. A mark gives the number of bytes left out.
- The result depends on the member alone: the same input in two events, or the same text in a hook and a transcript, is
  cut the same way. Short members are unchanged, byte for byte.
- The result is JSON of the same shape, so it can be decoded.
- The whole event has a limit too: members after the first megabytes are replaced by a mark.
"""

import re
from collections.abc import Callable, Sequence

import msgspec

from claude_headspace.kernel.tolerant_json import UNREADABLE

REDACTED = "[redacted]"

KNOWN_SECRETS: tuple[tuple[bytes, bytes], ...] = (
    (b"sk-", rb"\bsk-[A-Za-z0-9_-]{20,}"),
    (b"ghp_", rb"\bghp_[A-Za-z0-9]{30,}"),
    (b"gho_", rb"\bgho_[A-Za-z0-9]{30,}"),
    (b"ghs_", rb"\bghs_[A-Za-z0-9]{30,}"),
    (b"github_pat_", rb"\bgithub_pat_[A-Za-z0-9_]{22,}"),
    (b"glpat-", rb"\bglpat-[A-Za-z0-9_-]{20,}"),
    (b"xox", rb"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
    (b"AKIA", rb"\bAKIA[A-Z0-9]{16}\b"),
    (b"ASIA", rb"\bASIA[A-Z0-9]{16}\b"),
    (b"AIza", rb"\bAIza[A-Za-z0-9_-]{35}"),
    (b"npm_", rb"\bnpm_[A-Za-z0-9]{36}"),
    (b"pypi-", rb"\bpypi-[A-Za-z0-9_-]{50,}"),
    (b"hs_", rb"\bhs_(?:ingest|read|act|admin|named)_[A-Za-z0-9_-]{32,}"),
    (b"eyJ", rb"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    (
        b"PRIVATE KEY-----",
        rb'-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[^"]{0,20000}?-----END [A-Z ]{0,20}PRIVATE KEY-----',
    ),
)
"""Known kinds of secrets: prefix and pattern."""

_KNOWN_PATTERNS = tuple((prefix, re.compile(pattern)) for prefix, pattern in KNOWN_SECRETS)


class Redactor:
    """Redacts secrets in payloads."""

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        self._user_patterns = tuple(re.compile(pattern) for pattern in patterns)

    def __call__(self, payload: bytes) -> bytes:
        """Return the payload with its secrets replaced."""
        for prefix, pattern in _KNOWN_PATTERNS:
            if prefix in payload:
                payload = pattern.sub(REDACTED.encode(), payload)
        return self._apply_user_patterns(payload) if self._user_patterns else payload

    def _apply_user_patterns(self, payload: bytes) -> bytes:
        try:
            value = msgspec.json.decode(payload)
            redacted = self._redact_strings(value)
        except UNREADABLE:
            return payload
        return payload if redacted == value else msgspec.json.encode(redacted)

    def _redact_strings(self, value: object) -> object:
        if isinstance(value, str):
            for pattern in self._user_patterns:
                value = pattern.sub(REDACTED, value)
            return value
        if isinstance(value, list):
            return [self._redact_strings(item) for item in value]
        if isinstance(value, dict):
            return {key: self._redact_strings(item) for key, item in value.items()}
        return value


# --- size limits ------------------------------------------------------------------------------------------------------

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
    return f"{start}{_mark(len(data) - head - tail)}{end}"


def _mark(count: int) -> str:
    return f"\n… [{count:,} bytes left out] …\n"


_MARK = re.compile(r"… \[([\d,]+) bytes left out\] …")


def left_out(text: str) -> int:
    """The number of bytes that were cut out of a stored text, according to its marks."""
    return sum(int(found.replace(",", "") or 0) for found in _MARK.findall(text)) if "bytes left out" in text else 0


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
