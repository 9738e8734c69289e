"""Which mode a client has, and which mission it works on: decided when its event arrives, and stored with it.

The role and mode of a session apply from its first event, whichever that is (`as_declared`).

Rules
- The client's environment declares them: `CLAUDE_SESSION_MODE`, `MISSION_EXECUTION_ID`. Only declarations of trusted
  senders count.
- A worker that names no mission gets one with the agent's id.
- A new client without a mode is interactive, whatever mode the previous client in the same pane had.
- A client that a worker starts is a tool of the worker: it gets the worker's mode, whatever it declares, and no mission
  unless it names another one.
"""

import msgspec

from claude_headspace.kernel.agent import Agent
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.facts import Event, SessionStarted
from claude_headspace.kernel.mission.model import INTERACTIVE, MODES, WORKER_MODES


def assign(event: Event, agent: Agent, parent: Agent | None, *, trusted: bool) -> tuple[str | None, str | None]:
    """The mode and the mission id of the event's client; None where the agent keeps what it has."""
    declared = event.observations
    mode = declared.declared_mode if trusted and declared.declared_mode in MODES else None
    starts = isinstance(event.fact, SessionStarted) and event.fact.source in ("startup", "resume")
    if mode is None and trusted and starts and agent.session is not None and agent.mode in WORKER_MODES:
        mode = INTERACTIVE  # another client starts in the place of a worker's
    mission_id = declared.declared_mission_id if trusted else None
    if parent is not None and parent.mode in WORKER_MODES:
        inherited = parent.mission.id if parent.mission else None
        return parent.mode, mission_id if mission_id != inherited else None
    if mission_id is None and mode in WORKER_MODES and agent.mission is None:
        mission_id = agent.id
    return mode, mission_id


def as_declared(agent: Agent, envelope: Envelope, event: Event) -> Agent:
    """The agent before the first event of a session, with the role and mode of that session: for decisions about it."""
    observations, decisions = envelope.observations, envelope.decisions
    declared = observations.declared_mode if observations.declared_mode in MODES else None
    is_child = (agent.parent_id or decisions.parent_id) is not None
    role = agent.role if is_child else observations.role or agent.role
    mode = decisions.mode or declared or agent.mode
    return agent if (role, mode) == (agent.role, agent.mode) else msgspec.structs.replace(agent, role=role, mode=mode)
