"""Which mode a client has, and which mission it works on: decided when its event arrives, and stored with it.

Rules
- The client's environment says it: `CLAUDE_SESSION_MODE`, `MISSION_EXECUTION_ID`. Only whoever the user let in is
  believed.
- A worker that names no mission has one of its own, by the agent's id.
- A new client without a mode is interactive, whatever the one before it was in the same pane.
- What a worker starts is its tool: it has the worker's mode, whatever it says, and no mission unless it names another.
"""

import msgspec

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Context
from claude_headspace.kernel.facts import Event, SessionStarted
from claude_headspace.kernel.mission.model import INTERACTIVE, MODES, WORKER_MODES

replace = msgspec.structs.replace


def ordered(event: Event, agent: Agent, parent: Agent | None, *, trusted: bool) -> Context:
    """The surroundings of an event of the agent, with the mode and the mission that count."""
    context = event.context
    told = context.mode if trusted and context.mode in MODES else None
    if told is None and trusted and _is_another_client(event, agent):
        told = INTERACTIVE
    named = context.mission_id if trusted else None
    if parent is not None and parent.mode in WORKER_MODES:
        ours = parent.mission.id if parent.mission else None
        return replace(context, mode=parent.mode, mission_id=named if named != ours else None)
    if named is None and told in WORKER_MODES and agent.mission is None:
        named = agent.id
    return replace(context, mode=told, mission_id=named) if (told, named) != _told(context) else context


def _is_another_client(event: Event, agent: Agent) -> bool:
    """Whether a worker's agent begins again with another client."""
    begins = isinstance(event.fact, SessionStarted) and event.fact.source in ("startup", "resume")
    return begins and agent.session is not None and agent.mode in WORKER_MODES


def _told(context: Context) -> tuple[str | None, str | None]:
    return context.mode, context.mission_id
