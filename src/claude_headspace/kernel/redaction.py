"""Redact secrets before an event is stored: known kinds always, others by the user's patterns.

Rules
- Only the secret is replaced; the text around it stays.
- A known pattern is applied only if its prefix occurs in the payload, which is fast. It matches neither quotes nor
  parts of escapes, so the payload stays JSON.
- The user's patterns are applied to decoded strings only.
"""

import re
from collections.abc import Sequence

import msgspec

GONE = "[redacted]"

KNOWN: tuple[tuple[bytes, bytes], ...] = (
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

_KNOWN = tuple((beginning, re.compile(pattern)) for beginning, pattern in KNOWN)


class Redactor:
    """Redacts secrets in payloads."""

    def __init__(self, patterns: Sequence[str] = ()) -> None:
        self._own = tuple(re.compile(pattern) for pattern in patterns)

    def __call__(self, payload: bytes) -> bytes:
        """The payload with its secrets replaced."""
        for beginning, pattern in _KNOWN:
            if beginning in payload:
                payload = pattern.sub(GONE.encode(), payload)
        return self._by_own(payload) if self._own else payload

    def _by_own(self, payload: bytes) -> bytes:
        try:
            value = msgspec.json.decode(payload)
            cleaned = self._clean(value)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return payload
        return payload if cleaned == value else msgspec.json.encode(cleaned)

    def _clean(self, value: object) -> object:
        if isinstance(value, str):
            for pattern in self._own:
                value = pattern.sub(GONE, value)
            return value
        if isinstance(value, list):
            return [self._clean(item) for item in value]
        if isinstance(value, dict):
            return {key: self._clean(item) for key, item in value.items()}
        return value
