"""The content of a client's files: a line of a transcript, an entry of the session registry. Types only, pure."""

from enum import StrEnum

import msgspec

from claude_headspace.kernel.envelope import Micros
from claude_headspace.kernel.facts import Fact


class Line(msgspec.Struct, frozen=True):
    """One line of a transcript: its facts, and which session they are about."""

    at: Micros | None
    """The line's own time; some kinds have none."""
    session_id: str
    key: str
    """Identifies the line, also in a copy of the file."""
    cwd: str | None
    facts: tuple[Fact, ...]
    subagent_id: str | None = None
    branch: str | None = None


class Activity(StrEnum):
    """What a client reports about itself."""

    UNKNOWN = "unknown"
    """No status in the entry."""
    IDLE = "idle"
    BUSY = "busy"
    WAITING = "waiting"
    """It shows a dialog."""
    OTHER = "other"
    """A status that Headspace does not know."""


class RegistryEntry(msgspec.Struct, frozen=True, kw_only=True):
    """The entry of a running client in its session registry."""

    pid: int
    session_id: str
    cwd: str | None
    activity: Activity
    started_at: Micros
    """When the client started, as it reports."""
    at: Micros
    """When the client wrote the entry."""
    delivery_id: str
    """The same content twice is one event, also after a restart of the daemon."""
