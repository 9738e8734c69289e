"""Agents that need somebody, and the moments at which it is planned what to do."""

from typing import Any

import msgspec

from claude_headspace.kernel import facts
from claude_headspace.kernel.agent import Agent, Session
from claude_headspace.kernel.envelope import SECOND, Origin
from claude_headspace.kernel.notify.plan import Attention, Conditions, Plan, plan
from claude_headspace.kernel.notify.rules import MINUTE, ChannelLimits, Rules
from tests.kernel.story import Story, new_agent, time_at

CHANNELS = {"desktop": ChannelLimits(spacing=0), "page": ChannelLimits(spacing=0), "phone": ChannelLimits(spacing=0)}
RULES = Rules(channels=CHANNELS)
ALL = frozenset({"desktop", "phone"})
BASH: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "make deploy"}}


def asking(agent_id: str = "agent-1", at: float = 10) -> Agent:
    """An agent that asks for a permission."""
    story = Story(new_agent(id=agent_id, name=f"name-of-{agent_id}"))
    story.hook("SessionStart", source="startup", at=at - 5)
    story.hook("UserPromptSubmit", prompt="Deploy it", at=at - 4)
    story.hook("PreToolUse", tool_use_id="t1", at=at - 1, **BASH)
    story.hook("PermissionRequest", at=at, **BASH)
    return story.agent


def finished(minutes: float = 20, **stop: Any) -> Agent:
    """An agent that worked for a while, and is done at the end of it."""
    story = Story()
    story.hook("SessionStart", source="startup", at=-1)
    story.hook("UserPromptSubmit", prompt="Migrate everything", prompt_id="p1", at=0)
    story.hook("Stop", last_assistant_message="It is done.", prompt_id="p1", at=minutes * 60, **stop)
    return story.agent


def failed(at: float = 10) -> Agent:
    """An agent whose turn ended in an error."""
    story = Story()
    story.hook("SessionStart", source="startup", at=at - 2)
    story.hook("UserPromptSubmit", prompt="Go", at=at - 1)
    story.hook("StopFailure", error="rate_limit", at=at)
    return story.agent


def measured(**known: Any) -> Agent:
    """An agent of which numbers are known."""
    session = Session(id="s1", agent_id="agent-1", ordinal=1, client_id="c1", source="startup", started_at=time_at(0))
    return new_agent(session=session, state_since=time_at(5), **known)


def told(agent: Agent, need: str, channel: str, at: float, failure: str = "", kind: str = "waiting") -> Agent:
    """The same after somebody was called, and whether that arrived."""
    story = Story(agent)
    story.report(facts.NoticeBegun(need, kind, channel, "title"), origin=Origin.OPERATOR, at=at)
    story.report(facts.NoticeSettled(need, channel, failure), origin=Origin.OPERATOR, at=at)
    return story.agent


def seen(agent: Agent, at: float) -> Agent:
    """The same after somebody looked at it."""
    return msgspec.structs.replace(agent, seen_at=time_at(at))


def planned(*agents: Agent, at: float, **known: Any) -> Plan:
    """What is to be done at a moment."""
    found = {"rules": RULES, "available": ALL, **known}
    return plan(agents, Conditions(now=time_at(at), **found))


def calls(made: Plan) -> list[tuple[str, list[str]]]:
    """Which channels are used, about whom."""
    return [(call.channel, [need.agent.id for need in call.needs]) for call in made.deliveries]


def whys(made: Plan) -> set[str]:
    """Why calls are held back."""
    return {held.reason for held in made.delayed}


WATCHED = Attention(frozenset({"agent-1"}), True)
PRESENT = Attention(frozenset(), True)
MINUTES = MINUTE / SECOND
