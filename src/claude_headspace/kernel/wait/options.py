"""Typed answers to a question with options. Pure.

A person who writes the label of an option means this option, in capital or small letters. A person who writes 3 means
the third option. If there is none, the answer is refused and lists the options. A number in quotes is a text.
"""

import re
from collections.abc import Sequence

_NUMBERS = re.compile(r"[#+-]?[\d,.\s]*")


def looks_like_numbers(text: str) -> bool:
    """Whether a text consists of numbers, or of nothing."""
    return _NUMBERS.fullmatch(text.strip()) is not None


def numbered(labels: Sequence[str]) -> str:
    """The options with their numbers."""
    return ", ".join(f"{number}. {label}" for number, label in enumerate(labels, 1))


def as_label(text: str, labels: Sequence[str]) -> str:
    """The label of the option that a text names; the text itself if it names none."""
    if text in labels:
        return text
    named = [label for label in labels if _folded(label) == _folded(text)]
    return named[0] if len(named) == 1 else text


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def find_unknown_number(answers: Sequence[str], labels: Sequence[str]) -> str | None:
    """The first answer that looks like a number and is not a label of an option; None without options."""
    known = {label.strip() for label in labels}
    return next((each for each in answers if known and each.strip() not in known and looks_like_numbers(each)), None)


def not_an_option(answer: str, question: str) -> str:
    """Why an answer is refused."""
    return f"{answer.strip() or 'Nothing'} is not an option of “{question}”."


def options_hint(labels: Sequence[str]) -> str:
    """What can be answered instead."""
    return f"The options are: {numbered(labels)}. In quotes, a number is sent as a text."
