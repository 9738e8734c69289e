"""The stream as lines: one per thing that a reader would notice.

The stream tells what changed; to say it in words, the ticker keeps the agents as they became. One hook often makes
several announcements that come down to the same words: they are said once, unless every announcement is wanted.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from claude_headspace.surfaces.cli.output import Line, Span, line
from claude_headspace.surfaces.cli.presentation.agent_details import RULINGS
from claude_headspace.surfaces.cli.presentation.board import where
from claude_headspace.surfaces.text.labels import Json, clock_time, cut, one_line, shape, summary, wait_text


class Ticker:
    """Turns announcements into lines. `look_up` finds an agent that was not known yet."""

    def __init__(self, agents: Sequence[Json], look_up: Callable[[str], Json], *, everything: bool = False) -> None:
        self._agents: dict[str, Json] = {agent["id"]: agent for agent in agents}
        self._said = {agent["id"]: summary(agent, None) for agent in agents}
        self._sent = {agent["id"] for agent in agents if agent.get("mission")}
        self._look_up = look_up
        self._everything = everything

    def line(self, kind: str, data: Json, now: datetime, width: int) -> Line | None:
        """The line of an announcement; None if it says nothing new."""
        if kind == "gap":
            return line(Span(f"… some events are missing: {data.get('reason', 'no longer kept')}", "error"))
        if kind == "effort_changed":
            return line(Span(_effort(data["effort"]), "quiet")) if self._everything else None
        agent = self._learn(kind, data)
        words = self._words(kind, data, agent)
        if words is None:
            return None
        start = f"{clock_time(_time_of(data), now)} "
        name = f"{shape(agent['state'])} {agent['name']}"
        room = max(width - len(start) - len(name) - 1, 10)
        return line(Span(start, "quiet"), Span(name, agent["state"]), " ", Span(cut(words, room), _tone(kind)))

    def _learn(self, kind: str, data: Json) -> Json:
        """The agent as it became."""
        agent_id = data["agent_id"]
        if kind == "agent_created":
            self._agents[agent_id] = data["agent"]
        known = self._agents.get(agent_id) or self._meet(agent_id)
        news = {name: data[name] for name in ("name", "state", "waiting_for") if kind == "state_changed"}
        agent = self._agents[agent_id] = {**known, **data.get("changes", {}), **news}
        return agent

    def _meet(self, agent_id: str) -> Json:
        """An agent that the stream has not told of yet; only what stays true, since what is told may be old."""
        found = self._look_up(agent_id)
        return {name: found[name] for name in ("id", "name", "project", "branch", "state")}

    def _words(self, kind: str, data: Json, agent: Json) -> str | None:
        match kind:
            case "turn_created":
                speaker = "you:" if data["actor"] == "USER" else "says:"
                return f"{speaker} {one_line(data['text'])}"
            case "turn_updated" if self._everything:
                return f"a turn is known better: {data['intent'].lower()}"
            case "wait_opened" if self._everything:
                return wait_text(data)
            case "wait_answered":
                return f"was answered: {data['answered']['words']} by {data['answered']['by']}"
            case "wait_closed" if self._everything or agent["state"] == "waiting":
                return f"waits no longer: {data['resolution']}"
            case "notification" if self._everything or data["status"] == "failed":
                return _call(data)
            case "errand_moved" if self._everything:
                return f"an act from another machine was {data['step']}"
            case "verdict_given":
                return _verdict(data)
            case "mission_changed":
                return self._mission(data["mission"], agent)
            case _:
                return self._of_agent(kind, data, agent)

    def _of_agent(self, kind: str, data: Json, agent: Json) -> str | None:
        match kind:
            case "agent_created":
                self._said[agent["id"]] = summary(agent, None)
                return f"appeared in {where(agent)}"
            case "agent_updated" if "name" in data["changes"]:
                return "has a new name"
            case "agent_ended" if self._everything:
                return f"ended: {data['reason'] or 'reason unknown'}"
            case "state_changed" | "agent_updated":
                return self._news(kind, agent)
            case _:
                return None

    def _mission(self, mission: Json, agent: Json) -> str | None:
        """That it began or ended; what comes between only when everything is wanted."""
        if mission["ended_at"] or self._everything:
            words = one_line(mission["report"] or mission["words"])
            return f"mission {mission['outcome'] or 'under way'}: {words or one_line(mission['goal'])}"
        begins = agent["id"] not in self._sent
        self._sent.add(agent["id"])
        return f"is on a mission: {one_line(mission['goal']) or mission['id']}" if begins else None

    def _news(self, kind: str, agent: Json) -> str | None:
        """What the agent does now, if that is news; between two tools it is not."""
        words = summary(agent, None)
        before, self._said[agent["id"]] = self._said.get(agent["id"]), words
        between_tools = kind == "agent_updated" and agent["state"] == "working" and not agent.get("tool")
        return words if self._everything or not (words == before or between_tools) else None


def _effort(effort: Json) -> str:
    phase = f", {effort['phase']}" if effort["phase"] else ""
    return f"effort {effort['skill']} {effort['ordinal']}: {effort['lifecycle']}{phase}"


def _call(notice: Json) -> str:
    rest = notice["failure"] or notice["outcome"]
    return f"call through {notice['channel']}: {notice['status']}{f' ({rest})' if rest else ''}"


def _verdict(data: Json) -> str:
    word = RULINGS.get(data["ruling"], data["ruling"]) if data["enforced"] else f"would {data['ruling']}"
    return f"{word} by {data['rule']}: {data['tool']} {one_line(data['summary'])}".rstrip()


def _tone(kind: str) -> str:
    return "quiet" if kind in ("turn_created", "turn_updated") else ""


def _time_of(data: Json) -> str:
    """When it happened: waits and ends have the time under their own names."""
    if data.get("answered") and not data.get("closed_at"):
        return str(data["answered"]["at"])
    names = ("timestamp", "closed_at", "ended_at", "opened_at", "over_at", "settled_at", "begun_at")
    return next((str(data[name]) for name in names if data.get(name)), "")
