"""Agents with needs, and plans for them."""

from typing import Any

import msgspec

from claude_headspace.kernel import acts
from claude_headspace.kernel.agent import Agent, Session
from claude_headspace.kernel.envelope import SECOND, Origin
from claude_headspace.kernel.notify.plan import Attention, Conditions, Plan, plan
from claude_headspace.kernel.notify.rules import MINUTE, ChannelLimits, Rules
from tests.kernel.story import Story, new_agent, time_at

CHANNELS = {"desktop": ChannelLimits(spacing=0), "page": ChannelLimits(spacing=0), "phone": ChannelLimits(spacing=0)}
RULES = Rules(channels=CHANNELS)
ALL_CHANNELS = frozenset({"desktop", "phone"})
BASH: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "make deploy"}}


def waiting_agent(agent_id: str = "agent-1", at: float = 10) -> Agent:
    """An agent that waits for a permission."""
    story = Story(new_agent(id=agent_id, name=f"name-of-{agent_id}"))
    story.hook("SessionStart", source="startup", at=at - 5)
    story.hook("UserPromptSubmit", prompt="Deploy it", at=at - 4)
    story.hook("PreToolUse", tool_use_id="t1", at=at - 1, **BASH)
    story.hook("PermissionRequest", at=at, **BASH)
    return story.agent


def finished_agent(minutes: float = 20, **stop: Any) -> Agent:
    """An agent that finished its work after some minutes."""
    story = Story()
    story.hook("SessionStart", source="startup", at=-1)
    story.hook("UserPromptSubmit", prompt="Migrate everything", prompt_id="p1", at=0)
    story.hook("Stop", last_assistant_message="It is done.", prompt_id="p1", at=minutes * 60, **stop)
    return story.agent


def failed_agent(at: float = 10) -> Agent:
    """An agent whose turn ended in an error."""
    story = Story()
    story.hook("SessionStart", source="startup", at=at - 2)
    story.hook("UserPromptSubmit", prompt="Go", at=at - 1)
    story.hook("StopFailure", error="rate_limit", at=at)
    return story.agent


def agent_with(**values: Any) -> Agent:
    """An agent with measurements such as context and cost."""
    session = Session(id="s1", agent_id="agent-1", ordinal=1, client_id="c1", source="startup", started_at=time_at(0))
    return new_agent(session=session, state_since=time_at(5), **values)


def notified(agent: Agent, need: str, channel: str, at: float, failure: str = "", kind: str = "waiting") -> Agent:
    """The agent after a notification was sent, or failed."""
    story = Story(agent)
    story.report(
        acts.NotificationStarted(need=need, kind=kind, channel=channel, words="title"), origin=Origin.OPERATOR, at=at
    )
    story.report(acts.NotificationCompleted(need=need, channel=channel, reason=failure), origin=Origin.OPERATOR, at=at)
    return story.agent


def seen_agent(agent: Agent, at: float) -> Agent:
    """The agent after a person viewed it."""
    return msgspec.structs.replace(agent, seen_at=time_at(at))


def make_plan(*agents: Agent, at: float, **conditions: Any) -> Plan:
    """The plan for agents at a time."""
    values = {"rules": RULES, "available": ALL_CHANNELS, **conditions}
    return plan(agents, Conditions(now=time_at(at), **values))


def deliveries(result: Plan) -> list[tuple[str, list[str]]]:
    """The channel and the agents of each delivery."""
    return [(delivery.channel, [need.agent.id for need in delivery.needs]) for delivery in result.deliveries]


def reasons(result: Plan) -> set[str]:
    """Why notifications are delayed."""
    return {each.reason for each in result.delayed}


WATCHED = Attention(frozenset({"agent-1"}), True)
PRESENT = Attention(frozenset(), True)
MINUTES = MINUTE / SECOND
