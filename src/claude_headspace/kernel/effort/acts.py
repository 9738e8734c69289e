"""What people and agents do to an effort, as events of the log. The payload is our own, so it is read strictly.

The table `ACTS` names every event; whoever makes one checks it with `read` first, so what stands in the log can be
read at every replay.
"""

import msgspec

from claude_headspace.kernel.effort.model import Metadata
from claude_headspace.kernel.envelope import Envelope, Origin


class Act(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What every act says: the effort it is about."""

    effort_id: str


class EffortStarted(Act, frozen=True, kw_only=True):
    """An effort begins."""

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
    """The effort is in another phase."""

    phase: str


class EffortLogged(Act, frozen=True, kw_only=True):
    """Somebody wrote down what was done; `holder` is the agent that did, if one did."""

    text: str
    holder: str | None = None


class MetadataSet(Act, frozen=True, kw_only=True):
    """Fields of the effort's metadata have other values; null takes one away."""

    metadata: Metadata


class InjectionQueued(Act, frozen=True, kw_only=True):
    """A text waits to be put into the agent's context."""

    text: str
    source: str = ""


class SessionOpened(Act, frozen=True, kw_only=True):
    """The agent says that it knows what it works on."""

    holder: str | None = None


class FilesLoaded(Act, frozen=True, kw_only=True):
    """Files were put into a window with the answer to its start."""

    session_id: str
    files: tuple[str, ...]


class Dehydrated(Act, frozen=True, kw_only=True):
    """A window hands over, before it is full; with `finish` it is also done with its work."""

    text: str
    files: tuple[str, ...] = ()
    holder: str | None = None
    finish: bool = False


class EffortFinished(Act, frozen=True, kw_only=True):
    """The effort is over."""

    text: str = ""


ACTS: dict[str, type[Act]] = {
    kind.__name__: kind
    for kind in (
        EffortStarted,
        PhaseSet,
        EffortLogged,
        MetadataSet,
        InjectionQueued,
        SessionOpened,
        FilesLoaded,
        Dehydrated,
        EffortFinished,
    )
}


def is_act(envelope: Envelope) -> bool:
    """Whether an event is about an effort and not about an agent."""
    return envelope.origin is Origin.OPERATOR and envelope.name in ACTS


def decode_act(envelope: Envelope) -> Act:
    """The act of an event; raises `msgspec.DecodeError` on what nobody of ours wrote."""
    return msgspec.json.decode(envelope.payload, type=ACTS[envelope.name])
