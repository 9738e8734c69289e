"""Events of the stream as lines.

Events contain only changes, so `EventFormatter` keeps the current state of each agent. One hook often causes several
events with the same text; the text is shown once, unless `everything` is requested.
"""

from collections.abc import Callable, Sequence
from datetime import datetime

from claude_headspace.surfaces.cli.output import Line, Span, line
from claude_headspace.surfaces.cli.presentation.agent_details import RULINGS
from claude_headspace.surfaces.cli.presentation.board import project_and_branch
from claude_headspace.surfaces.text.clients import clients_without_guards
from claude_headspace.surfaces.text.formatting import Json, clock_time, cut, one_line
from claude_headspace.surfaces.text.labels import shape, summary, wait_text


class EventFormatter:
    """Converts events to lines. `look_up` reads an agent that is not cached yet."""

    def __init__(self, agents: Sequence[Json], look_up: Callable[[str], Json], *, everything: bool = False) -> None:
        self._agents: dict[str, Json] = {agent["id"]: agent for agent in agents}
        self._last_text = {agent["id"]: summary(agent, None) for agent in agents}
        self._on_mission = {agent["id"] for agent in agents if agent.get("mission")}
        self._look_up = look_up
        self._everything = everything

    def line(self, kind: str, data: Json, now: datetime, width: int) -> Line | None:
        """The line of an event; None if it shows nothing new."""
        if kind == "gap":
            return line(Span(f"… some events are missing: {data.get('reason', 'no longer kept')}", "error"))
        if kind == "guards_changed":
            problems = "; ".join(problem["text"] for problem in data["problems"])
            off = f"guards are off{clients_without_guards(data['problems'])}: {problems}"
            return line(Span(off, "error") if problems else Span("guards are on", "dim"))
        if kind == "effort_changed":
            return line(Span(_effort(data["effort"]), "dim")) if self._everything else None
        previous_name = self._agents.get(data["agent_id"], {}).get("name")
        agent = self._update(kind, data)
        if kind == "agent_updated" and "name" in data["changes"]:
            words: str | None = f"renamed from {previous_name}" if previous_name else "renamed"
        else:
            words = self._text(kind, data, agent)
        if words is None:
            return None
        start = f"{clock_time(_time_of(data), now)} "
        name = f"{shape(agent['state'])} {agent['name']}"
        room = max(width - len(start) - len(name) - 1, 10)
        role = "dim" if kind in ("turn_created", "turn_updated") else ""
        return line(Span(start, "dim"), Span(name, agent["state"]), " ", Span(cut(words, room), role))

    def _update(self, kind: str, data: Json) -> Json:
        """The agent after the event."""
        agent_id = data["agent_id"]
        if kind == "agent_created":
            self._agents[agent_id] = data["agent"]
        known = self._agents.get(agent_id) or self._load(agent_id)
        changed = {name: data[name] for name in ("name", "state", "waiting_for") if kind == "state_changed"}
        agent = self._agents[agent_id] = {**known, **data.get("changes", {}), **changed}
        return agent

    def _load(self, agent_id: str) -> Json:
        """Read an agent that is not cached yet. Only stable fields are used, because the event may be old."""
        found = self._look_up(agent_id)
        return {name: found[name] for name in ("id", "name", "project", "branch", "state")}

    def _text(self, kind: str, data: Json, agent: Json) -> str | None:
        match kind:
            case "turn_created":
                speaker = "prompt:" if data["actor"] == "USER" else "reply:"
                return f"{speaker} {one_line(data['text'])}"
            case "turn_updated" if self._everything:
                return f"updated a turn: {data['intent'].lower()}"
            case "wait_opened" if self._everything:
                return wait_text(data)
            case "wait_answered":
                return f"was answered: {data['answered']['words']} by {data['answered']['by']}"
            case "wait_closed" if self._everything or agent["state"] == "waiting":
                return f"no longer waits: {data['resolution']}"
            case "notification" if self._everything or data["status"] == "failed":
                return _notification(data)
            case "errand_moved" if self._everything:
                return f"an action from another machine was {data['step']}"
            case "verdict_given":
                return _verdict(data)
            case "mission_changed":
                return self._mission(data["mission"], agent)
            case _:
                return self._of_agent(kind, data, agent)

    def _of_agent(self, kind: str, data: Json, agent: Json) -> str | None:
        match kind:
            case "agent_created":
                self._last_text[agent["id"]] = summary(agent, None)
                return f"appeared in {project_and_branch(agent)}"
            case "agent_ended" if self._everything:
                return f"ended: {data['reason'] or 'reason unknown'}"
            case "state_changed" | "agent_updated":
                return self._activity(kind, agent)
            case _:
                return None

    def _mission(self, mission: Json, agent: Json) -> str | None:
        """The start and the end of a mission; everything between only if `everything` is requested."""
        if mission["ended_at"] or self._everything:
            words = one_line(mission["report"] or mission["words"])
            return f"mission {mission['outcome'] or 'in progress'}: {words or one_line(mission['goal'])}"
        is_new = agent["id"] not in self._on_mission
        self._on_mission.add(agent["id"])
        return f"is on a mission: {one_line(mission['goal']) or mission['id']}" if is_new else None

    def _activity(self, kind: str, agent: Json) -> str | None:
        """What the agent does now, if that changed. Between two tool calls it counts as unchanged."""
        words = summary(agent, None)
        before, self._last_text[agent["id"]] = self._last_text.get(agent["id"]), words
        between_tools = kind == "agent_updated" and agent["state"] == "working" and not agent.get("tool")
        return words if self._everything or not (words == before or between_tools) else None


def _effort(effort: Json) -> str:
    phase = f", {effort['phase']}" if effort["phase"] else ""
    return f"effort {effort['skill']} {effort['ordinal']}: {effort['lifecycle']}{phase}"


def _notification(notice: Json) -> str:
    rest = notice["failure"] or notice["outcome"]
    return f"notification through {notice['channel']}: {notice['status']}{f' ({rest})' if rest else ''}"


def _verdict(data: Json) -> str:
    word = RULINGS.get(data["ruling"], data["ruling"]) if data["enforced"] else f"would {data['ruling']}"
    return f"{word} by {data['rule']}: {data['tool']} {one_line(data['summary'])}".rstrip()


def _time_of(data: Json) -> str:
    """The time of an event, which has several field names."""
    if data.get("answered") and not data.get("closed_at"):
        return str(data["answered"]["at"])
    names = ("timestamp", "closed_at", "ended_at", "opened_at", "over_at", "settled_at", "begun_at")
    return next((str(data[name]) for name in names if data.get(name)), "")
