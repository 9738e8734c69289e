"""Decode acts: what people do through Headspace, and Headspace for them. Total: every envelope gives an `Event`.

Decoding runs again at every replay, so it depends on the envelope alone. Events of clients are decoded by `clients`.
"""

from collections.abc import Callable

import msgspec

from claude_headspace.kernel import facts
from claude_headspace.kernel.effort.acts import ACTS as EFFORT_ACTS
from claude_headspace.kernel.envelope import Envelope
from claude_headspace.kernel.facts import Event, Fact, Meta
from claude_headspace.kernel.mission.model import LONGEST_GOAL, Mission, MissionOutcome
from claude_headspace.kernel.text import short
from claude_headspace.kernel.tolerant_json import tolerant

RAW_NULL = msgspec.Raw(b"null")


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


class WireAct(msgspec.Struct, omit_defaults=True):
    """What a person did, or Headspace for one: the fields of all acts together."""

    name: str = ""
    host: str = ""
    wait_id: str = ""
    until: int = 0
    by: str = ""
    via: str = ""
    words: str = ""
    need: str = ""
    kind: str = ""
    channel: str = ""
    receipt: str = ""
    answer: msgspec.Raw = RAW_NULL
    """All of an answer, for whoever holds the question open."""
    errand_id: str = ""
    errand: msgspec.Raw = RAW_NULL
    """What the agent's machine is asked to do, or what came of it."""
    text: str = ""
    reason: str = ""
    cwd: str | None = None
    role: str | None = None
    mode: str | None = None
    pid: int | None = None
    files: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    mission_id: str = ""
    goal: str = ""
    conversation_id: str | None = None
    outcome: str = ""
    began: int | None = None
    supervised: bool = False


def _registered(act: WireAct, envelope: Envelope) -> Fact:
    around = envelope.observations
    return facts.AgentRegistered(
        headspace_id=around.headspace_id,
        name=act.name,
        role=act.role,
        mode=act.mode,
        branch=around.branch,
        tmux_session=around.tmux_session,
        tmux_pane=around.tmux_pane,
        mission=_mission(act, envelope) if act.mission_id else None,
        wrapper_pid=act.pid,
        wrapper_started_at=act.began,
        supervised=act.supervised,
    )


def _mission(act: WireAct, envelope: Envelope) -> Mission:
    return Mission(
        id=short(act.mission_id),
        started_at=envelope.fired_at,
        goal=act.goal[:LONGEST_GOAL],
        started_by=short(act.by),
        conversation_id=act.conversation_id,
    )


ACTS: dict[str, Callable[[WireAct, Envelope], Fact]] = {
    "AgentRegistered": _registered,
    "AgentRenamed": lambda act, _: facts.AgentRenamed(act.name),
    "AgentNoted": lambda act, _: facts.AgentNoted(act.text),
    "ContextLoaded": lambda act, _: facts.ContextLoaded(act.files, act.left_out, act.reason),
    "AgentSeen": lambda _act, _: facts.AgentSeen(),
    "MissionReported": lambda act, _: facts.MissionReported(act.text, act.outcome == MissionOutcome.FAILED),
    "MissionFinished": lambda act, _: facts.MissionFinished(act.outcome, act.text),
    "WorkerEnded": lambda act, _: facts.WorkerEnded(short(act.mission_id), act.goal[:LONGEST_GOAL], act.text),
    "ConversationWoken": lambda _act, _: facts.ConversationWoken(),
    "AgentClosed": lambda act, _: facts.AgentClosed(act.reason or "closed", act.pid),
    "RestartBegun": lambda act, _: facts.RestartBegun(short(act.reason)),
    "SupervisionEnded": lambda act, _: facts.SupervisionEnded(short(act.reason)),
    "TextTyped": lambda act, _: facts.TextTyped(act.text),
    "EscPressed": lambda _act, _: facts.EscPressed(),
    "TypingFailed": lambda act, _: facts.TypingFailed(act.reason),
    "ErrandAsked": lambda act, _: facts.ErrandMoved(short(act.errand_id), "asked"),
    "ErrandTaken": lambda act, _: facts.ErrandMoved(short(act.errand_id), "taken"),
    "ErrandGivenUp": lambda act, _: facts.ErrandMoved(short(act.errand_id), "given up"),
    "ErrandDone": lambda act, _: facts.ErrandMoved(short(act.errand_id), "done"),
    "AgentImported": lambda act, _: facts.AgentImported(short(act.host)),
    "WaitHeld": lambda act, _: facts.WaitHeld(act.wait_id, act.until),
    "WaitAnswered": lambda act, _: facts.WaitAnswered(act.wait_id, act.words, act.by, act.via),
    "WaitTaken": lambda act, _envelope: facts.WaitTaken(act.wait_id),
    "WaitReleased": lambda act, _: facts.WaitReleased(act.wait_id),
    "NoticeBegun": lambda act, _: facts.NoticeBegun(act.need, act.kind, act.channel, act.words, act.wait_id),
    "NoticeSettled": lambda act, _: facts.NoticeSettled(act.need, act.channel, act.reason, act.receipt),
    "NoticeOver": lambda act, _: facts.NoticeOver(act.need, act.reason),
}
"""What people do through Headspace, and Headspace for them."""


def decode_act(envelope: Envelope) -> Event:
    """Decode an act. Never raises."""
    if envelope.name not in ACTS:
        anomaly = None if envelope.name in EFFORT_ACTS else f"unknown act {envelope.name}"
        return Event(bare_meta(envelope), facts.Observed(), envelope.observations, envelope.decisions, anomaly)
    act, anomaly = tolerant(envelope.payload, WireAct)
    meta = msgspec.structs.replace(bare_meta(envelope), cwd=act.cwd)
    return Event(meta, ACTS[envelope.name](act, envelope), envelope.observations, envelope.decisions, anomaly)
