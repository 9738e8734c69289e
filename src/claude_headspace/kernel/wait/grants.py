"""Grants: permissions that a person gives an agent beyond one tool call. Pure.

With a permission dialog the client offers options. A person selects each one by its id. The selected options are stored
with the answer. Once the client has applied the answer, they are grants of the agent.
"""

from collections.abc import Sequence
from enum import StrEnum
from typing import Literal

import msgspec

from claude_headspace.kernel.envelope import Micros

MAX_GRANTS = 100
"""How many grants of an agent are kept, the newest."""

Kind = Literal["rule", "mode", "directory"]


class Destination(StrEnum):
    """Where a grant is stored, which decides how long it lasts."""

    SESSION = "this session"
    PROCESS = "all sessions of this client, until it is restarted"
    PROJECT_OF_USER = "this project, for you"
    PROJECT = "this project, for everyone"
    USER = "all your projects"


LIFETIMES: dict[str, str] = {
    Destination.SESSION: "until this session ends",
    Destination.PROCESS: "in all sessions of this client, until it is restarted",
    Destination.PROJECT_OF_USER: "in this project's settings, only for you, until you remove it",
    Destination.PROJECT: "in this project's shared settings, for everyone, until someone removes it",
    Destination.USER: "in your own settings, for all your projects, until you remove it",
}
"""How long a grant lasts, by its destination."""

WARNINGS: dict[str, str] = {
    "mode": "Changes the mode of the session: later requests are allowed without asking you.",
}
"""Why a kind of grant allows more than its words say."""


class GrantOption(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A permission that can be granted together with an answer."""

    id: str = ""
    """Derived from its content, so an id never stands for another permission. Empty in answers of older versions."""
    kind: Kind
    words: str
    """What it permits, such as "Allow Bash(npm test:*)"."""
    destination: str
    """A `Destination`."""


class Grant(msgspec.Struct, frozen=True):
    """A permission that an agent was granted: what, by whom, through which surface, when."""

    kind: Kind
    words: str
    destination: str
    by: str
    via: str
    at: Micros


def lifetime_of(destination: str) -> str:
    """Where a grant is stored and how long it lasts, in words."""
    return LIFETIMES.get(destination, destination)


def select_options(options: Sequence[GrantOption], ids: Sequence[str]) -> tuple[GrantOption, ...]:
    """The options with these ids."""
    return tuple(option for option in options if option.id in ids)


def find_grant_problem(options: Sequence[GrantOption], ids: Sequence[str], *, always: bool) -> tuple[str, str] | None:
    """Why a selection is not valid, as code and message; None if it is valid."""
    unknown = [each for each in ids if each not in {option.id for option in options}]
    if unknown:
        return "unknown_grant", f"The client does not suggest {unknown[0][:60]!r}. {_choices(options)}"
    if always and not ids:
        return "always_needs_grant", f"“Always” does not say what it grants. {_choices(options)}"
    return None


def _choices(options: Sequence[GrantOption]) -> str:
    if not options:
        return "The client suggests nothing that can be granted with this call."
    listed = "; ".join(f"{each.id} ({each.words}; {each.destination})" for each in options)
    return f"Choose with `grant`: {listed}."
