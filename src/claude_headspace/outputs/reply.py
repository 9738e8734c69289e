"""The reply to an event received over HTTP: the current state of the agent. Claude Code ignores keys it does not know.

Hook scripts request only the part for the client (`clients.replies`).
"""

import msgspec

from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.correlate import Strategy
from claude_headspace.kernel.views.dialects import Dialects, dialects


class HookReply(msgspec.Struct, frozen=True):
    """The reply to an event. While the journal is unavailable it has only a status: `spooled`."""

    status: str
    agent_id: str | None = None
    agent: str | None = None
    state: AgentState | None = None
    waiting_for: str | None = None
    session_id: str | None = None
    correlation: Strategy | None = None
    dialects: Dialects | None = None


SPOOLED = HookReply("spooled")
"""The event is stored in the spool and not processed yet."""


def compose_reply(agent: Agent, strategy: Strategy, *, duplicate: bool) -> HookReply:
    """Compose the reply to a stored event. It has no field that Claude Code acts on."""
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
