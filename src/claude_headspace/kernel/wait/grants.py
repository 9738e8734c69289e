"""Grants: permissions that a person gives an agent beyond one tool call. Pure.

The client suggests them with a permission dialog. A person selects each one by its id. What was granted is stored with
the answer, and with the agent once the client has applied the answer.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec

from claude_headspace.kernel.envelope import Micros

MAX_GRANTS = 100
"""How many grants of an agent are kept, the newest."""

Kind = Literal["rule", "mode", "directory"]


class Suggestion(msgspec.Struct, frozen=True, kw_only=True):
    """One permission that the client suggests, in words."""

    id: str
    """Derived from its content, so an id never stands for another permission."""
    kind: Kind
    words: str
    """What it permits, such as "Allow Bash(npm test:*)"."""
    destination: str
    """Where it is stored, which decides how long it lasts: "this session", "this project, for you"."""


class Grant(msgspec.Struct, frozen=True):
    """A permission that was granted with an answer."""

    kind: Kind
    words: str
    destination: str


class GivenGrant(msgspec.Struct, frozen=True):
    """A permission that an agent has been granted: what, by whom, through which surface, when."""

    kind: Kind
    words: str
    destination: str
    by: str
    via: str
    at: Micros


def select_grants(suggestions: Sequence[Suggestion], ids: Sequence[str]) -> tuple[Grant, ...]:
    """The suggestions with these ids, as grants."""
    return tuple(Grant(each.kind, each.words, each.destination) for each in suggestions if each.id in ids)


def find_grant_problem(
    suggestions: Sequence[Suggestion], ids: Sequence[str], *, always: bool
) -> tuple[str, str] | None:
    """Why a selection is not valid, as code and message; None if it is valid."""
    unknown = [each for each in ids if each not in {suggestion.id for suggestion in suggestions}]
    if unknown:
        return "unknown_grant", f"The client does not suggest {unknown[0][:60]!r}. {_choices(suggestions)}"
    if always and not ids:
        return "always_needs_grant", f"“Always” does not say what it grants. {_choices(suggestions)}"
    return None


def _choices(suggestions: Sequence[Suggestion]) -> str:
    if not suggestions:
        return "The client suggests nothing that can be granted with this call."
    listed = "; ".join(f"{each.id} ({each.words}; {each.destination})" for each in suggestions)
    return f"Choose with `grant`: {listed}."
