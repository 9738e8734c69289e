"""The answer to a hook: one JSON for API users and for Claude Code, which ignores keys that it does not know."""

import msgspec

from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.correlate import Strategy
from claude_headspace.kernel.views import Dialects, dialects


class HookReply(msgspec.Struct, frozen=True):
    """What the sender of an event is told."""

    status: str
    agent_id: str
    agent: str
    state: AgentState
    waiting_for: str | None
    session_id: str | None
    correlation: Strategy
    dialects: Dialects


def compose(agent: Agent, strategy: Strategy, *, duplicate: bool) -> HookReply:
    """The reply to an event that is stored. No policy speaks yet, so nothing in it is for Claude Code to act on."""
    return HookReply(
        "duplicate" if duplicate else "ok",
        agent.id,
        agent.name,
        agent.state,
        agent.waiting_for,
        agent.session.client_id if agent.session else None,
        strategy,
        dialects(agent),
    )
