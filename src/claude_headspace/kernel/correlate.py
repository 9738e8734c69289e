"""Find the agent of an event, or create it. Decided once, when the event arrives, and stored with it.

The strategies are tried in the order of `Strategy`, and the result names the one that matched. A known client process
counts as a known session: the same process with a new session id (`/clear`, `/resume`) is the same agent.

Rules
- An event without the ingest token finds the agent of its session. Otherwise it matches only agents that are known by
  such events alone, and it claims nothing but its session.
- No hook replaces the process of a client that runs (`names_other_process`). Only the registry can correct it.
- A hook without a session id belongs to no agent: it is stored, and nothing else can be said of it.
- An agent is of one client. Only its session matches a client of another kind: variables and panes can be inherited.
- Panes, processes and directories belong to one host: the same pane or pid on another host is another one.
- A client that descends from an agent's client is its child, whatever ids and panes it inherited.
- A client that was registered to fork a session is its own agent, although some report that session at their start. It
  never claims that session.
- The first client that names a mission is the agent that was registered for it.
- A pane belongs to its agent while the project is the same and no other client of the agent is alive.
- Pane and directory do not match a session whose role or mode differs from the agent's, whatever its first event is.
- The directory does not match a client with another `AGENT_ID`.
- The directory matches only hooks, and only if nothing else matches. An agent in the directory can be claimed if it has
  no live client, is not in a turn, and did not end more than ten minutes ago.
"""

import hashlib
from enum import StrEnum

import msgspec

from claude_headspace.kernel.agent import INTERACTIVE, Agent, AgentState, Project
from claude_headspace.kernel.envelope import SECOND, Envelope, Micros, Observations, Origin
from claude_headspace.kernel.facts import Event, SessionStarted
from claude_headspace.kernel.hooks import PROBE
from claude_headspace.kernel.mission.model import WORKER_MODES
from claude_headspace.kernel.names import suggest_names

CLAIMABLE_AFTER_END: Micros = 600 * SECOND
SAME_START: Micros = 5 * SECOND

CLAIMED_BY_ORIGIN = {
    Origin.HOOK: ("session", "headspace", "process", "pane"),
    Origin.TRANSCRIPT: ("session",),
    Origin.REGISTRY: ("session", "process", "pane"),
    Origin.STATUS_LINE: ("session",),
    Origin.OPERATOR: ("headspace", "mission"),
}
"""The kinds of identities that each source claims for an agent. Other sources claim none."""

INHERITED = ("headspace", "pane")
"""Identities that a child inherits. They stay with the parent."""


NO_SESSION = "the event has no session id, so it belongs to no agent"
"""The anomaly of a hook that names no session."""


class Strategy(StrEnum):
    """How an event found its agent."""

    MEMORY = "memory"
    DATABASE = "database"
    HEADSPACE_ID = "headspace_id"
    TMUX_PANE = "tmux_pane"
    WORKING_DIRECTORY = "working_directory"
    NEW = "new"
    ADDRESSED = "addressed"
    """The sender named the agent."""
    NOBODY = "nobody"
    """A probe of `headspace doctor`, or a hook without a session id: stored without an agent."""
    EFFORT = "effort"
    """An act on an effort: stored without an agent."""


class Identity(msgspec.Struct, frozen=True, order=True):
    """What an agent is recognised by: session, wrapper id, process, pane or mission. Some include the host."""

    kind: str
    key: str


class Found(msgspec.Struct, frozen=True):
    """The agent of an identity, and whether it was in the cache."""

    agent: Agent
    in_memory: bool


class CorrelationKeys(msgspec.Struct, frozen=True):
    """What the agent of an event is found by."""

    identities: dict[str, Identity]
    ancestors: list[Identity]
    host: str
    root: str | None
    """The directory of a hook. Other events are not correlated by their directory."""

    @property
    def project_id(self) -> str | None:
        """Where the agent of a new session is searched."""
        return project_at(self.host, self.root).id if self.root else None


class Correlation(msgspec.Struct, frozen=True):
    """The result: the agent, None for a new one; for a child also its parent."""

    strategy: Strategy
    agent: Agent | None = None
    parent_id: str | None = None


def project_at(host: str, root: str | None) -> Project:
    """The project of a directory. A session without a directory has the project `unknown`."""
    path = root or ""
    name = path.rstrip("/").rsplit("/", 1)[-1] or path or "unknown"
    return Project(hashlib.blake2b(f"{host}\0{path}".encode("utf-8", "replace"), digest_size=8).hexdigest(), name, path)


