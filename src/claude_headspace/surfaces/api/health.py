"""The types of `/health` and `/hook/status`, and the interface of the daemon that fills them."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from claude_headspace.clients.hook_installer import HookRegistration
from claude_headspace.kernel.text import Time


class ComponentStatus(msgspec.Struct, frozen=True):
    """The health of one component: `ok`, `failing`, `stopped` or `waiting`."""

    status: str
    detail: str


class GuardProblemView(msgspec.Struct, frozen=True):
    """Why guards are off, since when, and what to do."""

    since: Time
    text: str
    hint: str
    client: str = ""
    """The name of the client in which they are off; empty: in all of them."""


class Health(msgspec.Struct, frozen=True):
    """The health of the daemon: `ok` or `degraded`, the health of each component, and why guards are off."""

    status: str
    version: str
    parts: dict[str, ComponentStatus]
    guard_problems: list[GuardProblemView] = []


WAITING_FOR_DATABASE = ComponentStatus("waiting", "starts when the database is available")


def component_status(running: bool, failure: str | None, detail: str) -> ComponentStatus:
    """The health of a background component."""
    if not running:
        return ComponentStatus("stopped", "not running: restart the daemon and see `headspace logs`")
    return ComponentStatus("failing", failure) if failure else ComponentStatus("ok", detail)


class SpoolStatus(msgspec.Struct, frozen=True):
    """Events in the spool: waiting, rejected as unreadable, lost because it was full, processed since the start.

    Entries that are not regular files are quarantined.
    """

    depth: int
    rejected: int
    lost: int
    taken: int
    last_drain_at: Time | None
    quarantined: int = 0
    rejected_by_client: dict[str, int] = {}


class OutageView(msgspec.Struct, frozen=True):
    """A time without the database or without a daemon. Events were spooled, or lost if the spool was full."""

    since: Time
    until: Time | None
    reason: str
    spooled: int
    lost: int


class HookReception(msgspec.Struct, frozen=True):
    """Whether hooks are installed and firing. All surfaces show `summary`."""

    installed: bool
    """Whether a known config dir has working hooks of Headspace."""
    firing: bool
    """Whether events arrive: the last one is newer than the setting `hooks_silent_after`."""
    summary: str


def hook_reception(registrations: Sequence[HookRegistration], *, firing: bool, received: bool) -> HookReception:
    """The reception of hooks. `received`: whether there was ever one."""
    installed = any(each.is_active for each in registrations)
    problems = [f"{each.path}: {each.problem}" for each in registrations if each.problem is not None]
    return HookReception(installed, firing, "; ".join([_RECEPTION[installed, firing, received], *problems]))


_RECEPTION = {
    (True, True, True): "installed, and events arrive",
    (True, False, True): "installed, but no event has arrived recently",
    (True, False, False): "installed, but no event has arrived yet",
    (False, True, True): "events arrive, although no hooks are installed in the known config dirs",
    (False, False, True): "not installed: run `headspace install`",
    (False, False, False): "not installed: run `headspace install`",
}
"""By whether hooks are installed, events arrive, and one ever arrived."""


class HookStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The status of event reception. Counts that only the database knows are null while it is unavailable."""

    enabled: bool
    """Whether hooks are installed, or events arrive."""
    hooks: HookReception
    mode: str
    """`hooks_active` while events arrive, otherwise `polling_fallback`."""
    polling_interval_seconds: float
    last_event_at: Time | None
    seconds_since_last_event: float | None
    last_look_at: Time | None
    events_total: int | None
    """The stored events, without the test events of `headspace doctor`."""
    events_since_start: int
    agents: dict[str, int] | None
    anomalies: int | None
    """The events that were stored, but not fully understood."""
    anomalies_by_client: dict[str, int] | None
    """The same by client: a format that changed shows here."""
    last_seq: int | None
    refused: dict[str, int]
    spool: SpoolStatus
    sources: dict[str, ComponentStatus]
    """The sources besides hooks: transcripts, registry, processes."""
    journal: ComponentStatus
    """Whether the database is available."""
    troubles: list[OutageView]
    """The outages of the last week, the newest first."""
    version: str
    pid: int
    started_at: Time


class DaemonStatus(Protocol):
    """What the daemon reports about itself."""

    def health(self) -> Health:
        """The health of every component."""

    def status(self) -> HookStatus:
        """The status of event reception."""

    def metrics_page(self) -> bytes:
        """All metrics, in the text format of Prometheus."""
