"""The board as `top` knows it: agents, their turns and reasons, fed by announcements. Pure but for its own memory.

Rules
- Everything that comes from outside is cleaned here, once.
- Those who need somebody stand first, then what nobody has looked at yet; among equals the newest change. A working
  agent keeps its place while it works, so the list is calm.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from claude_headspace.surfaces.text.formatting import Json, clean_json
from claude_headspace.surfaces.text.labels import SHAPES, summary

KEPT_TURNS = 60

_URGENCY = {state: number for number, state in enumerate(SHAPES)}
_NEWS = ("name", "state", "waiting_for", "dialects", "evidence")
"""What a change of state tells beside the fields that changed."""


class Board:
    """All that is known, and what changed of it."""

    def __init__(self) -> None:
        self.agents: dict[str, Json] = {}
        self.turns: dict[str, list[Json]] = {}
        self.states: dict[str, list[Json]] = {}
        self.loaded = False
        self.connected = False

    def load(self, agents: Iterable[Json]) -> None:
        """The whole board anew; what was said stays only of those who are still there."""
        self.agents = {agent["id"]: agent for agent in clean_json(list(agents))}
        self.turns = {}
        self.states = {}
        self.loaded = self.connected = True

    def learn_details(self, agent_id: str, turns: Sequence[Json], states: Sequence[Json]) -> None:
        """What was said by and to an agent, and why its states are believed."""
        self.turns[agent_id] = clean_json(list(turns))[-KEPT_TURNS:]
        self.states[agent_id] = clean_json(list(states))

    def apply(self, kind: str, told: Json) -> bool:
        """Take an announcement in. False: it speaks of something unknown, so the board must be read anew."""
        data = clean_json(told)
        if kind in ("gap", "effort_changed"):
            return kind != "gap"  # efforts are not shown here
        agent_id = data["agent_id"]
        if kind == "agent_created":
            self.agents[agent_id] = data["agent"]
        elif agent_id not in self.agents:
            return False
        elif kind in ("state_changed", "agent_updated"):
            self._change(agent_id, kind, data)
        elif kind in ("turn_created", "turn_updated") and agent_id in self.turns:
            self._hear(agent_id, kind, data)
        return True

    def _change(self, agent_id: str, kind: str, data: Json) -> None:
        news = {name: data[name] for name in _NEWS if name in data}
        self.agents[agent_id] = {**self.agents[agent_id], **data.get("changes", {}), **news}
        if kind == "state_changed":
            self.states.pop(agent_id, None)

    def _hear(self, agent_id: str, kind: str, data: Json) -> None:
        turns = self.turns[agent_id]
        if kind == "turn_created":
            turns = [*turns, data]
        else:
            turns = [{**turn, **data} if turn["turn_id"] == data["turn_id"] else turn for turn in turns]
        self.turns[agent_id] = sorted(turns, key=lambda turn: str(turn["timestamp"]))[-KEPT_TURNS:]

    def shown(self, words: str = "", *, with_ended: bool = True) -> list[Json]:
        """The agents to show, in order: those that all the words speak of, with or without those that ended."""
        wanted = words.lower().split()
        found = [
            agent
            for agent in self.agents.values()
            if (with_ended or agent["state"] != "ended") and all(word in _haystack(agent) for word in wanted)
        ]
        found.sort(key=_since, reverse=True)
        return sorted(found, key=_place)


def _since(agent: Json) -> str:
    """The API writes all its times alike, so their texts are in the order of time; reading them would cost more."""
    return str(agent["state_since"])


def _place(agent: Json) -> tuple[int, bool]:
    return _URGENCY.get(agent["state"], len(_URGENCY)), not agent["unseen"]


def _haystack(agent: Json) -> str:
    """Where a word is looked for."""
    parts: list[Any] = [
        agent["name"],
        agent["state"],
        agent["project"]["name"],
        agent["branch"],
        agent["host"],
        agent["role"],
        summary(agent, None),
    ]
    return " ".join(str(part) for part in parts if part).lower()


def attention(before: Json | None, after: Json) -> bool:
    """Whether an agent begins to need somebody."""
    needs = ("waiting", "error")
    return after["state"] in needs and (before is None or before["state"] != after["state"])
