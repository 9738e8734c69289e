"""Patterns for names: `*` matches any text, `?` one character."""

import re
from functools import lru_cache

from claude_headspace.kernel.policy.rules import Strings


def matches_name(pattern: str, name: str) -> bool:
    """Whether a name matches a pattern."""
    return name_pattern((pattern,)).fullmatch(name) is not None


def matches_any(patterns: Strings, name: str) -> bool:
    """Whether a name matches one of the patterns."""
    return name_pattern(patterns).fullmatch(name) is not None


@lru_cache(maxsize=4_096)
def name_pattern(patterns: Strings) -> re.Pattern[str]:
    """Return a regular expression for several patterns. Without patterns it matches nothing."""
    return re.compile("|".join(map(_to_regex, patterns)) or "(?!)", re.DOTALL)


def _to_regex(pattern: str) -> str:
    parts = (".*" if part == "*" else "." if part == "?" else re.escape(part) for part in re.split(r"([*?])", pattern))
    return "(?:" + "".join(parts) + ")"
