"""The data of `top`: agents, their turns and states, updated by messages of the stream. No I/O.

Rules
- All text from outside is cleaned here, once.
- The order is that of `list` (`surfaces/text/board_order.py`).
"""

from collections.abc import Iterable, Sequence
from typing import Any

from claude_headspace.clients.catalog import title_of
from claude_headspace.surfaces.text.board_order import BoardView, sort_agents
from claude_headspace.surfaces.text.clients import short_title
from claude_headspace.surfaces.text.formatting import Json, clean_json
from claude_headspace.surfaces.text.labels import summary
from claude_headspace.surfaces.text.matching import Closeness, closeness

MAX_TURNS = 60
DEFAULT_VIEW = BoardView()

_STATE_FIELDS = ("name", "state", "waiting_for", "dialects", "evidence")
"""Fields of a `state_changed` message that are not in `changes`."""


class Board:
    """All agents, with the details that were loaded."""

    def __init__(self) -> None:
        self.agents: dict[str, Json] = {}
        self.turns: dict[str, list[Json]] = {}
        self.states: dict[str, list[Json]] = {}
        self.loaded = False
        self.connected = False
        self.guard_problems: list[Json] = []
        """Why guards are off."""

    def load(self, agents: Iterable[Json]) -> None:
        """Replace all agents, and forget their details."""
        self.agents = {agent["id"]: agent for agent in clean_json(list(agents))}
        self.turns = {}
        self.states = {}
        self.loaded = self.connected = True

    def set_details(self, agent_id: str, turns: Sequence[Json], states: Sequence[Json]) -> None:
        """Set the turns of an agent, and its states with their evidence."""
        self.turns[agent_id] = clean_json(list(turns))[-MAX_TURNS:]
        self.states[agent_id] = clean_json(list(states))

    def apply(self, kind: str, message: Json) -> bool:
        """Apply a message of the stream. False if it is about an unknown agent: then the board must be read again."""
        data = clean_json(message)
        if kind == "guards_changed":
            self.guard_problems = data["problems"]
            return True
        if kind in ("gap", "effort_changed"):
            return kind != "gap"  # efforts are not shown here
        agent_id = data["agent_id"]
        if kind == "agent_created":
            self.agents[agent_id] = data["agent"]
        elif agent_id not in self.agents:
            return False
        elif kind in ("state_changed", "agent_updated"):
            self._apply_change(agent_id, kind, data)
        elif kind in ("turn_created", "turn_updated") and agent_id in self.turns:
            self._apply_turn(agent_id, kind, data)
        return True

    def _apply_change(self, agent_id: str, kind: str, data: Json) -> None:
        fields = {name: data[name] for name in _STATE_FIELDS if name in data}
        self.agents[agent_id] = {**self.agents[agent_id], **data.get("changes", {}), **fields}
        if kind == "state_changed":
            self.states.pop(agent_id, None)

    def _apply_turn(self, agent_id: str, kind: str, data: Json) -> None:
        turns = self.turns[agent_id]
        if kind == "turn_created":
            turns = [*turns, data]
        else:
            turns = [{**turn, **data} if turn["turn_id"] == data["turn_id"] else turn for turn in turns]
        self.turns[agent_id] = sorted(turns, key=lambda turn: str(turn["timestamp"]))[-MAX_TURNS:]

    def visible_agents(
        self, filter_text: str = "", *, with_ended: bool = True, view: BoardView = DEFAULT_VIEW
    ) -> list[Json]:
        """The agents that match all words of the filter, in order: by their texts, or by a part of their name."""
        words = filter_text.lower().split()
        found = [
            agent
            for agent in self.agents.values()
            if (with_ended or agent["state"] != "ended")
            and not agent.get("archived")  # absent in an older daemon
            and _matches(agent, words)
        ]
        return sort_agents(found, view)


def _matches(agent: Json, words: Sequence[str]) -> bool:
    text = _searchable_text(agent)
    return all(word in text or closeness(word, agent["name"]) >= Closeness.LETTERS for word in words)


def _searchable_text(agent: Json) -> str:
    parts: list[Any] = [
        agent["name"],
        agent["state"],
        agent["project"]["name"],
        agent["branch"],
        agent["host"],
        agent["role"],
        f"client:{short_title(agent['client'])}",
        title_of(agent["client"]),
        summary(agent, None),
    ]
    return " ".join(str(part) for part in parts if part).lower()


def starts_needing_user(before: Json | None, after: Json) -> bool:
    """Whether the agent needs the user now and did not before."""
    needs = ("waiting", "error")
    return after["state"] in needs and (before is None or before["state"] != after["state"])
