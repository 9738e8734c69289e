"""Finds agents by what a person types: the start of a name, parts of it, or a name with a typing error. Pure.

Upper and lower case are the same. `Closeness` says how sure a match is: callers act on a close one, and ask about or
refuse the others.
"""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from enum import IntEnum
from typing import TypeVar

from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.text.labels import summary

AnAgent = TypeVar("AnAgent", bound=Json)

MIN_SIMILARITY = 0.7
"""From which similarity on a name counts as one with a typing error."""
MAX_SUGGESTIONS = 3


class Closeness(IntEnum):
    """How a name matches a text, the closest last."""

    NONE = 0
    SPELLING = 1
    """It is spelled similarly."""
    LETTERS = 2
    """It contains the letters in this order: `cotr`, `c-o`."""
    PART = 3
    """It contains the text: `otter`."""
    PREFIX = 4
    """It starts with the text: `calm`."""
    EXACT = 5


def closeness(text: str, name: str) -> Closeness:
    """How closely a name matches a text."""
    wanted, known = text.strip().lower(), name.lower()
    if not wanted:
        return Closeness.NONE
    if wanted == known:
        return Closeness.EXACT
    if known.startswith(wanted):
        return Closeness.PREFIX
    if wanted in known:
        return Closeness.PART
    if _has_letters(wanted, known):
        return Closeness.LETTERS
    is_similar = SequenceMatcher(None, wanted, known).ratio() >= MIN_SIMILARITY
    return Closeness.SPELLING if is_similar else Closeness.NONE


def _has_letters(wanted: str, known: str) -> bool:
    """Whether the letters occur in this order, the first of them at the start of a word."""
    rest = iter(known)
    starts = {known[at] for at in range(len(known)) if at == 0 or not known[at - 1].isalnum()}
    return wanted[0] in starts and all(letter in rest for letter in wanted)


def closest(text: str, agents: Iterable[AnAgent]) -> tuple[Closeness, list[AnAgent]]:
    """The agents whose names match best, in their order, and how closely."""
    ranked = [(closeness(text, agent["name"]), agent) for agent in agents]
    best = max((each for each, _ in ranked), default=Closeness.NONE)
    return best, [agent for each, agent in ranked if each == best and best > Closeness.NONE]


def suggestion(text: str, names: Sequence[str]) -> str:
    """A question with the names that match best: "Did you mean calm-otter or calm-owl?". Empty if there are none."""
    ranked = sorted(names, key=lambda name: (-closeness(text, name), name))
    found = [name for name in ranked if closeness(text, name) > Closeness.NONE][:MAX_SUGGESTIONS]
    return f"Did you mean {' or '.join(found)}?" if found else ""


def filter_agents(text: str, agents: Sequence[AnAgent]) -> list[AnAgent]:
    """The agents that match all words, by name, project, branch, state or activity: those with close names first."""
    words = text.lower().split()
    ranked = [(_rank(words, agent), agent) for agent in agents]
    found = [(rank, agent) for rank, agent in ranked if rank is not None]
    return [agent for _, agent in sorted(found, key=lambda each: -each[0])]


def _rank(words: Sequence[str], agent: Json) -> int | None:
    """The sum over all words; None if one does not match."""
    named = [closeness(word, agent["name"]) for word in words]
    if all(each > Closeness.SPELLING for each in named):
        return sum(named)
    place = (agent["project"]["name"], agent["branch"] or "", agent["state"], agent["client"], summary(agent, None))
    described = " ".join(place).lower()
    matches = [each > Closeness.SPELLING or word in described for word, each in zip(words, named, strict=True)]
    return sum(each for each in named if each > Closeness.SPELLING) if all(matches) else None
