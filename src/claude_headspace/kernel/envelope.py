"""An event as it arrived: the payload, and what the payload does not contain.

Rules
- `fired_at` is the sender's time, `received_at` the time of arrival. A `timestamp` inside a payload is only data.
- `delivery_id` is made by the sender and unique in the journal: two deliveries with one id are one event.
- `observations` describe the process, terminal and repository when the event arrived; `decisions` are what Headspace
  decided then. Both are stored with the event: a replay neither reads the machine nor decides again.
- Stored, both are one JSON object: `encode_context` merges them, `decode_context` reads the same JSON into both.
"""

from enum import StrEnum

import msgspec

from claude_headspace.kernel.claude_os.session_notice import SessionNotice
from claude_headspace.kernel.effort.advice import Advice
from claude_headspace.kernel.policy.verdict import Verdict

Micros = int
"""A time: microseconds since 1970, UTC."""

SECOND: Micros = 1_000_000


class Origin(StrEnum):
    """The source of an event. Where two sources differ about one time, the first of them in this order wins."""

    HOOK = "hook"
    TRANSCRIPT = "transcript"
    REGISTRY = "registry"
    PROCESS = "process"
    STATUS_LINE = "status_line"
    OPERATOR = "operator"
    """An act of a person or of Headspace."""
    TIMER = "timer"


class Observations(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The client, its terminal, its repository and its environment when the event arrived."""

    tmux_session: str | None = None
    tmux_pane: str | None = None
    client_pid: int | None = None
    client_started_at: Micros | None = None
    """When the client's process started: the system reuses process ids."""
    ancestor_pids: tuple[int, ...] = ()
    shared_process: bool = False
    """The process runs the sessions of several terminals. It identifies none of them, and neither does its
    environment."""
    headspace_id: str | None = None
    """The id that `headspace run` put into the client's environment."""
    wrapper_id: str | None = None
    """`CLAUDE_SESSION_ID` of another wrapper."""
    role: str | None = None
    """`CLAUDE_SESSION_ROLE`."""
    declared_mode: str | None = msgspec.field(default=None, name="mode")
    """`CLAUDE_SESSION_MODE`: interactive, mission or background."""
    declared_mission_id: str | None = msgspec.field(default=None, name="mission_id")
    """`MISSION_EXECUTION_ID`: the mission that the client works on."""
    fleet_id: str | None = None
    """`AGENT_ID`: in a fleet, the name of the pane."""
    project_root: str | None = None
    """The root of the checkout: of the repository, or of one of its worktrees."""
    repository_root: str | None = None
    """In a worktree that is not the main one: the root of the repository, which is the project."""
    branch: str | None = None
    commit: str | None = None
    """The commit that was checked out when a session started."""
    actor: str | None = None
    """Who requested an act."""
    unauthenticated: bool = False
    """Sent without the ingest token: anyone on this machine can have sent it. False in older logs."""
    only_reports: bool = False
    """The hook never asks for a verdict (`headspace hook`)."""
    anomaly: str | None = msgspec.field(default=None, name="flaw")
    """What was wrong with the text that arrived, if it was repaired. Older logs have the key `flaw`, so it stays."""


class Decisions(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What Headspace decided when an event arrived. A replay uses these and decides nothing again."""

    assigned_name: str | None = None
    """The name of the agent that this event created."""
    parent_id: str | None = None
    """The agent whose client started this client."""
    mode: str | None = None
    """The mode that applies to the client (`kernel/mission/assignment.py`)."""
    mission_id: str | None = None
    """The mission that the client is assigned to."""
    effort_id: str | None = None
    """The effort that the event belongs to."""
    directives: tuple[str, ...] = ()
    """The instruction files that belong to the paths of a tool call."""
    advice: Advice | None = None
    """What the effort added to the reply."""
    session_notice: SessionNotice | None = msgspec.field(default=None, name="care")
    """The notice that the session received with the reply. Stored with the key `care`, as in older logs."""
    verdict: Verdict | None = None
    """The ruling of the policy on the tool call, if any rule applied."""


NO_OBSERVATIONS, NO_DECISIONS = Observations(), Decisions()


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """One event as it arrived, with its metadata."""

    id: str
    name: str
    """The client's name of the event; unknown names are allowed."""
    origin: Origin
    client: str
    host: str
    fired_at: Micros
    received_at: Micros
    payload: bytes
    """One JSON object."""
    observations: Observations = NO_OBSERVATIONS
    decisions: Decisions = NO_DECISIONS
    delivery_id: str | None = None
    original_payload: bytes | None = None
    """The payload before redaction and truncation, if they changed it: for the policy guard. Never stored."""


_encode = msgspec.json.Encoder().encode
_observations = msgspec.json.Decoder(Observations).decode
_decisions = msgspec.json.Decoder(Decisions).decode


EMPTY = b"{}"


def encode_context(envelope: Envelope) -> bytes:
    """Observations and decisions as the one JSON object that is stored.

    The assigned mode and mission are stored in place of the declared ones. Only hooks are assigned any.
    """
    observations, decisions = envelope.observations, envelope.decisions
    if envelope.origin is Origin.HOOK or decisions.mode or decisions.mission_id:
        observations = msgspec.structs.replace(observations, declared_mode=None, declared_mission_id=None)
    first, second = _encode(observations), _encode(decisions)
    if EMPTY in (first, second):
        return first if second == EMPTY else second
    return first[:-1] + b"," + second[1:]


def decode_context(context: str | bytes) -> tuple[Observations, Decisions]:
    """The reverse of `encode_context`: each struct ignores the fields of the other."""
    return _observations(context), _decisions(context)


def decided(envelope: Envelope, **decisions: object) -> Envelope:
    """The envelope with further decisions."""
    return msgspec.structs.replace(envelope, decisions=msgspec.structs.replace(envelope.decisions, **decisions))
