"""Acts: what a person did to an agent through Headspace, or Headspace for them. One type per act.

An act is stored as an event: the type's name is the event's name, and its fields are the payload. `fact` gives its
meaning. Acts on efforts are in `effort/acts.py`.

Rules
- Every field has a default and is omitted from the payload when it has that value, so older events always decode.
- A field name is part of the stored payload. Never rename or remove one.
"""

import msgspec

from claude_headspace.kernel import facts
from claude_headspace.kernel.effort.acts import ACTS as EFFORT_ACTS
from claude_headspace.kernel.effort.acts import Act as EffortAct
from claude_headspace.kernel.envelope import NO_OBSERVATIONS, Envelope, Micros, Observations, Origin
from claude_headspace.kernel.facts import Event, Fact, Meta
from claude_headspace.kernel.mission.model import MAX_GOAL_CHARS, Mission, MissionOutcome
from claude_headspace.kernel.text import short
from claude_headspace.kernel.tolerant_json import tolerant

NULL = msgspec.Raw(b"null")


class Act(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """An act on an agent."""

    def fact(self, envelope: Envelope) -> Fact:
        """The meaning of the act."""
        raise NotImplementedError


# --- agents -----------------------------------------------------------------------------------------------------------


class AgentRegistered(Act, frozen=True, kw_only=True):
    """An agent is about to be started."""

    name: str = ""
    by: str = ""
    cwd: str | None = None
    role: str | None = None
    mode: str | None = None
    pid: int | None = None
    """The process that starts the client and stays with it."""
    mission_id: str = ""
    goal: str = ""
    conversation_id: str | None = None
    began: Micros | None = None
    """When that process started."""
    supervised: bool = False

    def fact(self, envelope: Envelope) -> Fact:
        """A new agent, with what was observed around it."""
        around = envelope.observations
        return facts.AgentRegistered(
            headspace_id=around.headspace_id,
            name=self.name,
            role=self.role,
            mode=self.mode,
            branch=around.branch,
            tmux_session=around.tmux_session,
            tmux_pane=around.tmux_pane,
            mission=self._mission(envelope.fired_at) if self.mission_id else None,
            wrapper_pid=self.pid,
            wrapper_started_at=self.began,
            supervised=self.supervised,
        )

    def _mission(self, started_at: Micros) -> Mission:
        return Mission(
            id=short(self.mission_id),
            started_at=started_at,
            goal=self.goal[:MAX_GOAL_CHARS],
            started_by=short(self.by),
            conversation_id=self.conversation_id,
        )


class AgentRenamed(Act, frozen=True, kw_only=True):
    """The agent got another name."""

    name: str = ""

    def fact(self, _envelope: Envelope) -> Fact:
        """The name."""
        return facts.AgentRenamed(self.name)


class AgentNoted(Act, frozen=True, kw_only=True):
    """The agent wrote what it is doing; an empty text removes the note."""

    text: str = ""

    def fact(self, _envelope: Envelope) -> Fact:
        """The note."""
        return facts.AgentNoted(self.text)


class AgentSeen(Act, frozen=True, kw_only=True):
    """A person looked at the agent."""

    via: str = ""

    def fact(self, _envelope: Envelope) -> Fact:
        """That it was seen."""
        return facts.AgentSeen()


class AgentClosed(Act, frozen=True, kw_only=True):
    """The process that started the client saw it end."""

    reason: str = ""
    pid: int | None = None

    def fact(self, _envelope: Envelope) -> Fact:
        """The end, with its reason."""
        return facts.AgentClosed(self.reason or "closed", self.pid)


class AgentImported(Act, frozen=True, kw_only=True):
    """The agent's log was imported from another host."""

    host: str = ""
    exported_at: Micros = 0

    def fact(self, _envelope: Envelope) -> Fact:
        """The host."""
        return facts.AgentImported(short(self.host))


class RestartBegun(Act, frozen=True, kw_only=True):
    """A supervised client is stopped, to be started again."""

    reason: str = ""

    def fact(self, _envelope: Envelope) -> Fact:
        """The restart, with its reason."""
        return facts.RestartBegun(short(self.reason))


class SupervisionEnded(Act, frozen=True, kw_only=True):
    """The client is not restarted any more."""

    reason: str = ""

    def fact(self, _envelope: Envelope) -> Fact:
        """The end of supervision, with its reason."""
        return facts.SupervisionEnded(short(self.reason))


class ContextLoaded(Act, frozen=True, kw_only=True):
    """Files were added to a new context window, or could not be."""

    reason: str = ""
    files: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def fact(self, _envelope: Envelope) -> Fact:
        """The files, and the problem if there was one."""
        return facts.ContextLoaded(self.files, self.left_out, self.reason)


# --- missions ---------------------------------------------------------------------------------------------------------


class MissionReported(Act, frozen=True, kw_only=True):
    """The agent reported the result of its mission."""

    text: str = ""
    outcome: str = ""

    def fact(self, _envelope: Envelope) -> Fact:
        """The report."""
        return facts.MissionReported(self.text, self.outcome == MissionOutcome.FAILED)


class MissionFinished(Act, frozen=True, kw_only=True):
    """The mission was ended."""

    text: str = ""
    outcome: str = ""

    def fact(self, _envelope: Envelope) -> Fact:
        """The outcome."""
        return facts.MissionFinished(self.outcome, self.text)


class WorkerEnded(Act, frozen=True, kw_only=True):
    """A mission that this agent started has ended."""

    text: str = ""
    mission_id: str = ""
    goal: str = ""

    def fact(self, _envelope: Envelope) -> Fact:
        """The mission and its summary."""
        return facts.WorkerEnded(short(self.mission_id), self.goal[:MAX_GOAL_CHARS], self.text)


class ConversationWoken(Act, frozen=True, kw_only=True):
    """A line is about to be typed to the agent because its mission ended."""

    text: str = ""
    mission_id: str = ""

    def fact(self, _envelope: Envelope) -> Fact:
        """That it was reminded."""
        return facts.ConversationWoken()


# --- typing -----------------------------------------------------------------------------------------------------------


class TextTyped(Act, frozen=True, kw_only=True):
    """A text is about to be typed into the agent's terminal."""

    by: str = ""
    via: str = ""
    text: str = ""

    def fact(self, _envelope: Envelope) -> Fact:
        """The text."""
        return facts.TextTyped(self.text)


class EscPressed(Act, frozen=True, kw_only=True):
    """Esc is about to be pressed in the agent's terminal."""

    by: str = ""
    via: str = ""

    def fact(self, _envelope: Envelope) -> Fact:
        """The key."""
        return facts.EscPressed()


class TypingFailed(Act, frozen=True, kw_only=True):
    """A text or key could not be typed."""

    reason: str = ""

    def fact(self, _envelope: Envelope) -> Fact:
        """The reason."""
        return facts.TypingFailed(self.reason)


# --- remote actions: their stored names are those of an earlier version -----------------------------------------------


class RemoteAct(Act, frozen=True, kw_only=True):
    """A step of a remote action. `errand` is the request or its result."""

    errand_id: str = ""
    errand: msgspec.Raw = NULL


class ErrandAsked(RemoteAct, frozen=True, kw_only=True):
    """The agent's machine is requested to do something."""

    def fact(self, _envelope: Envelope) -> Fact:
        """Requested."""
        return facts.ErrandMoved(short(self.errand_id), "asked")


class ErrandTaken(RemoteAct, frozen=True, kw_only=True):
    """The agent's machine accepted the request."""

    def fact(self, _envelope: Envelope) -> Fact:
        """Accepted."""
        return facts.ErrandMoved(short(self.errand_id), "taken")


class ErrandGivenUp(RemoteAct, frozen=True, kw_only=True):
    """The requester cancelled the request before it was accepted."""

    def fact(self, _envelope: Envelope) -> Fact:
        """Cancelled."""
        return facts.ErrandMoved(short(self.errand_id), "given up")


class ErrandDone(RemoteAct, frozen=True, kw_only=True):
    """The agent's machine finished the request."""

    def fact(self, _envelope: Envelope) -> Fact:
        """Finished."""
        return facts.ErrandMoved(short(self.errand_id), "done")


# --- waits ------------------------------------------------------------------------------------------------------------


class WaitHeld(Act, frozen=True, kw_only=True):
    """A hook is held open for an answer."""

    wait_id: str = ""
    until: Micros = 0

    def fact(self, _envelope: Envelope) -> Fact:
        """The wait, and until when."""
        return facts.WaitHeld(self.wait_id, self.until)


class WaitAnswered(Act, frozen=True, kw_only=True):
    """A person answered a wait."""

    wait_id: str = ""
    by: str = ""
    via: str = ""
    words: str = ""
    answer: msgspec.Raw = NULL
    """The complete answer (`kernel.answers.Answer`)."""

    def fact(self, _envelope: Envelope) -> Fact:
        """The answer in short."""
        return facts.WaitAnswered(self.wait_id, self.words, self.by, self.via)


class WaitTaken(Act, frozen=True, kw_only=True):
    """The client received the answer and shows no dialog any more."""

    wait_id: str = ""

    def fact(self, _envelope: Envelope) -> Fact:
        """The wait."""
        return facts.WaitTaken(self.wait_id)


class WaitReleased(Act, frozen=True, kw_only=True):
    """The hook is not held open any more."""

    wait_id: str = ""

    def fact(self, _envelope: Envelope) -> Fact:
        """The wait."""
        return facts.WaitReleased(self.wait_id)


# --- notifications ----------------------------------------------------------------------------------------------------


class NoticeBegun(Act, frozen=True, kw_only=True):
    """A notification is about to be sent."""

    wait_id: str = ""
    words: str = ""
    need: str = ""
    kind: str = ""
    channel: str = ""

    def fact(self, _envelope: Envelope) -> Fact:
        """The need, the channel and the text."""
        return facts.NoticeBegun(self.need, self.kind, self.channel, self.words, self.wait_id)


class NoticeSettled(Act, frozen=True, kw_only=True):
    """A notification was sent, or sending failed."""

    need: str = ""
    channel: str = ""
    receipt: str = ""
    reason: str = ""

    def fact(self, _envelope: Envelope) -> Fact:
        """The result."""
        return facts.NoticeSettled(self.need, self.channel, self.reason, self.receipt)


class NoticeOver(Act, frozen=True, kw_only=True):
    """The need that people were notified of has ended."""

    need: str = ""
    reason: str = ""

    def fact(self, _envelope: Envelope) -> Fact:
        """The need, and why it ended."""
        return facts.NoticeOver(self.need, self.reason)


ACTS: dict[str, type[Act]] = {
    kind.__name__: kind
    for kind in (
        AgentRegistered,
        AgentRenamed,
        AgentNoted,
        AgentSeen,
        AgentClosed,
        AgentImported,
        RestartBegun,
        SupervisionEnded,
        ContextLoaded,
        MissionReported,
        MissionFinished,
        WorkerEnded,
        ConversationWoken,
        TextTyped,
        EscPressed,
        TypingFailed,
        ErrandAsked,
        ErrandTaken,
        ErrandGivenUp,
        ErrandDone,
        WaitHeld,
        WaitAnswered,
        WaitTaken,
        WaitReleased,
        NoticeBegun,
        NoticeSettled,
        NoticeOver,
    )
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
        name=type(act).__name__,
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
    if isinstance(act, AgentRegistered):
        meta = msgspec.structs.replace(meta, cwd=act.cwd)
    return Event(meta, act.fact(envelope), envelope.observations, envelope.decisions, anomaly)
