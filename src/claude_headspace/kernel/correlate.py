"""Whose event is it? Decided once, when it arrives, and stored with it.

The strategies are tried in the order of `Strategy`, and the answer says which one it was. A known client process counts
as a known session: the same process with a new session id (`/clear`, `/resume`) is the same agent.

Rules
- Panes, processes and directories are those of one machine: what another one calls the same is something else.
- A client that descends from an agent's client is its child, whatever ids and panes it inherited.
- The first client that names a mission is the agent that was registered for it.
- A pane belongs to its agent as long as the work stays in the same project and no other client of it is alive.
- Neither the pane nor the directory make a session another agent's whose role or mode differs.
- The directory decides only for hooks, and only while nothing better speaks: an agent there is free to be claimed when
  no client of it is known to be alive, it is not in a turn, and it did not end more than ten minutes ago.
"""

import hashlib
from enum import StrEnum

import msgspec

from claude_headspace.kernel.agent import INTERACTIVE, Agent, AgentState, Project
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Observations
from claude_headspace.kernel.facts import Event, SessionStarted
from claude_headspace.kernel.mission.model import WORKER_MODES

CLAIMABLE_AFTER_END: Micros = 600 * SECOND
SAME_START: Micros = 5 * SECOND


class Strategy(StrEnum):
    """How an event found its agent."""

    MEMORY = "memory"
    DATABASE = "database"
    HEADSPACE_ID = "headspace_id"
    TMUX_PANE = "tmux_pane"
    WORKING_DIRECTORY = "working_directory"
    NEW = "new"
    ADDRESSED = "addressed"
    """No search: whoever sent it named the agent."""
    NOBODY = "nobody"
    """A test of the way in: it is kept, and belongs to no agent."""
    EFFORT = "effort"
    """Something was done to an effort: it belongs to that, and to no agent."""


class Identity(msgspec.Struct, frozen=True, order=True):
    """Something that an agent is known by. Panes and processes are those of one host."""

    kind: str
    key: str


class Found(msgspec.Struct, frozen=True):
    """An agent that answers to an identity, and whether we knew it without asking the database."""

    agent: Agent
    in_memory: bool


class Correlation(msgspec.Struct, frozen=True):
    """The verdict: an agent, or none yet; a child knows its parent."""

    strategy: Strategy
    agent: Agent | None = None
    parent_id: str | None = None


def project_at(host: str, root: str | None) -> Project:
    """The project of a directory; a session without one is tracked too."""
    path = root or ""
    name = path.rstrip("/").rsplit("/", 1)[-1] or path or "unknown"
    return Project(hashlib.blake2b(f"{host}\0{path}".encode("utf-8", "replace"), digest_size=8).hexdigest(), name, path)


def identities(envelope: Envelope, event: Event) -> dict[str, Identity]:
    """What this event can be recognised by, strongest first."""
    context, host = envelope.observations, envelope.host
    known: dict[str, Identity] = {}
    if event.meta.session_id:
        known["session"] = Identity("session", event.meta.session_id)
    if wrapper := context.headspace_id or context.wrapper_id:
        known["headspace"] = Identity("headspace", wrapper)
    if context.client_pid:
        known["process"] = Identity("process", f"{host}:{context.client_pid}")
    if context.tmux_pane:
        known["pane"] = Identity("pane", f"{host}:{context.tmux_pane}")
    if context.declared_mission_id:
        known["mission"] = Identity("mission", context.declared_mission_id)
    return known


def ancestors(envelope: Envelope) -> list[Identity]:
    """The processes that the client descends from."""
    return [Identity("process", f"{envelope.host}:{pid}") for pid in envelope.observations.ancestor_pids]


def correlate(
    envelope: Envelope,
    event: Event,
    found: dict[str, Found],
    parents: list[Agent],
    nearby: list[Agent],
) -> Correlation:
    """Choose among those who answer. `nearby` are the agents of the same project, newest first."""
    if "session" in found:
        return Correlation(_known(found["session"]), found["session"].agent)
    process = found.get("process")
    if process is not None and _same_process(process.agent, envelope):
        return Correlation(_known(process), process.agent)
    parent = next((agent for agent in parents if _is_parent(agent, envelope)), None)
    expected = found.get("mission")
    if expected is not None and expected.agent.session is None and expected.agent.ended_at is None:
        return Correlation(Strategy.HEADSPACE_ID, expected.agent, parent.id if parent else None)
    if parent is not None:
        return Correlation(Strategy.NEW, parent_id=parent.id)
    if "headspace" in found:
        return Correlation(Strategy.HEADSPACE_ID, found["headspace"].agent)
    pane = found.get("pane")
    if pane is not None and _owns_pane(pane.agent, envelope, event):
        return Correlation(Strategy.TMUX_PANE, pane.agent)
    free = next((agent for agent in nearby if _may_continue(agent, envelope, event)), None)
    if free is not None:
        return Correlation(Strategy.WORKING_DIRECTORY, free)
    return Correlation(Strategy.NEW)