def identities(envelope: Envelope, event: Event) -> dict[str, Identity]:
    """The identities of an event, strongest first."""
    context, host = envelope.observations, envelope.host
    known: dict[str, Identity] = {}
    if event.meta.session_id:
        known["session"] = Identity("session", event.meta.session_id)
    if wrapper := context.headspace_id or context.wrapper_id:
        known["headspace"] = Identity("headspace", wrapper)
    if context.client_pid and not context.shared_process:
        known["process"] = Identity("process", f"{host}:{context.client_pid}")
    if context.tmux_pane:
        known["pane"] = Identity("pane", f"{host}:{context.tmux_pane}")
    if context.declared_mission_id:
        known["mission"] = Identity("mission", context.declared_mission_id)
    return known


def claimed_identities(agent: Agent, envelope: Envelope, known: dict[str, Identity]) -> list[Identity]:
    """Of the identities of an event, those by which its agent is recognised from now on."""
    if envelope.observations.unauthenticated:
        return [known["session"]] if agent.unauthenticated and "session" in known else []
    is_child = (agent.parent_id or envelope.decisions.parent_id) is not None
    kinds = CLAIMED_BY_ORIGIN.get(envelope.origin, ())
    if "session" in known and known["session"].key == agent.forked_session:
        kinds = tuple(kind for kind in kinds if kind != "session")
    return [known[kind] for kind in kinds if kind in known and not (is_child and kind in INHERITED)]


def create_agent(agent_id: str, envelope: Envelope, event: Event) -> Agent:
    """A new agent. Its host, project and name come from the envelope, so a replay creates the same one."""
    return Agent(
        id=agent_id,
        name=envelope.decisions.assigned_name or next(suggest_names(agent_id)),
        host=envelope.host,
        client=envelope.client,
        project=project_at(envelope.host, _project_root(envelope, event)),
        created_at=envelope.fired_at,
        parent_id=envelope.decisions.parent_id,
        unauthenticated=envelope.observations.unauthenticated,
    )


def without_session(event: Event) -> Event:
    """A hook whose session id is missing or cannot be used."""
    replace = msgspec.structs.replace
    return replace(event, meta=replace(event.meta, session_id=""), anomaly=event.anomaly or NO_SESSION)


def belongs_to_nobody(envelope: Envelope, event: Event) -> bool:
    """Whether an event is stored without an agent: a test event, or a hook without a session id."""
    is_reported = envelope.origin in (Origin.HOOK, Origin.STATUS_LINE)
    return envelope.name == PROBE or (is_reported and not event.meta.session_id)


def _project_root(envelope: Envelope, event: Event) -> str | None:
    """The root of the project: all worktrees of a repository belong to it."""
    observed = envelope.observations
    return observed.repository_root or observed.project_root or event.meta.cwd


def correlation_keys(envelope: Envelope, event: Event) -> CorrelationKeys:
    """What the agent of an event is found by."""
    root = _project_root(envelope, event)
    is_located = envelope.origin is Origin.HOOK and not event.session_only
    ancestors = [Identity("process", f"{envelope.host}:{pid}") for pid in envelope.observations.ancestor_pids]
    return CorrelationKeys(identities(envelope, event), ancestors, envelope.host, root if is_located else None)


def correlate(
    envelope: Envelope,
    event: Event,
    found: dict[str, Found],
    parents: list[Agent],
    nearby: list[Agent],
) -> Correlation:
    """Choose the agent among the agents found by identity. `nearby` are the agents of the project, newest first."""
    if (fork := _fork(envelope, event, found)) is not None:
        return Correlation(Strategy.HEADSPACE_ID, fork)
    known, process = found.get("session"), found.get("process")
    if known is None and process is not None and _same_client(process.agent, envelope):
        known = process
    if known is not None:
        return Correlation(Strategy.MEMORY if known.in_memory else Strategy.DATABASE, known.agent)
    parent = next((agent for agent in parents if _is_parent(agent, envelope)), None)
    expected = found.get("mission")
    if expected is not None and expected.agent.session is None and expected.agent.ended_at is None:
        return Correlation(Strategy.HEADSPACE_ID, expected.agent, parent.id if parent else None)
    if parent is not None:
        return Correlation(Strategy.NEW, parent_id=parent.id)
    if "headspace" in found and found["headspace"].agent.client == envelope.client:
        return Correlation(Strategy.HEADSPACE_ID, found["headspace"].agent)
    pane = found.get("pane")
    if pane is not None and _owns_pane(pane.agent, envelope, event):
        return Correlation(Strategy.TMUX_PANE, pane.agent)
    free = next((agent for agent in nearby if _may_continue(agent, envelope)), None)
    if free is not None:
        return Correlation(Strategy.WORKING_DIRECTORY, free)
    return Correlation(Strategy.NEW)


