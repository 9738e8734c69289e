"""Shorten texts that are stored with agents, and format numbers with their nouns. Pure."""

from typing import TypeVar

MAX_SUMMARY = 300
MAX_NAME = 500
"""Characters of a summary, and of a name or id."""

_Name = TypeVar("_Name", bound=str | None)


def one_line(text: str, limit: int = MAX_SUMMARY) -> str:
    """Collapse white space and truncate at the end of a word."""
    collapsed = " ".join(text[: limit * 4].split())
    if len(collapsed) <= limit:
        return collapsed
    return collapsed[: limit - 1].rsplit(" ", 1)[0] + "…"


def short(text: _Name) -> _Name:
    """Truncate a name or id; None stays None."""
    if text is None or len(text) <= MAX_NAME:
        return text
    return f"{text[: MAX_NAME - 1]}…"  # type: ignore[return-value]  # a str, like the argument


def count(number: int, noun: str) -> str:
    """A number with its noun: "1 agent", "1,204 events"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
