"""Shorten text that agents carry: one line for summaries, a bound for names and ids. Pure."""

from typing import TypeVar

MAX_SUMMARY = 300
MAX_NAME = 500
"""Characters of a summary, and of a name or id."""

_Name = TypeVar("_Name", bound=str | None)


def one_line(text: str, limit: int = MAX_SUMMARY) -> str:
    """Fold white space and cut at the end of a word."""
    folded = " ".join(text[: limit * 4].split())
    if len(folded) <= limit:
        return folded
    return folded[: limit - 1].rsplit(" ", 1)[0] + "…"


def short(text: _Name) -> _Name:
    """Bound the length of a name or id; None stays None."""
    if text is None or len(text) <= MAX_NAME:
        return text
    return f"{text[: MAX_NAME - 1]}…"  # type: ignore[return-value]  # a str like the one that came
