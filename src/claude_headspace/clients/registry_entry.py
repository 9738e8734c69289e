"""An entry of a session registry: what a running client reports about itself. Pure."""

from enum import StrEnum

import msgspec

from claude_headspace.kernel.envelope import Micros


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
