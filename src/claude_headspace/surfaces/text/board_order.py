"""The order of the board: `list` and `top` use the same one. Pure.

Rules
- Pinned agents come first, in a group of their own if there are groups.
- By urgency: agents that need a person first, then unseen ones; among equals the latest change of state. A working
  agent keeps its position while it works. Every other order uses this one among equals.
- Groups are sorted by name, those of states by urgency.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from claude_headspace.surfaces.text.clients import short_title
from claude_headspace.surfaces.text.formatting import Json
from claude_headspace.surfaces.text.labels import SHAPES

_URGENCY = {state: number for number, state in enumerate(SHAPES)}

_SORTS: dict[str, tuple[Callable[[Json], Any], bool]] = {
    "urgency": (lambda _agent: 0, False),
    "name": (lambda agent: agent["name"], False),
    "project": (lambda agent: agent["project"]["name"].lower(), False),
    "activity": (lambda agent: agent["last_active_at"], True),
    "started": (lambda agent: agent["created_at"], True),
    "context": (lambda agent: agent["context_percent"] or 0, True),
    "cost": (lambda agent: agent.get("total_cost_usd") or agent["cost_usd"] or 0, True),
}
"""By name: the value to sort by, and whether the greatest comes first."""

_GROUPS: dict[str, Callable[[Json], str]] = {
    "project": lambda agent: agent["project"]["name"],
    "state": lambda agent: agent["state"],
    "client": lambda agent: short_title(agent["client"]),
}

SORTS = tuple(_SORTS)
GROUPS = ("none", *_GROUPS)
PINNED = "pinned"


class BoardView(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a person wants to see the board."""

    sort: str = "urgency"
    group: str = "none"
    pins: tuple[str, ...] = ()
    """The ids of pinned agents."""
    folded: tuple[str, ...] = ()
    """The titles of folded groups."""


class AgentGroup(NamedTuple):
    """Some agents, in order. Without groups the only one has no title."""

    title: str
    agents: list[Json]


def sort_agents(agents: Iterable[Json], view: BoardView) -> list[Json]:
    """The agents in the order of a view, without groups."""
    pins = set(view.pins)
    value, greatest_first = _SORTS.get(view.sort, _SORTS["urgency"])
    found = sorted(agents, key=lambda agent: agent["state_since"], reverse=True)  # timestamps sort as text
    found.sort(key=lambda agent: (_URGENCY.get(agent["state"], len(_URGENCY)), not agent["unseen"]))
    found.sort(key=value, reverse=greatest_first)
    return sorted(found, key=lambda agent: agent["id"] not in pins)


def group_agents(agents: Sequence[Json], view: BoardView) -> list[AgentGroup]:
    """Agents that are in order already, by group."""
    if view.group not in _GROUPS:
        return [AgentGroup("", list(agents))]
    groups: dict[str, list[Json]] = {}
    for agent in agents:
        title = PINNED if agent["id"] in view.pins else _GROUPS[view.group](agent)
        groups.setdefault(title, []).append(agent)
    order = sorted(groups, key=lambda title: (title != PINNED, _URGENCY.get(title, len(_URGENCY)), title.lower()))
    return [AgentGroup(title, groups[title]) for title in order]


def toggled(values: tuple[str, ...], value: str) -> tuple[str, ...]:
    """The values with another one, or without it if it is there."""
    return tuple(each for each in values if each != value) if value in values else (*values, value)


def following(values: Sequence[str], value: str) -> str:
    """The value after another one, starting over at the end; the first one if it is unknown."""
    return values[(values.index(value) + 1) % len(values)] if value in values else values[0]
