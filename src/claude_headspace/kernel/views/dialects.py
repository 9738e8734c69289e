"""The state of an agent in the terms of other tools: one dialect per tool."""

import msgspec

from claude_headspace.kernel.agent import Agent, AgentState
from claude_headspace.kernel.state_machine import CommandState

APPROVALS = ("plan", "permission")
"""The waits that plate-spinner calls an approval. Every other wait is an input."""


class Dialects(msgspec.Struct, frozen=True):
    """The state in the terms of the tools that Headspace replaces or works with."""

    headspace: str
    plate: str
    fleet: str
    claude_os: str


_DIALECTS = {
    AgentState.STARTING: Dialects("IDLE", "starting", "working", "active"),
    AgentState.IDLE: Dialects("IDLE", "idle", "done", "idle"),
    AgentState.WORKING: Dialects("PROCESSING", "running", "working", "active"),
    AgentState.WAITING: Dialects("AWAITING_INPUT", "awaiting_input", "attention", "active"),
    AgentState.ERROR: Dialects("COMPLETE", "error", "error", "idle"),
    AgentState.ENDED: Dialects("COMPLETE", "closed", "done", "ended"),
}
_COMMANDED = Dialects("COMMANDED", "running", "working", "active")
_TOOL_ACTIVE = Dialects("PROCESSING", "running", "working", "tool_active")
_APPROVAL = Dialects("AWAITING_INPUT", "awaiting_approval", "attention", "active")

_CHECKED = {
    waiting: msgspec.structs.replace(waiting, fleet="checked") for waiting in (_APPROVAL, _DIALECTS[AgentState.WAITING])
}
"""The state after a person looked at the agent."""


def dialects(agent: Agent) -> Dialects:
    """The state in every dialect."""
    if agent.state is AgentState.WAITING:
        waiting = _APPROVAL if agent.waiting_for in APPROVALS else _DIALECTS[agent.state]
        return waiting if agent.is_unseen else _CHECKED[waiting]
    if agent.state is AgentState.WORKING:
        if any(call.subagent_id is None for call in agent.calls):
            return _TOOL_ACTIVE
        if agent.command is not None and agent.command.state is CommandState.COMMANDED:
            return _COMMANDED
    return _DIALECTS[agent.state]
