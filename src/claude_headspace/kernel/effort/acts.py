"""Acts on efforts: what people and agents do to an effort, stored as events. Pure.

Rules
- `ACTS` lists every act. The name of the class is the name of the event.
- Headspace writes these payloads itself, so they are decoded strictly. An act is decoded before it is stored:
  every replay can decode it again.
"""

import msgspec

from claude_headspace.kernel.effort.model import Metadata
from claude_headspace.kernel.envelope import Envelope


class Act(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Base of all acts: the effort that the act changes."""

    effort_id: str


class EffortStarted(Act, frozen=True, kw_only=True):
    """An effort was started."""

    host: str
    task_dir: str
    project_root: str
    skill: str
    ordinal: int
    mode: str = ""
    phase: str | None = None
    title: str = ""
    keywords: tuple[str, ...] = ()
    owner: str | None = None
    holder: str | None = None
    session_id: str | None = None
    manager: str | None = None
    skill_config: Metadata | None = None
    metadata: Metadata = {}
    preload: tuple[str, ...] = ()


class PhaseSet(Act, frozen=True, kw_only=True):
    """The effort entered another phase."""

    phase: str


class EffortLogged(Act, frozen=True, kw_only=True):
    """A log entry was written. `holder` is the agent that wrote it; None for a person."""

    text: str
    holder: str | None = None


class MetadataSet(Act, frozen=True, kw_only=True):
    """Metadata fields were set; null removes a field."""

    metadata: Metadata


class InjectionQueued(Act, frozen=True, kw_only=True):
    """A text was queued for the agent's context."""

    text: str
    source: str = ""


class SessionOpened(Act, frozen=True, kw_only=True):
    """The agent has read what its effort is about (`headspace effort open`)."""

    holder: str | None = None


class FilesLoaded(Act, frozen=True, kw_only=True):
    """Files were added to a window by the reply to its session start."""

    session_id: str
    files: tuple[str, ...]


class Dehydrated(Act, frozen=True, kw_only=True):
    """A window wrote its handover before its context was full. `finish` also ends the window's work."""

    text: str
    files: tuple[str, ...] = ()
    holder: str | None = None
    finish: bool = False


class EffortFinished(Act, frozen=True, kw_only=True):
    """The effort was finished."""

    text: str = ""


ACTS: dict[str, type[Act]] = {kind.__name__: kind for kind in Act.__subclasses__()}
"""Every act, by the name of its event. Its origin is `OPERATOR`."""


def decode_act(envelope: Envelope) -> Act:
    """Decode the act of an event. Raises `msgspec.DecodeError` if the payload is not valid."""
    return msgspec.json.decode(envelope.payload, type=ACTS[envelope.name])