def _fork(envelope: Envelope, event: Event, found: dict[str, Found]) -> Agent | None:
    """The agent that was registered to fork the session of this event, if the event is of its own client."""
    agent = found["headspace"].agent if "headspace" in found else None
    if agent is None or agent.client != envelope.client or not agent.forked_session:
        return None
    return agent if event.meta.session_id == agent.forked_session else None


def _same_client(agent: Agent, envelope: Envelope) -> bool:
    """Whether the event comes from the agent's client: the same program in the same process."""
    return agent.client == envelope.client and _same_process(agent, envelope)


def _same_process(agent: Agent, envelope: Envelope) -> bool:
    """Whether the event comes from the agent's client process. The start must match too, because pids are reused."""
    context = envelope.observations
    is_it = agent.host == envelope.host and agent.pid == context.client_pid
    return is_it and is_same_start(context.client_started_at, agent.pid_started_at)


def names_other_process(agent: Agent, envelope: Envelope) -> bool:
    """Whether a hook names another process than the agent's client, which must not have exited for that."""
    if agent.pid is None or envelope.observations.client_pid is None or _same_process(agent, envelope):
        return False
    is_here = envelope.origin is Origin.HOOK and agent.host == envelope.host
    return is_here and agent.ended_at is None and envelope.fired_at >= agent.last_active_at


def is_same_start(one: Micros | None, other: Micros | None) -> bool:
    """Whether two start times can be the same: setting the clock changes what the system reports by seconds."""
    return one is None or other is None or abs(one - other) < SAME_START


def _is_parent(agent: Agent, envelope: Envelope) -> bool:
    """Whether the event's client descends from the agent's client, which must be alive and older."""
    context = envelope.observations
    if agent.ended_at is not None or agent.host != envelope.host or agent.pid not in context.ancestor_pids:
        return False
    started, known = context.client_started_at, agent.pid_started_at
    return started is None or known is None or known < started + SAME_START


def _owns_pane(agent: Agent, envelope: Envelope, event: Event) -> bool:
    """Whether a new session in an agent's pane belongs to the agent: same project, no other live client."""
    if agent.host != envelope.host or agent.client != envelope.client:
        return False
    if isinstance(event.fact, SessionStarted) and event.fact.source in ("clear", "compact"):
        return True
    if _has_other_role_or_mode(agent, envelope):
        return False
    has_client = agent.ended_at is None and agent.pid is not None
    if has_client and envelope.observations.client_pid is not None and not _same_process(agent, envelope):
        return False
    return envelope.observations.project_root in (None, agent.root)


def _has_other_role_or_mode(agent: Agent, envelope: Envelope) -> bool:
    """Whether a new session has another role or mode than the agent's. Every hook of the hook script declares them."""
    context = envelope.observations
    return (context.role, context.declared_mode or INTERACTIVE) != (agent.role, agent.mode)


def is_replaced_in_pane(agent: Agent, newcomer: Agent, event: Event) -> bool:
    """Whether a client that starts in an agent's pane proves that the agent ended. Not if its process is known."""
    begins = isinstance(event.fact, SessionStarted) and event.fact.source in ("startup", "resume")
    is_there = agent.ended_at is None and agent.host == newcomer.host
    return begins and is_there and agent.id != newcomer.id and agent.pid is None and newcomer.parent_id is None


def _may_continue(agent: Agent, envelope: Envelope) -> bool:
    """Whether a client can continue an unclaimed agent in its directory: same program, no other pane."""
    context = envelope.observations
    ours = agent.client == envelope.client and agent.host == envelope.host and not is_worker(context)
    if not ours or agent.unauthenticated is not context.unauthenticated or agent.fleet_id != context.fleet_id:
        return False
    if not is_claimable(agent, envelope.fired_at) or _has_other_role_or_mode(agent, envelope):
        return False
    if context.project_root not in (None, agent.root):  # another worktree of the same repository
        return False
    panes = {agent.tmux_pane, context.tmux_pane} - {None}
    return len(panes) < 2


def is_worker(context: Observations) -> bool:
    """Whether a client was started as a worker: it never continues another agent."""
    return context.declared_mission_id is not None or context.declared_mode in WORKER_MODES


def is_claimable(agent: Agent, now: Micros) -> bool:
    """Whether a new session in the same directory can be this agent at this time."""
    return is_free(agent) and (agent.ended_at is None or 0 <= now - agent.ended_at <= CLAIMABLE_AFTER_END)


def is_free(agent: Agent) -> bool:
    """Whether the agent can be claimed: it ended, or is idle without a client. Children and workers cannot."""
    if agent.parent_id is not None or agent.mission is not None:
        return False
    has_client = agent.pid is not None or agent.tmux_pane is not None
    return agent.ended_at is not None or (
        not has_client and agent.state not in (AgentState.WORKING, AgentState.WAITING)
    )
