"""A rule for one kind of secret: where it can start, its pattern, and what distinguishes it from ordinary text."""

import math
import re
from collections import Counter
from functools import cached_property
from typing import Annotated

import msgspec
from msgspec import Meta

MACROS = {
    "{{start}}": r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf])|(?<=[0-9;\[]m)|(?<=\[K))",
    "{{is}}": r"""(?:\\{0,32}["'`])?\]?[ \t]{0,4}(?:=>|:=|[!=]?={1,2}|:)[ \t]{0,4}(?:\\{0,32}["'`])?""",
    "{{space}}": r"(?:[ \t\r\n]|\\{1,8}[nrt]){1,16}+",
}
"""What a pattern can contain besides a regular expression."""


class RedactionRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """One kind of secret. `inputs/redaction/rules.toml` describes the fields."""

    id: Annotated[str, Meta(min_length=1)]
    pattern: Annotated[str, Meta(min_length=1)]
    description: str = ""
    keywords: tuple[Annotated[str, Meta(min_length=2)], ...] = ()
    digits: int = 0
    entropy: float = 0.0
    except_: str = msgspec.field(default="", name="except")
    before: int = 0
    examples: tuple[str, ...] = ()

    @cached_property
    def text_pattern(self) -> re.Pattern[str]:
        """The pattern for decoded texts."""
        return re.compile(self._expanded)

    @cached_property
    def json_pattern(self) -> re.Pattern[bytes]:
        """The pattern for encoded JSON. Compiled at its first use."""
        return re.compile(self._expanded.encode())

    @cached_property
    def _expanded(self) -> str:
        pattern = self.pattern
        for name, text in MACROS.items():
            pattern = pattern.replace(name, text)
        return pattern

    @cached_property
    def _placeholder(self) -> re.Pattern[str] | None:
        return re.compile(self.except_) if self.except_ else None

    def compile(self) -> None:
        """Raise `re.error` if an expression is invalid."""
        _ = self.text_pattern, self._placeholder

    def accepts(self, secret: str) -> bool:
        """Whether a text that matches the pattern is a secret."""
        if self.digits and sum(map(str.isdigit, secret)) < self.digits:
            return False
        if self.entropy and entropy(secret) < self.entropy:
            return False
        return self._placeholder is None or self._placeholder.fullmatch(secret) is None


def entropy(text: str) -> float:
    """The Shannon entropy of a text, in bits per character."""
    shares = (count / len(text) for count in Counter(text).values())
    return -sum(share * math.log2(share) for share in shares)
