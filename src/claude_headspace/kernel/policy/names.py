"""Patterns of names, in which `*` stands for any text and `?` for one character."""

import re
from functools import lru_cache

from claude_headspace.kernel.policy.rules import Texts


def fits_name(pattern: str, name: str) -> bool:
    """Whether a name matches a pattern."""
    return name_pattern((pattern,)).fullmatch(name) is not None


def fits_any(patterns: Texts, name: str) -> bool:
    """Whether a name matches one of the patterns."""
    return name_pattern(patterns).fullmatch(name) is not None


@lru_cache(maxsize=4_096)
def name_pattern(patterns: Texts) -> re.Pattern[str]:
    """One regular expression for some patterns. It matches nothing if there are none."""
    return re.compile("|".join(map(_source, patterns)) or "(?!)", re.DOTALL)


def _source(pattern: str) -> str:
    parts = (".*" if part == "*" else "." if part == "?" else re.escape(part) for part in re.split(r"([*?])", pattern))
    return "(?:" + "".join(parts) + ")"
