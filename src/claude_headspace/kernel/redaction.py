"""Redacts secrets before an event is stored: known kinds always, others by the user's patterns.

Rules
- Only the secret is replaced; the text around it stays.
- A known pattern is applied only if its prefix occurs in the payload, which is fast. It matches neither quotes nor
  parts of escapes, so the payload stays JSON.
- The user's patterns are applied to decoded strings only.
"""

import re
from collections.abc import Sequence

import msgspec

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
        except (msgspec.DecodeError, RecursionError, UnicodeError):
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