def _known(found: Found) -> Strategy:
    return Strategy.MEMORY if found.in_memory else Strategy.DATABASE


def _same_process(agent: Agent, envelope: Envelope) -> bool:
    """A pid is reused: both must be the same process, and it must not have ended."""
    context = envelope.observations
    is_it = agent.host == envelope.host and agent.pid == context.client_pid
    return is_it and is_same_start(context.client_started_at, agent.pid_started_at)


def is_same_start(one: Micros | None, other: Micros | None) -> bool:
    """Whether two starts of a process may be the same: when the clock is set the system tells another second."""
    return one is None or other is None or abs(one - other) < SAME_START


def _is_parent(agent: Agent, envelope: Envelope) -> bool:
    """Whether an agent's client is what the event's client descends from: it lives, and it is the older one."""
    context = envelope.observations
    if agent.ended_at is not None or agent.host != envelope.host or agent.pid not in context.ancestor_pids:
        return False
    started, known = context.client_started_at, agent.pid_started_at
    return started is None or known is None or known < started + SAME_START


def _owns_pane(agent: Agent, envelope: Envelope, event: Event) -> bool:
    """Whether a new session in an agent's pane is the agent's: in the same project, and of no other client."""
    if agent.host != envelope.host:
        return False
    if isinstance(event.fact, SessionStarted) and event.fact.source in ("clear", "compact"):
        return True
    if _has_other_role_or_mode(agent, envelope, event):
        return False
    has_client = agent.ended_at is None and agent.pid is not None
    if has_client and envelope.observations.client_pid is not None and not _same_process(agent, envelope):
        return False
    return envelope.observations.project_root in (None, agent.project.root)


def _has_other_role_or_mode(agent: Agent, envelope: Envelope, event: Event) -> bool:
    """Whether a session starts in another role or mode than the agent has; later events do not say."""
    context = envelope.observations
    part = context.role, context.declared_mode or INTERACTIVE
    return isinstance(event.fact, SessionStarted) and part != (agent.role, agent.mode)


def is_replaced_in_pane(agent: Agent, newcomer: Agent, event: Event) -> bool:
    """Whether a client that begins in an agent's pane shows that the agent is gone; a known process shows it better."""
    begins = isinstance(event.fact, SessionStarted) and event.fact.source in ("startup", "resume")
    is_there = agent.ended_at is None and agent.host == newcomer.host
    return begins and is_there and agent.id != newcomer.id and agent.pid is None and newcomer.parent_id is None


def _may_continue(agent: Agent, envelope: Envelope, event: Event) -> bool:
    """Whether a client may be the next one of an unclaimed agent in its directory: of its kind, in no other pane."""
    ours = agent.client == envelope.client and agent.host == envelope.host and not is_worker(envelope.observations)
    if not ours or not is_claimable(agent, envelope.fired_at) or _has_other_role_or_mode(agent, envelope, event):
        return False
    panes = {agent.tmux_pane, envelope.observations.tmux_pane} - {None}
    return len(panes) < 2


def is_worker(context: Observations) -> bool:
    """Whether a client was started to work by itself: it is nobody who was there before."""
    return context.declared_mission_id is not None or context.declared_mode in WORKER_MODES


def is_claimable(agent: Agent, now: Micros) -> bool:
    """Whether a new session in the same directory may be taken for this agent, at this moment."""
    return is_free(agent) and (agent.ended_at is None or 0 <= now - agent.ended_at <= CLAIMABLE_AFTER_END)


def is_free(agent: Agent) -> bool:
    """Whether the agent can be claimed: it ended, or it is idle without a client.

    A child belongs to its parent, and a mission to its worker.
    """
    if agent.parent_id is not None or agent.mission is not None:
        return False
    has_client = agent.pid is not None or agent.tmux_pane is not None
    return agent.ended_at is not None or (
        not has_client and agent.state not in (AgentState.WORKING, AgentState.WAITING)
    )
