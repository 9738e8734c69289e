"""The reply to whoever sends an event over HTTP: how the agent is now. Claude Code ignores keys that it does not know.

Hook scripts ask for the client's part of the reply alone (`clients.claude_code.replies`).
"""

import msgspec

from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.correlate import Strategy
from claude_headspace.kernel.views import Dialects, dialects


class HookReply(msgspec.Struct, frozen=True):
    """What the sender of an event is told. While the journal is away only its status is known: `spooled`."""

    status: str
    agent_id: str | None = None
    agent: str | None = None
    state: AgentState | None = None
    waiting_for: str | None = None
    session_id: str | None = None
    correlation: Strategy | None = None
    dialects: Dialects | None = None


SPOOLED = HookReply("spooled")
"""The event is safe, and nothing is known of it yet."""


def compose_reply(agent: Agent, strategy: Strategy, *, duplicate: bool) -> HookReply:
    """The reply to an event that is stored. Nothing in it is for Claude Code to act on."""
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
