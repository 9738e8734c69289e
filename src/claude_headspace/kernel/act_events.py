"""Acts as events: their envelopes, and their meaning when they are read from the log."""

import msgspec

from claude_headspace.kernel import acts, facts
from claude_headspace.kernel.acts import ACTS, Act, event_name
from claude_headspace.kernel.effort.acts import ACTS as EFFORT_ACTS
from claude_headspace.kernel.effort.acts import Act as EffortAct
from claude_headspace.kernel.envelope import NO_OBSERVATIONS, Envelope, Micros, Observations, Origin
from claude_headspace.kernel.facts import Event, Fact, Meta
from claude_headspace.kernel.mission.model import MAX_GOAL_CHARS, Mission
from claude_headspace.kernel.text import short
from claude_headspace.kernel.tolerant_json import tolerant

REMOTE_STEPS: dict[type[Act], str] = {
    acts.RemoteActionRequested: "asked",
    acts.RemoteActionAccepted: "taken",
    acts.RemoteActionCancelled: "given up",
    acts.RemoteActionFinished: "done",
}


def wrap_act(
    act: Act | EffortAct,
    event_id: str,
    host: str,
    at: Micros,
    *,
    observations: Observations = NO_OBSERVATIONS,
    delivery_id: str | None = None,
    client: str = "headspace",
) -> Envelope:
    """The envelope of an act."""
    return Envelope(
        id=event_id,
        name=event_name(act) if isinstance(act, Act) else type(act).__name__,
        origin=Origin.OPERATOR,
        client=client,
        host=host,
        fired_at=at,
        received_at=at,
        payload=msgspec.json.encode(act),
        observations=observations,
        delivery_id=delivery_id,
    )


def caused_by(cause: Envelope, act: Act | EffortAct, suffix: str) -> Envelope:
    """The envelope of an act that another event caused, at the same time and on the same host."""
    wrapped = wrap_act(act, f"{cause.id}-{suffix}", cause.host, cause.fired_at)
    return msgspec.structs.replace(wrapped, received_at=cause.received_at)


def bare_meta(envelope: Envelope) -> Meta:
    """What the envelope alone says of an event."""
    return Meta(
        event_id=envelope.id,
        name=envelope.name,
        origin=envelope.origin,
        at=envelope.fired_at,
        received_at=envelope.received_at,
        host=envelope.host,
    )


def decode_act(envelope: Envelope) -> Event:
    """The meaning of a stored act. Never raises: an unknown act becomes `Observed`, with an anomaly."""
    meta = bare_meta(envelope)
    kind = ACTS.get(envelope.name)
    if kind is None:
        anomaly = None if envelope.name in EFFORT_ACTS else f"unknown act {envelope.name}"
        return Event(meta, facts.Observed(), envelope.observations, envelope.decisions, anomaly)
    act, anomaly = tolerant(envelope.payload, kind)
    if isinstance(act, acts.AgentRegistered):
        meta = msgspec.structs.replace(meta, cwd=act.cwd)
    return Event(meta, _fact(act, envelope), envelope.observations, envelope.decisions, anomaly)


def _fact(act: Act, envelope: Envelope) -> Fact:
    """Most acts are their own fact."""
    if isinstance(act, acts.AgentRegistered):
        return _registration(act, envelope)
    if isinstance(act, acts.AgentResumed):
        return _resumption(act, envelope.observations)
    if isinstance(act, acts.RemoteAct):
        return facts.RemoteActionStep(short(act.errand_id), REMOTE_STEPS[type(act)])
    return act


def _registration(act: acts.AgentRegistered, envelope: Envelope) -> Fact:
    """The new agent, with what was observed around it."""
    around = envelope.observations
    return facts.AgentRegistered(
        headspace_id=around.headspace_id,
        name=act.name,
        role=act.role,
        mode=act.mode,
        branch=around.branch,
        worktree_root=around.project_root if around.repository_root else None,
        tmux_session=around.tmux_session,
        tmux_pane=around.tmux_pane,
        mission=_mission(act, envelope.fired_at) if act.mission_id else None,
        wrapper_pid=act.pid,
        wrapper_started_at=act.began,
        supervised=act.supervised,
        forked_session=act.forked_session,
    )


def _resumption(act: acts.AgentResumed, around: Observations) -> Fact:
    """The return of an agent, with what was observed around it."""
    return facts.AgentResumed(
        headspace_id=around.headspace_id,
        tmux_session=around.tmux_session,
        tmux_pane=around.tmux_pane,
        wrapper_pid=act.pid,
        wrapper_started_at=act.began,
    )


def _mission(act: acts.AgentRegistered, started_at: Micros) -> Mission:
    return Mission(
        id=short(act.mission_id),
        started_at=started_at,
        goal=act.goal[:MAX_GOAL_CHARS],
        started_by=short(act.by),
        conversation_id=act.conversation_id,
    )
