"""Redacts secrets in JSON: finds them by rules, and replaces each by a mark.

    redact = Redactor(rules)
    redact(b'{"prompt": "use ghp_…"}')   ->   b'{"prompt": "use [redacted]"}'

Rules
- Only the secret is replaced; the text around it stays, byte for byte.
- Built-in rules read the encoded JSON. Their secrets contain no quote and no part of an escape, so it stays JSON, and a
  text that is encoded twice, or broken, is redacted as well.
- The rules of the user are applied to decoded strings, which is what the user sees.
- A pattern is matched only where one of its keywords occurs. The time is linear in the length of the payload.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import msgspec

from claude_headspace.kernel.redaction.rule import RedactionRule
from claude_headspace.kernel.redaction.word_index import WordIndex
from claude_headspace.kernel.tolerant_json import UNREADABLE

REDACTED = "[redacted]"
_MARK = REDACTED.encode()

Span = tuple[int, int]


class Redactor:
    """Redacts secrets in payloads and texts."""

    def __init__(self, rules: Sequence[RedactionRule], user_rules: Sequence[RedactionRule] = ()) -> None:
        self._index = WordIndex(rules)
        self._user_rules = user_rules

    def __call__(self, payload: bytes) -> bytes:
        """Return the payload, which is JSON, with its secrets replaced."""
        lowered = payload.lower()
        spans = list[Span]()
        for keyword, rules in self._index.candidates(payload):
            if keyword in lowered:
                spans += [span for rule in rules for span in _spans(payload, lowered, keyword, rule)]
        if spans:
            payload = _replaced(payload, spans)
        return self._apply_user_rules(payload) if self._user_rules else payload

    def text(self, text: str) -> str:
        """Return a text with its secrets replaced."""
        encoded = msgspec.json.encode(text)
        redacted = self(encoded)
        return text if redacted is encoded else msgspec.json.decode(redacted, type=str)

    def _apply_user_rules(self, payload: bytes) -> bytes:
        lowered = payload.lower()
        rules = [rule for rule in self._user_rules if _may_match(rule, lowered)]
        try:
            value = msgspec.json.decode(payload) if rules else None
            redacted = _redact_strings(value, rules)
        except UNREADABLE:
            return payload
        return payload if redacted == value else msgspec.json.encode(redacted)


# --- encoded JSON -----------------------------------------------------------------------------------------------------


def _spans(payload: bytes, lowered: bytes, keyword: bytes, rule: RedactionRule) -> Iterator[Span]:
    """Where the secrets of a rule are that start with a keyword."""
    at = lowered.find(keyword)
    while at >= 0:
        found = rule.json_pattern.match(payload, at)
        if found is not None and not _is_escaped(payload, at):
            start, end = _secret_span(found, rule.before)
            if rule.accepts(payload[start:end].decode("utf-8", "replace")):
                yield start, end
        at = lowered.find(keyword, max(at + 1, found.end() if found is not None else 0))


def _replaced(payload: bytes, spans: list[Span]) -> bytes:
    """The payload with a mark instead of each span. Spans that overlap get one mark."""
    parts, end = list[bytes](), 0
    for start, stop in sorted(spans):
        if start >= end:
            parts += (payload[end:start], _MARK)
        end = max(end, stop)
    return b"".join((*parts, payload[end:]))


def _is_escaped(payload: bytes, at: int) -> bool:
    r"""Whether a character is part of an escape: the `n` of `\npm_…` is no letter."""
    before = at
    while payload[before - 1 : before] == b"\\":
        before -= 1
    return (at - before) % 2 == 1


def _secret_span(found: re.Match[Any], before: int) -> Span:
    if "secret" in found.re.groupindex and found["secret"] is not None:
        return found.span("secret")
    return found.start() - before, found.end()


# --- decoded strings --------------------------------------------------------------------------------------------------


def _may_match(rule: RedactionRule, lowered: bytes) -> bool:
    return not rule.keywords or any(word.lower().removesuffix("*").encode() in lowered for word in rule.keywords)


def _redact_strings(value: object, rules: list[RedactionRule]) -> object:
    if isinstance(value, str):
        for rule in rules:
            value = rule.text_pattern.sub(_marking(rule), value)
        return value
    if isinstance(value, list):
        return [_redact_strings(item, rules) for item in value]
    if isinstance(value, dict):
        return {key: _redact_strings(item, rules) for key, item in value.items()}
    return value


def _marking(rule: RedactionRule) -> Callable[[re.Match[str]], str]:
    return partial(_marked, rule)


def _marked(rule: RedactionRule, found: re.Match[str]) -> str:
    """A match with its secret replaced."""
    start, end = _secret_span(found, 0)
    if start == end or not rule.accepts(found.string[start:end]):
        return found[0]
    return found.string[found.start() : start] + REDACTED + found.string[end : found.end()]
