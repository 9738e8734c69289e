"""Entries of Claude Code's session registry: `<config dir>/sessions/<pid>.json`. Pure. Undocumented.

This reads what is needed to know whose entry it is and whether it is new. `decode` gives it a meaning.
"""

import msgspec

from claude_headspace.clients.registry_entry import Activity, RegistryEntry
from claude_headspace.kernel.envelope import SECOND, Micros

MILLISECOND: Micros = SECOND // 1000


ACTIVITIES = {
    "idle": Activity.IDLE,
    "shell": Activity.IDLE,
    "busy": Activity.BUSY,
    "waiting": Activity.WAITING,
}
"""The client's words for what it does; `shell` runs a command that the user typed."""


class WireEntry(msgspec.Struct, frozen=True, rename="camel"):
    """The fields of an entry that identify it; times are in milliseconds."""

    pid: int = 0
    session_id: str = ""
    cwd: str | None = None
    started_at: float = 0
    status: str | None = None
    status_updated_at: float | None = None


def read_entry(raw: bytes) -> RegistryEntry | None:
    """Read an entry; None if it names no process or session. Raises `msgspec.DecodeError` if it is no JSON yet."""
    entry = msgspec.json.decode(raw, type=WireEntry)
    if entry.pid <= 0 or not entry.session_id or not entry.session_id.isprintable():
        return None
    at = round((entry.status_updated_at or entry.started_at) * MILLISECOND)
    return RegistryEntry(
        pid=entry.pid,
        session_id=entry.session_id,
        cwd=entry.cwd,
        activity=ACTIVITIES.get(entry.status or "", Activity.OTHER if entry.status else Activity.UNKNOWN),
        started_at=round(entry.started_at * MILLISECOND),
        at=at,
        delivery_id=f"registry:{entry.pid}:{entry.started_at:.0f}:{entry.session_id}:{entry.status}:{at}",
    )
